"""The reads and marks of a sweep: the memories to examine in order, and the decisions of people."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.version import Memory
from app.store.engine import fetch_rows
from app.store.fragments import LATEST, ONE_VALUE
from app.store.log.touching import find_operations_touching
from app.store.memories import MEMORY, memory_from_row

# Conditions on a memory `m`: it has a place in valid time; it is new to the sweep.
_STANDS = """
    NOT m.void AND NOT m.merged AND m.erased_at IS NULL
    AND (m.valid_until IS NULL OR m.valid_until > m.valid_from)
"""
_NEWS = """
    (CAST(:since AS timestamptz) IS NULL OR m.created_at >= :since OR m.look_again IS NOT NULL)
"""

# List the memories to examine. First come whole slots that hold one value and have more than one
# chain, so that the values of a slot follow one another; then every memory without such a slot.
# Both are in the order in which the memories began to be true.
_WORK = f"""
    WITH shared AS (
        SELECT m.slot_hash
        FROM memories m
        WHERE m.agent_id = :agent AND {_STANDS} AND {ONE_VALUE}
        GROUP BY m.slot_hash
        HAVING count(DISTINCT m.chain_id) > 1 AND bool_or({_NEWS})
    ), work AS (
        SELECT m.id, m.valid_from, m.asserted_at, {ONE_VALUE} AS has_slot
        FROM memories m
        WHERE m.agent_id = :agent AND {_STANDS}
          AND (CAST(:slot AS bytea) IS NULL OR m.slot_hash = :slot)
          AND CASE
              WHEN {ONE_VALUE} THEN m.slot_hash IN (SELECT slot_hash FROM shared)
              ELSE {_NEWS}
          END
    ), done AS (
        SELECT m.id, m.valid_from, m.asserted_at, {ONE_VALUE} AS has_slot
        FROM memories m
        WHERE m.agent_id = :agent AND m.id = :after AND m.erased_at IS NULL
    )
    SELECT id
    FROM work w
    WHERE NOT EXISTS (
        SELECT FROM done d
        WHERE (NOT w.has_slot, w.valid_from, w.asserted_at, w.id)
            <= (NOT d.has_slot, d.valid_from, d.asserted_at, d.id)
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
    """Return the memories to examine, in order.

    With `since`, only memories known since then or marked for another look are listed. With
    `after`, only memories that come later in the order are listed, whatever became of that memory.
    If it was erased, its place in the order is unknown and all are listed.
    """
    values = {"agent": agent, "slot": slot_hash, "since": since, "after": after}
    return [row["id"] for row in await fetch_rows(connection, _WORK, values)]


# List the marked memories, and the whole slots of those that hold one value.
_MARKED = f"""
    WITH marked AS (
        SELECT m.id, m.slot_hash
        FROM memories m
        WHERE m.agent_id = :agent AND m.look_again IS NOT NULL
    ), work AS (
        SELECT m.id, m.valid_from, m.asserted_at, {ONE_VALUE} AS has_slot
        FROM memories m
        WHERE m.agent_id = :agent AND {_STANDS} AND {ONE_VALUE}
          AND m.slot_hash IN (SELECT slot_hash FROM marked)
        UNION
        SELECT m.id, m.valid_from, m.asserted_at, {ONE_VALUE}
        FROM memories m
        WHERE m.agent_id = :agent AND m.look_again IS NOT NULL
    )
    SELECT id
    FROM work
    ORDER BY has_slot DESC, valid_from, asserted_at, id
"""


async def list_marked_memories(connection: AsyncConnection, agent: AgentId) -> list[UUID]:
    """Return the memories marked for another look, and all others of their slots, in order."""
    return [row["id"] for row in await fetch_rows(connection, _MARKED, {"agent": agent})]


@dataclass(frozen=True, slots=True)
class MemoryToExamine:
    memory: Memory
    vector: NDArray[np.float32]


# Read memories with their vectors.
_EXAMINE = f"""
    SELECT {MEMORY}, CAST(NULL AS uuid) AS supersedes_id, m.embedding
    FROM {LATEST}
    WHERE m.agent_id = :agent AND m.id = ANY(:ids) AND m.erased_at IS NULL
"""


async def read_memories_to_examine(
    connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID]
) -> list[MemoryToExamine]:
    """Return these memories in this order, without those that were erased."""
    rows = await fetch_rows(connection, _EXAMINE, {"agent": agent, "ids": list(ids)})
    memories = {}
    for row in rows:
        vector = np.asarray(row["embedding"].to_numpy(), dtype=np.float32)
        memories[row["id"]] = MemoryToExamine(memory_from_row(row), vector)
    return [memories[memory_id] for memory_id in ids if memory_id in memories]


# List pairs of memories about which a person was asked: reviews in favour of the one that concern
# the other. A review that was closed unanswered does not count.
_REVIEWED_PAIRS = """
    SELECT DISTINCT r.memory_id, CAST(other AS uuid) AS other
    FROM reviews r
    CROSS JOIN LATERAL jsonb_object_keys(r.relied_on) AS other
    WHERE r.agent_id = :agent AND r.memory_id = ANY(:ids)
      AND r.status NOT IN ('expired', 'overtaken')
"""

