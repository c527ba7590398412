"""The writes of retention: cool memories, remove expired answers, fold the log into checkpoints.

The caller owns the transaction and holds the agent's lock.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.errors import LogDamaged
from app.planning.audit.checkpoint import (
    Checkpoint,
    InconsistentOperations,
    RelationshipChange,
    advance_checkpoint,
    apply_relationship_changes,
)
from app.planning.audit.replay import UnreadableOperation
from app.store.engine import fetch_rows, get_driver
from app.store.fragments import NEVER_SQL
from app.store.idempotency import KEPT_FOR
from app.store.log.archive_files import File
from app.store.log.replay import read_replay_steps

# --- cooling -----------------------------------------------------------------------------------

# Find the memories whose end lies far back and has been believed for as long. The end of a
# withdrawn version is its start. Every change makes a memory warm again (store/apply.py), so only
# memories that nothing has changed for so long become cold.
_COOLABLE = """
    SELECT id
    FROM memories
    WHERE agent_id = :agent AND NOT cold
      AND valid_until <= clock_timestamp() - CAST(:after AS interval)
      AND known_from <= clock_timestamp() - CAST(:after AS interval)
"""

# Make memories cold: plain reads pass over them.
_COOL = "UPDATE memories SET cold = true WHERE agent_id = :agent AND id = ANY(:ids)"


async def cool_memories(
    connection: AsyncConnection, agent: AgentId, after: timedelta, *, limit: int
) -> int:
    """Make memories cold that ended longer than `after` ago, and return how many were."""
    span = {"agent": agent, "after": after, "limit": limit}
    rows = await fetch_rows(connection, f"{_COOLABLE} LIMIT :limit", span)
    ids = [row["id"] for row in rows]
    await fetch_rows(connection, _COOL, {"agent": agent, "ids": ids})
    return len(ids)


async def count_coolable(connection: AsyncConnection, agent: AgentId, after: timedelta) -> int:
    return await _count_rows(connection, _COOLABLE, {"agent": agent, "after": after})


async def _count_rows(
    connection: AsyncConnection, statement: str, parameters: Mapping[str, Any]
) -> int:
    counting = f"SELECT count(*) AS rows FROM ({statement}) AS counted"
    [row] = await fetch_rows(connection, counting, parameters)
    return int(row["rows"])


# --- answers for retries -----------------------------------------------------------------------

# Find the answers that are older than any retry.
_EXPIRED = """
    SELECT key_hash
    FROM idempotency_keys
    WHERE agent_id = :agent AND created_at <= now() - CAST(:kept_for AS interval)
"""

# Remove those answers.
_REMOVE_EXPIRED = f"""
    DELETE FROM idempotency_keys
    WHERE agent_id = :agent AND key_hash IN ({_EXPIRED})
    RETURNING key_hash
"""


async def remove_expired_answers(connection: AsyncConnection, agent: AgentId) -> int:
    """Remove the answers that no retry gets any more, and return how many.

    Each write removes those of its agent too, so this matters for agents that are at rest.
    """
    values = {"agent": agent, "kept_for": KEPT_FOR}
    return len(await fetch_rows(connection, _REMOVE_EXPIRED, values))


async def count_expired_answers(connection: AsyncConnection, agent: AgentId) -> int:
    return await _count_rows(connection, _EXPIRED, {"agent": agent, "kept_for": KEPT_FOR})


# --- batches of the log ------------------------------------------------------------------------

# Find the span of the next operations to fold: from the last folded one to the last of `limit`
# operations that are old enough.
_NEXT = f"""
    SELECT coalesce(a.log_folded_until, {NEVER_SQL}) AS after, (
        SELECT max(created_at) FROM (
            SELECT created_at
            FROM consolidation_log l
            WHERE l.agent_id = :agent
              AND l.created_at > coalesce(a.log_folded_until, {NEVER_SQL})
              AND l.created_at < clock_timestamp() - CAST(:age AS interval)
            ORDER BY created_at
            LIMIT :limit
        ) AS next
    ) AS until
    FROM agents a
    WHERE a.agent_id = :agent
