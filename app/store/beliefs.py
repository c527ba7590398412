"""The beliefs by which versions stand in a chain: the stretch of each on both axes of time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.fact import Kind
from app.domain.version import Belief
from app.store.engine import fetch_rows
from app.store.fragments import build_once_in_chain, list_belief_columns
from app.store.rows import belief_from_row

_CHAIN = "(SELECT id FROM chain)"

# Read the beliefs by which a version stands in a memory's present chain, about the versions learnt
# last. `known_until` of a present belief is NULL. A version that changed chains has its other
# beliefs there: histories of that known time show it there too.
_READ = f"""
    WITH chain AS MATERIALIZED (
        SELECT o.chain_id AS id FROM memories o WHERE o.agent_id = :agent AND o.id = :id
    ),
    version AS MATERIALIZED (
        SELECT m.*, count(*) OVER () AS all_versions
        FROM memories m
        WHERE m.agent_id = :agent AND m.id IN ({build_once_in_chain(_CHAIN)})
        ORDER BY m.created_at DESC, m.id DESC
        LIMIT :versions
    )
    SELECT
        v.id, v.content, v.kind, v.created_at, v.erased_at, v.all_versions,
        count(*) OVER () AS all_beliefs, belief.*
    FROM version v
    CROSS JOIN LATERAL (
        SELECT CAST(NULL AS timestamptz) AS known_until, {list_belief_columns("v")}
        WHERE v.chain_id = {_CHAIN}
        UNION ALL
        SELECT x.known_until, {list_belief_columns("x")}
        FROM memory_beliefs x
        WHERE x.agent_id = :agent AND x.memory_id = v.id AND x.chain_id = {_CHAIN}
    ) AS belief
    ORDER BY belief.known_from DESC, v.created_at DESC, v.id DESC
    LIMIT :limit
"""


@dataclass(frozen=True, slots=True)
class DatedBelief:
    """A belief, and the known time until which it was the belief; None: it still is."""

    belief: Belief
    known_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BelievedVersion:
    """A version of a chain with the beliefs about it, in the order in which they became known."""

    id: UUID
    content: str | None
    kind: Kind
    created_at: datetime
    erased_at: datetime | None
    beliefs: Sequence[DatedBelief]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainBeliefs:
    """The beliefs about a chain, its versions in the order in which they became known.

    If there are more than were asked for, the earliest are left out.
    """

    chain_id: UUID
    versions: Sequence[BelievedVersion]
    is_cut: bool


async def find_chain_beliefs(
    connection: AsyncConnection, agent: AgentId, memory_id: UUID, *, versions: int, limit: int
) -> ChainBeliefs | None:
    """Return at most `limit` beliefs about so many versions; None if there is no such memory."""
    values = {"agent": agent, "id": memory_id, "versions": versions, "limit": limit}
    rows = await fetch_rows(connection, _READ, values)
    if not rows:
        return None
    rows_by_version: dict[UUID, list[Mapping[str, Any]]] = {}
    for row in reversed(rows):
        rows_by_version.setdefault(row["id"], []).append(row)
    believed = map(_build_version, rows_by_version.values())
    first = rows[0]
    return ChainBeliefs(
        chain_id=first["chain_id"],
        versions=sorted(believed, key=lambda version: (version.created_at, version.id)),
        is_cut=first["all_versions"] > versions or first["all_beliefs"] > limit,
    )


def _build_version(rows: Sequence[Mapping[str, Any]]) -> BelievedVersion:
    row = rows[0]
    return BelievedVersion(
        id=row["id"],
        content=None if row["erased_at"] else row["content"],
        kind=Kind(row["kind"]),
        created_at=row["created_at"],
        erased_at=row["erased_at"],
        beliefs=[DatedBelief(belief_from_row(row), row["known_until"]) for row in rows],
    )
