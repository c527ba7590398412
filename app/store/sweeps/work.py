"""What a sweep reads: the memories to examine in their order, what each is held against, and what people have decided already."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.version import Memory
from app.store.engine import fetch_rows
from app.store.memories import LATEST, MEMORY, memory_from_row

_ONE_VALUE = (
    "m.slot_key IS NOT NULL AND m.kind <> 'constraint' AND m.single_valued IS DISTINCT FROM false"
)
_STANDS = "NOT m.void AND NOT m.merged AND m.erased_at IS NULL AND (m.valid_until IS NULL OR m.valid_until > m.valid_from)"
_NEWS = (
    "(CAST(:since AS timestamptz) IS NULL OR m.created_at >= :since OR m.look_again IS NOT NULL)"
)

# First the slots that hold one value and have more than one chain, whole, so that the values come one after the other; then every
# memory without such a slot. In both, in the order in which things began to be true.
_WORK = f"""
    WITH shared AS (
        SELECT m.slot_hash FROM memories m WHERE m.agent_id = :agent AND {_STANDS} AND {_ONE_VALUE}
        GROUP BY m.slot_hash HAVING count(DISTINCT m.chain_id) > 1 AND bool_or({_NEWS})
    ), work AS (
        SELECT m.id, m.valid_from, m.asserted_at, {_ONE_VALUE} AS has_slot FROM memories m
        WHERE m.agent_id = :agent AND {_STANDS} AND (CAST(:slot AS bytea) IS NULL OR m.slot_hash = :slot)
          AND CASE WHEN {_ONE_VALUE} THEN m.slot_hash IN (SELECT slot_hash FROM shared) ELSE {_NEWS} END
    ), done AS (
        SELECT m.id, m.valid_from, m.asserted_at, {_ONE_VALUE} AS has_slot FROM memories m
        WHERE m.agent_id = :agent AND m.id = :after AND m.erased_at IS NULL
    )
    SELECT id FROM work w WHERE NOT EXISTS (
        SELECT FROM done d WHERE (NOT w.has_slot, w.valid_from, w.asserted_at, w.id) <= (NOT d.has_slot, d.valid_from, d.asserted_at, d.id)
    )
    ORDER BY has_slot DESC, valid_from, asserted_at, id
"""


async def list_memories_to_sweep(
    connection: AsyncConnection,
    agent: AgentId,
    *,
    slot_hash: bytes | None,
    since: datetime | None,
    after: UUID | None,
) -> list[UUID]:
    """The memories to examine, in order; with `since`, those known since then and those marked for another look; with `after`, those
    whose turn comes later than its, whatever became of it (of an erased one that cannot be said: then all)."""
    rows = await fetch_rows(
        connection, _WORK, {"agent": agent, "slot": slot_hash, "since": since, "after": after}
    )
    return [row["id"] for row in rows]


# The slots of marked memories whole, and the marked ones.
_MARKED = f"""
    WITH marked AS (SELECT m.id, m.slot_hash FROM memories m WHERE m.agent_id = :agent AND m.look_again IS NOT NULL),
    work AS (
        SELECT m.id, m.valid_from, m.asserted_at, {_ONE_VALUE} AS has_slot FROM memories m
        WHERE m.agent_id = :agent AND {_STANDS} AND {_ONE_VALUE} AND m.slot_hash IN (SELECT slot_hash FROM marked)
        UNION
        SELECT m.id, m.valid_from, m.asserted_at, {_ONE_VALUE} FROM memories m
        WHERE m.agent_id = :agent AND m.look_again IS NOT NULL
    )
    SELECT id FROM work ORDER BY has_slot DESC, valid_from, asserted_at, id
"""


async def list_marked_memories(connection: AsyncConnection, agent: AgentId) -> list[UUID]:
    """The memories marked for another look, with all others of their slots, in order."""
    return [row["id"] for row in await fetch_rows(connection, _MARKED, {"agent": agent})]


@dataclass(frozen=True, slots=True)
class MemoryToExamine:
    """A memory to examine, with its vector."""

    memory: Memory
    vector: NDArray[np.float32]


_EXAMINE = f"""
    SELECT {MEMORY}, CAST(NULL AS uuid) AS supersedes_id, m.embedding
    FROM {LATEST} WHERE m.agent_id = :agent AND m.id = ANY(:ids) AND m.erased_at IS NULL