"""

# List the operations up to a known time that may leave the log. Two sorts must stay although they
# are old. Deciding a review reads the operation that left it. And what a later revert undid, and
# what that had undone, stands again when the revert is undone.
_LEAVING = """
    WITH RECURSIVE needed AS (
        SELECT l.id, l.reverts
        FROM consolidation_log l
        JOIN reviews r ON r.agent_id = :agent AND r.log_id = l.id
        WHERE l.agent_id = :agent AND r.status = 'pending'
        UNION
        SELECT id, reverts
        FROM consolidation_log
        WHERE agent_id = :agent AND created_at > :until AND reverts IS NOT NULL
        UNION
        SELECT l.id, l.reverts
        FROM needed
        JOIN consolidation_log l ON l.agent_id = :agent AND l.id = needed.reverts
    )
    SELECT id, created_at
    FROM consolidation_log l
    WHERE agent_id = :agent AND created_at <= :until
      AND NOT EXISTS (SELECT FROM needed WHERE needed.id = l.id)
    ORDER BY created_at, id
"""


@dataclass(frozen=True, slots=True)
class Batch:
    """The operations to fold, after one known time and up to another.

    `leaving` has the known time of each operation that leaves the log. Some are older than the
    batch: they had to stay until now.
    """

    after: datetime
    until: datetime
    leaving: Mapping[UUID, datetime]

    @property
    def ids(self) -> list[UUID]:
        return list(self.leaving)

    @property
    def first_at(self) -> datetime:
        return min(self.leaving.values())

    @property
    def last_at(self) -> datetime:
        return max(self.leaving.values())


async def find_next_batch(
    connection: AsyncConnection, agent: AgentId, age: timedelta, *, limit: int
) -> Batch | None:
    """Return the oldest operations older than `age` that are not folded, None if there are none."""
    [span] = await fetch_rows(connection, _NEXT, {"agent": agent, "age": age, "limit": limit})
    after, until = span["after"], span["until"] or span["after"]
    rows = await fetch_rows(connection, _LEAVING, {"agent": agent, "until": until})
    leaving = {row["id"]: row["created_at"] for row in rows}
    if not leaving and until == after:
        return None
    return Batch(after, until, leaving)


# --- checkpoints -------------------------------------------------------------------------------

# Read the checkpoints of some memories.
_CHECKPOINTS = """
    SELECT CAST(memory_id AS text) AS memory_id, told, sealed
    FROM log_checkpoints
    WHERE agent_id = :agent AND memory_id = ANY(CAST(:ids AS uuid[]))
"""

# Find which of some memories are stored, and which of those are erased.
_STORED = """
    SELECT CAST(id AS text) AS id, erased_at IS NOT NULL AS erased
    FROM memories
    WHERE agent_id = :agent AND id = ANY(CAST(:ids AS uuid[]))
"""

# List the relationships that the operations of a span made and removed, in their order.
_LINKS = """
    SELECT link ->> 'source' AS source, link ->> 'target' AS target, link ->> 'type' AS type,
           CAST(l.id AS text) AS log_id, made
    FROM consolidation_log l
    CROSS JOIN LATERAL (VALUES (false, l.before_state), (true, l.after_state))
        AS side (made, states)
    CROSS JOIN LATERAL jsonb_path_query(side.states, '$[*].links[*]') AS link
    WHERE l.agent_id = :agent AND l.created_at > :after AND l.created_at <= :until
    ORDER BY l.created_at, made
"""

# Write the checkpoint of a memory in place of an earlier one.
_SAVE_CHECKPOINT = b"""
    INSERT INTO log_checkpoints (agent_id, memory_id, told, sealed)
    VALUES (%s, %s, %s, %s)
    ON CONFLICT (agent_id, memory_id)
    DO UPDATE SET told = excluded.told, sealed = excluded.sealed
