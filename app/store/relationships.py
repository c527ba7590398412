"""Links between memories, and which memories a write made stale."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.relationship import LinkType, Relationship
from app.planning.plan import Plan
from app.planning.staleness import StaleMemory, find_ended_versions
from app.store.engine import fetch_rows
from app.store.memories import HOLDS, LATEST, MOMENT
from app.store.staleness import ANY_BINDS, TOLD, broken_relationships_sql, ended_list_from_json


@dataclass(frozen=True, slots=True)
class StoredRelationship:
    """A link as it is stored: since when it is known, and the operation that made it."""

    link: Relationship
    created_at: datetime
    log_id: UUID | None


def _relationship_from_row(row: Mapping[str, Any]) -> StoredRelationship:
    link = Relationship(row["source_id"], row["target_id"], LinkType(row["type"]))
    return StoredRelationship(link, row["created_at"], row["log_id"])


_FIND = """
    SELECT r.* FROM unnest(CAST(:sources AS uuid[]), CAST(:targets AS uuid[]), CAST(:types AS text[])) AS asked (source_id, target_id, type)
    JOIN memory_relationships r USING (source_id, target_id, type) WHERE r.agent_id = :agent
"""


async def find_relationships(
    connection: AsyncConnection, agent: AgentId, links: Sequence[Relationship]
) -> list[StoredRelationship]:
    """Those of the links that are stored."""
    asked = {
        "sources": [link.source for link in links],
        "targets": [link.target for link in links],
        "types": [link.type.value for link in links],
    }
    return [
        _relationship_from_row(row)
        for row in await fetch_rows(connection, _FIND, {"agent": agent, **asked})
    ]


@dataclass(frozen=True, slots=True)
class AfterRelationship:
    """Where a page of links ended; `other_id` is the end that is not the memory asked for."""

    created_at: datetime
    other_id: UUID
    type: LinkType


@dataclass(frozen=True, slots=True)
class RelationshipPage:
    """A page of a memory's links, as known at `known_at`."""

    relationships: list[StoredRelationship]
    known_at: datetime


# `known` has no row where the memory was not known by then.
_LIST = f"""
    WITH {MOMENT}, known AS (
        SELECT known_at FROM moment
        WHERE EXISTS (SELECT FROM memories m WHERE m.agent_id = :agent AND m.id = :id AND m.created_at <= moment.known_at)
    )
    SELECT known.known_at, page.* FROM known LEFT JOIN LATERAL (
        SELECT tie.* FROM (
            SELECT r.*, r.target_id AS other_id FROM memory_relationships r WHERE r.agent_id = :agent AND r.source_id = :id
            UNION ALL
            SELECT r.*, r.source_id FROM memory_relationships r WHERE r.agent_id = :agent AND r.target_id = :id
        ) AS tie
        WHERE tie.created_at <= known.known_at AND (
            CAST(:after_created_at AS timestamptz) IS NULL
            OR (tie.created_at, tie.other_id, tie.type) < (:after_created_at, CAST(:after_other_id AS uuid), CAST(:after_type AS text))
        )
        ORDER BY tie.created_at DESC, tie.other_id DESC, tie.type DESC LIMIT :limit
    ) AS page ON true
"""


async def list_relationships(
    connection: AsyncConnection,
    agent: AgentId,
    memory_id: UUID,
    known_at: datetime | None,
    *,
    limit: int,
    after: AfterRelationship | None,
) -> RelationshipPage | None:
    """The links of a memory in both directions, latest first; None where the memory was not known then."""
    given = {
        "agent": agent,
        "id": memory_id,
        "as_of": None,
        "known_at": known_at,
        "limit": limit,
        "after_created_at": after and after.created_at,
        "after_other_id": after and after.other_id,
        "after_type": after and after.type.value,
    }
    rows = await fetch_rows(connection, _LIST, given)
    return (
        RelationshipPage(
            [_relationship_from_row(row) for row in rows if row["source_id"]], rows[0]["known_at"]
        )
        if rows
        else None
    )


# Those that hold and are tied to one that the write ended.
_MADE_STALE = f"""
    WITH {MOMENT}, told AS (
        SELECT tie.memory_id, {TOLD} AS because {broken_relationships_sql(past=False)} AND tie.other_id = ANY(:ended) AND {ANY_BINDS} GROUP BY tie.memory_id
    )
    SELECT told.* FROM told, {LATEST} WHERE m.agent_id = :agent AND m.id = told.memory_id AND m.erased_at IS NULL AND {HOLDS}
    ORDER BY told.memory_id
"""


async def find_made_stale(
    connection: AsyncConnection, agent: AgentId, plans: Iterable[Plan]
) -> list[tuple[StaleMemory, ...]]:
    """What each of these plans, which were applied, made stale. Nothing is asked where none ended anything."""
    ended = [find_ended_versions(plan) for plan in plans]
    if not any(ended):
        return [()] * len(ended)
    given = {
        "agent": agent,
        "as_of": None,
        "known_at": None,
        "ended": [i for ids in ended for i in ids],
    }
    told = [
        StaleMemory(row["memory_id"], ended_list_from_json(row["because"]))
        for row in await fetch_rows(connection, _MADE_STALE, given)
    ]
    return [
        tuple(part for stale in told if (part := stale.narrow_to(ids)).because)
        for ids in map(set, ended)
    ]