"""


async def read_memories_to_examine(
    connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID]
) -> list[MemoryToExamine]:
    """These memories in the order given; erased ones are left out."""
    rows = {
        row["id"]: row
        for row in await fetch_rows(connection, _EXAMINE, {"agent": agent, "ids": list(ids)})
    }
    return [
        MemoryToExamine(memory_from_row(rows[i]), _vector_from_row(rows[i]))
        for i in ids
        if i in rows
    ]


def _vector_from_row(row: Mapping[str, Any]) -> NDArray[np.float32]:
    return np.asarray(row["embedding"].to_numpy(), dtype=np.float32)


# Pairs (memory, other) about which a person is or was asked: reviews in the memory's favour that did not merely expire.
_ASKED = """
    SELECT DISTINCT r.memory_id, CAST(other AS uuid) AS other
    FROM reviews r CROSS JOIN LATERAL jsonb_object_keys(r.relied_on) AS other
    WHERE r.agent_id = :agent AND r.memory_id = ANY(:ids) AND r.status <> 'expired'
"""

# Pairs of which a change was undone, archived ones included. What a sweep ended or merged without a memory that took its place names
# both alike.
_UNDONE = """
    SELECT l.target_memory_id AS memory_id, other FROM consolidation_log l CROSS JOIN LATERAL unnest(l.source_memory_ids) AS other
    WHERE l.agent_id = :agent AND l.target_memory_id = ANY(:ids) AND l.reverted_by IS NOT NULL
    UNION
    SELECT mine, l.target_memory_id FROM consolidation_log l CROSS JOIN LATERAL unnest(l.source_memory_ids) AS mine
    WHERE l.agent_id = :agent AND l.source_memory_ids && :ids AND mine = ANY(:ids) AND l.target_memory_id IS NOT NULL
      AND l.reverted_by IS NOT NULL
    UNION
    SELECT mine, other FROM consolidation_log l CROSS JOIN LATERAL unnest(l.source_memory_ids) AS mine
        CROSS JOIN LATERAL unnest(l.source_memory_ids) AS other
    WHERE l.agent_id = :agent AND l.source_memory_ids && :ids AND mine = ANY(:ids) AND other <> mine
      AND l.operation IN ('DELETE', 'MERGE') AND l.decided_by = 'sweep' AND l.reverted_by IS NOT NULL
    UNION
    SELECT mine, other FROM folded_operations f
    CROSS JOIN LATERAL unnest(f.memory_ids) AS mine CROSS JOIN LATERAL unnest(f.memory_ids) AS other
    WHERE f.agent_id = :agent AND f.archive_id IS NOT NULL AND NOT f.stands AND mine = ANY(:ids) AND other <> mine
"""


async def find_decided_by_people(
    connection: AsyncConnection, agent: AgentId, ids: Collection[UUID]
) -> dict[UUID, set[UUID]]:
    """Of each of these memories, the others that a person wants left as they are to it, or was asked about.

    What was undone links on: where a third value ended the second, and that the first, and both were undone, the third leaves the first.
    """
    decided = await _find_pairs(connection, agent, _ASKED, ids)
    undone: dict[UUID, set[UUID]] = {}
    new = set(ids)
    while new:
        undone |= {i: set() for i in new} | await _find_pairs(connection, agent, _UNDONE, new)
        new = {other for memory_id in new for other in undone[memory_id]} - undone.keys()
    return {i: decided.get(i, set()) | _follow_pairs(i, undone) for i in ids}


async def _find_pairs(
    connection: AsyncConnection, agent: AgentId, statement: str, ids: Collection[UUID]
) -> dict[UUID, set[UUID]]:
    found: dict[UUID, set[UUID]] = {}
    for row in await fetch_rows(connection, statement, {"agent": agent, "ids": list(ids)}):
        found.setdefault(row["memory_id"], set()).add(row["other"])
    return found


def _follow_pairs(memory_id: UUID, pairs: Mapping[UUID, set[UUID]]) -> set[UUID]:
    """The others that pairs lead to, one after the other."""
    linked, new = {memory_id}, {memory_id}
    while new := {other for i in new for other in pairs[i]} - linked:
        linked |= new
    return linked - {memory_id}


async def mark_memories(
    connection: AsyncConnection, agent: AgentId, marks: Mapping[UUID, str | None]
) -> None:
    """Marks memories for another look with the reason, or takes the mark away (None)."""
    statement = """
        UPDATE memories m SET look_again = new.reason
        FROM unnest(CAST(:ids AS uuid[]), CAST(:reasons AS text[])) AS new (id, reason)
        WHERE m.agent_id = :agent AND m.id = new.id AND m.erased_at IS NULL AND m.look_again IS DISTINCT FROM new.reason
    """
    if marks:
        await fetch_rows(
            connection,
            statement,
            {"agent": agent, "ids": list(marks), "reasons": list(marks.values())},
        )


async def list_agents_with_marks(connection: AsyncConnection) -> list[AgentId]:
    """The agents that have a memory to be looked at again."""
    return [AgentId(row["agent_id"]) for row in await fetch_rows(connection, _WITH_MARKS, {})]


_WITH_MARKS = """
    SELECT agent_id FROM agents a
    WHERE EXISTS (SELECT FROM memories m WHERE m.agent_id = a.agent_id AND m.look_again IS NOT NULL) ORDER BY agent_id
"""
