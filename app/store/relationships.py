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
from app.store.fragments import HOLDS, LATEST, MOMENT
from app.store.known_time import settle_known_time
from app.store.staleness import ANY_BINDS, CAUSES, broken_relationships_sql, ended_list_from_json


@dataclass(frozen=True, slots=True)
class StoredRelationship:
    """A link as it is stored: since when it is known, and the operation that made it."""

    link: Relationship
    created_at: datetime
    log_id: UUID | None


def _relationship_from_row(row: Mapping[str, Any]) -> StoredRelationship:
    link = Relationship(row["source_id"], row["target_id"], LinkType(row["type"]))
    return StoredRelationship(link, row["created_at"], row["log_id"])


# Find which of some links are stored.
_FIND = """
    SELECT r.*
    FROM unnest(
        CAST(:sources AS uuid[]),
        CAST(:targets AS uuid[]),
        CAST(:types AS text[])
    ) AS link (source_id, target_id, type)
    JOIN memory_relationships r USING (source_id, target_id, type)
    WHERE r.agent_id = :agent
"""


async def find_relationships(
    connection: AsyncConnection, agent: AgentId, links: Sequence[Relationship]
) -> list[StoredRelationship]:
    """Return those of the links that are stored."""
    values = {
        "agent": agent,
        "sources": [link.source for link in links],
        "targets": [link.target for link in links],
        "types": [link.type.value for link in links],
    }
    rows = await fetch_rows(connection, _FIND, values)
    return [_relationship_from_row(row) for row in rows]


@dataclass(frozen=True, slots=True)
class AfterRelationship:
    """The last link of a page; `other_id` is its end that is not the memory of the list."""

    created_at: datetime
    other_id: UUID
    type: LinkType


@dataclass(frozen=True, slots=True)
class RelationshipPage:
    """A page of a memory's links, as known at `known_at`."""

    relationships: list[StoredRelationship]
    known_at: datetime


_LINK = "r.source_id, r.target_id, r.type, r.log_id, r.created_at"

# The links that say which memory took the place of which. They are read from the memories
# themselves, so that they are never out of step with them. A merge has stored links.
_SUPERSESSIONS = """
    SELECT
        m.superseded_by AS source_id,
        m.id AS target_id,
        'supersedes' AS type,
        l.id AS log_id,
        m.superseded_at AS created_at
    FROM memories m
    LEFT JOIN consolidation_log l
        ON l.agent_id = :agent AND l.created_at = m.superseded_at
            AND m.id = ANY(l.source_memory_ids)
    WHERE m.agent_id = :agent AND NOT m.merged
"""

# List the links of a memory in both directions. `known` has no row if the memory was not known at
# that time.
_LIST = f"""
    WITH {MOMENT},
    known AS (
        SELECT known_at FROM moment
        WHERE EXISTS (
            SELECT FROM memories m
            WHERE m.agent_id = :agent AND m.id = :id AND m.created_at <= moment.known_at
        )
    )
    SELECT known.known_at, page.*
    FROM known
    LEFT JOIN LATERAL (
        SELECT tie.*
        FROM (
            SELECT {_LINK}, r.target_id AS other_id
            FROM memory_relationships r
            WHERE r.agent_id = :agent AND r.source_id = :id
            UNION ALL
            SELECT {_LINK}, r.source_id
            FROM memory_relationships r
            WHERE r.agent_id = :agent AND r.target_id = :id
            UNION ALL
            SELECT {_LINK}, r.target_id
            FROM ({_SUPERSESSIONS} AND m.superseded_by = :id) AS r
            UNION ALL
            SELECT {_LINK}, r.source_id
            FROM ({_SUPERSESSIONS} AND m.id = :id AND m.superseded_by IS NOT NULL) AS r
        ) AS tie
        WHERE tie.created_at <= known.known_at AND (
            CAST(:after_created_at AS timestamptz) IS NULL
            OR (tie.created_at, tie.other_id, tie.type)
                < (:after_created_at, CAST(:after_other_id AS uuid), CAST(:after_type AS text))
        )
        ORDER BY tie.created_at DESC, tie.other_id DESC, tie.type DESC
        LIMIT :limit
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
    """Return the links of a memory in both directions, latest first.

    Return None if the memory was not known at that time. Raises NotYetKnown.
    """
    if known_at is not None:
        await settle_known_time(connection, agent, known_at)
    values = {
        "agent": agent,
        "id": memory_id,
        "as_of": None,
        "known_at": known_at,
        "limit": limit,
        "after_created_at": after and after.created_at,
        "after_other_id": after and after.other_id,
        "after_type": after and after.type.value,
    }
    rows = await fetch_rows(connection, _LIST, values)
    if not rows:
        return None
    relationships = [_relationship_from_row(row) for row in rows if row["source_id"]]
    return RelationshipPage(relationships, rows[0]["known_at"])


# Find the memories that hold and are linked to one of those that a write ended.
_MADE_STALE = f"""
    WITH {MOMENT},
    touched AS (
        SELECT tie.memory_id, {CAUSES} AS because
        {broken_relationships_sql(past=False)}
            AND tie.other_id = ANY(:ended)
            AND {ANY_BINDS}
        GROUP BY tie.memory_id
    )
    SELECT touched.*
    FROM touched
    CROSS JOIN {LATEST}
    WHERE m.agent_id = :agent
        AND m.id = touched.memory_id
        AND m.erased_at IS NULL
        AND {HOLDS}
    ORDER BY touched.memory_id
"""


async def find_made_stale(
    connection: AsyncConnection, agent: AgentId, plans: Iterable[Plan]
) -> list[tuple[StaleMemory, ...]]:
    """Return the memories that each of these applied plans made stale.

    No statement is sent if the plans ended nothing.
    """
    ended = [find_ended_versions(plan) for plan in plans]
    if not any(ended):
        return [()] * len(ended)
    all_ended = [memory_id for ids in ended for memory_id in ids]
    values = {"agent": agent, "as_of": None, "known_at": None, "ended": all_ended}
    stale = []
    for row in await fetch_rows(connection, _MADE_STALE, values):
        stale.append(StaleMemory(row["memory_id"], ended_list_from_json(row["because"])))
    made_stale = []
    for ids in ended:
        narrowed = [memory.narrow_to(set(ids)) for memory in stale]
        made_stale.append(tuple(memory for memory in narrowed if memory.because))
    return made_stale