"""

# Record up to where the log is folded.
_SET_FOLDED = "UPDATE agents SET log_folded_until = :until WHERE agent_id = :agent"


async def fold_log(connection: AsyncConnection, agent: AgentId, batch: Batch) -> None:
    """Fold the states of the batch into the checkpoints of their memories. Raise LogDamaged."""
    span = {"agent": agent, "after": batch.after, "until": batch.until}
    steps = await read_replay_steps(connection, agent, after=batch.after, until=batch.until)
    changes = await _read_relationship_changes(connection, span)
    ids = sorted({*steps, *changes})
    erased = await _get_erased_ids(connection, agent, ids)
    checkpoints = await fetch_rows(connection, _CHECKPOINTS, {"agent": agent, "ids": ids})
    earlier = {row["memory_id"]: Checkpoint(row["told"], row["sealed"]) for row in checkpoints}
    rows = []
    for memory_id in ids:
        last = earlier.get(memory_id)
        links = apply_relationship_changes(last.links if last else [], changes.get(memory_id, ()))
        try:
            after = advance_checkpoint(last, steps.get(memory_id, ()), links)
        except (UnreadableOperation, InconsistentOperations):
            raise LogDamaged(agent, memory_id) from None
        sealed = {} if memory_id in erased else after.sealed
        rows.append((agent, memory_id, Jsonb(after.state), Jsonb(sealed)))
    driver = get_driver(connection)
    async with driver.cursor() as cursor:
        await cursor.executemany(_SAVE_CHECKPOINT, rows)
    await fetch_rows(connection, _SET_FOLDED, span)


async def _read_relationship_changes(
    connection: AsyncConnection, span: Mapping[str, Any]
) -> dict[str, list[RelationshipChange]]:
    """Return the changes of relationships within a span, by the memory that is their source."""
    changes: dict[str, list[RelationshipChange]] = defaultdict(list)
    for row in await fetch_rows(connection, _LINKS, span):
        state = {name: row[name] for name in ("target", "type", "log_id")}
        changes[row["source"]].append((state, row["made"]))
    return changes


async def _get_erased_ids(
    connection: AsyncConnection, agent: AgentId, ids: Sequence[str]
) -> set[str]:
    """Return the erased ones of these memories. Raise LogDamaged if one is not stored."""
    rows = await fetch_rows(connection, _STORED, {"agent": agent, "ids": ids})
    erased = {row["id"]: row["erased"] for row in rows}
    for memory_id in ids:
        if memory_id not in erased:
            raise LogDamaged(agent, memory_id)
    return {memory_id for memory_id in ids if erased[memory_id]}


# --- removing operations -----------------------------------------------------------------------

# Insert the row of an archive.
_ADD_ARCHIVE = """
    INSERT INTO log_archives (agent_id, id, file, sha256, operations, first_at, last_at)
    VALUES (:agent, :archive, :file, :sha256, :operations, :first_at, :last_at)
"""

# Note the folded operations without their texts. Those that stay in the log are noted too: the
# doctor takes any other row of the log that is older than the checkpoints for a fault.
_NOTE_FOLDED = """
    INSERT INTO folded_operations (
        agent_id, id, archive_id, operation, decided_by, request_id, actor, memory_ids,
        stands, proposed, created_at, previous_hash, hash
    )
    SELECT agent_id, id, CASE WHEN id = ANY(:ids) THEN CAST(:archive AS uuid) END,
           operation, decided_by, request_id, actor,
           array_remove(source_memory_ids || target_memory_id, NULL), reverted_by IS NULL,
           jsonb_path_exists(after_state, '$[*].review'), created_at, previous_hash, hash
    FROM consolidation_log
    WHERE agent_id = :agent AND created_at <= :until
    ON CONFLICT (agent_id, id)
    DO UPDATE SET archive_id = excluded.archive_id, stands = excluded.stands
"""

# Remove the operations that leave the log.
_REMOVE = "DELETE FROM consolidation_log WHERE agent_id = :agent AND id = ANY(:ids)"


async def remove_from_log(
    connection: AsyncConnection, agent: AgentId, batch: Batch, archive_id: UUID, file: File | None
) -> None:
    """Note which operations are folded, and remove those that leave.

    `file` holds the operations that leave; it is None if there are none.
    """
    values: dict[str, Any] = {
        "agent": agent,
        "archive": archive_id,
        "ids": batch.ids,
        "until": batch.until,
    }
    if file:
        archive = {
            "file": file.name,
            "sha256": file.sha256,
            "operations": len(batch.ids),
            "first_at": batch.first_at,
            "last_at": batch.last_at,
        }
        await fetch_rows(connection, _ADD_ARCHIVE, {**values, **archive})
    await fetch_rows(connection, _NOTE_FOLDED, values)
    await fetch_rows(connection, _REMOVE, values)


# Find the last operation that is old enough to leave the log, and how many are.
_OLD = """
    SELECT max(created_at) AS until, count(*) AS operations
    FROM consolidation_log
    WHERE agent_id = :agent AND created_at < clock_timestamp() - CAST(:age AS interval)
"""


async def count_leaving(
    connection: AsyncConnection, agent: AgentId, age: timedelta
) -> tuple[int, int]:
    """Return how many operations would leave the log, and how many as old would have to stay."""
    [old] = await fetch_rows(connection, _OLD, {"agent": agent, "age": age})
    if old["until"] is None:
        return 0, 0
    span = {"agent": agent, "until": old["until"]}
    leaving = await _count_rows(connection, _LEAVING, span)
    return leaving, old["operations"] - leaving