# List pairs of memories of which a change was undone, by operations in the log or archived. If a
# sweep ended or merged memories without a successor, its operation names both in the same column.
_UNDONE_PAIRS = """
    SELECT l.target_memory_id AS memory_id, other
    FROM consolidation_log l
    CROSS JOIN LATERAL unnest(l.source_memory_ids) AS other
    WHERE l.agent_id = :agent AND l.target_memory_id = ANY(:ids) AND l.reverted_by IS NOT NULL
    UNION
    SELECT mine, l.target_memory_id
    FROM consolidation_log l
    CROSS JOIN LATERAL unnest(l.source_memory_ids) AS mine
    WHERE l.agent_id = :agent AND l.id = ANY(:operations) AND mine = ANY(:ids)
      AND l.target_memory_id IS NOT NULL AND l.reverted_by IS NOT NULL
    UNION
    SELECT mine, other
    FROM consolidation_log l
    CROSS JOIN LATERAL unnest(l.source_memory_ids) AS mine
    CROSS JOIN LATERAL unnest(l.source_memory_ids) AS other
    WHERE l.agent_id = :agent AND l.id = ANY(:operations)
      AND mine = ANY(:ids) AND other <> mine
      AND l.operation IN ('DELETE', 'MERGE') AND l.decided_by = 'sweep'
      AND l.reverted_by IS NOT NULL
    UNION
    SELECT mine, other
    FROM folded_operations f
    CROSS JOIN LATERAL unnest(f.memory_ids) AS mine
    CROSS JOIN LATERAL unnest(f.memory_ids) AS other
    WHERE f.agent_id = :agent AND f.archive_id IS NOT NULL AND NOT f.stands
      AND mine = ANY(:ids) AND other <> mine
"""


async def find_decided_by_people(
    connection: AsyncConnection, agent: AgentId, ids: Collection[UUID]
) -> dict[UUID, set[UUID]]:
    """Return, for each of these memories, the others that no sweep may change in its favour.

    A person was asked about the two, or undid a change of one by the other. Undone pairs are
    transitive: if C ended B and B ended A and both were undone, C must leave A alone too.
    """
    pairs = await _find_pairs(connection, agent, _REVIEWED_PAIRS, ids)
    undone_pairs: dict[UUID, set[UUID]] = {}
    unexplored = set(ids)
    while unexplored:
        operations = await find_operations_touching(connection, agent, unexplored)
        explored = await _find_pairs(
            connection, agent, _UNDONE_PAIRS, unexplored, operations=operations
        )
        undone_pairs |= explored
        unexplored = set().union(*explored.values()) - undone_pairs.keys()
    return {i: pairs[i] | _follow_pairs(i, undone_pairs) for i in ids}


async def _find_pairs(
    connection: AsyncConnection,
    agent: AgentId,
    statement: str,
    ids: Collection[UUID],
    **values: object,
) -> dict[UUID, set[UUID]]:
    pairs: dict[UUID, set[UUID]] = {memory_id: set() for memory_id in ids}
    values |= {"agent": agent, "ids": list(ids)}
    for row in await fetch_rows(connection, statement, values):
        pairs[row["memory_id"]].add(row["other"])
    return pairs


def _follow_pairs(memory_id: UUID, pairs: Mapping[UUID, set[UUID]]) -> set[UUID]:
    """Return the others that pairs lead to, over any number of pairs."""
    reached: set[UUID] = set()
    unexplored = [memory_id]
    while unexplored:
        others = pairs[unexplored.pop()] - reached
        reached |= others
        unexplored += others
    return reached - {memory_id}


# Mark memories for another look with a reason, or take the mark away with NULL.
_MARK = """
    UPDATE memories m SET look_again = new.reason
    FROM unnest(CAST(:ids AS uuid[]), CAST(:reasons AS text[])) AS new (id, reason)
    WHERE m.agent_id = :agent AND m.id = new.id AND m.erased_at IS NULL
      AND m.look_again IS DISTINCT FROM new.reason
"""


async def mark_memories(
    connection: AsyncConnection, agent: AgentId, marks: Mapping[UUID, str | None]
) -> None:
    """Mark memories for another look with a reason each; None takes the mark away."""
    if not marks:
        return
    values = {"agent": agent, "ids": list(marks), "reasons": list(marks.values())}
    await fetch_rows(connection, _MARK, values)


# List the agents that have a marked memory.
_AGENTS_WITH_MARKS = """
    SELECT agent_id
    FROM agents a
    WHERE EXISTS (
        SELECT FROM memories m WHERE m.agent_id = a.agent_id AND m.look_again IS NOT NULL
    )
    ORDER BY agent_id
"""


async def list_agents_with_marks(connection: AsyncConnection) -> list[AgentId]:
    rows = await fetch_rows(connection, _AGENTS_WITH_MARKS, {})
    return [AgentId(row["agent_id"]) for row in rows]
