"""What retention does to an agent's rows. The caller owns the transaction and holds the agent's lock."""

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
    RelationshipState,
    advance_checkpoint,
    apply_relationship_changes,
)
from app.planning.audit.replay import UnreadableOperation
from app.store.engine import driver_connection, fetch_rows
from app.store.idempotency import KEPT_FOR
from app.store.log.archive_files import File
from app.store.log.replay import read_replay_steps

# --- cooling -----------------------------------------------------------------------------------------------------------

# What ended by then and was believed to by then. A withdrawn version ends where it starts. What changes again is warm again
# (store/writes.py), so that only what nobody has touched for so long gets cold.
_COOLABLE = """
    SELECT id FROM memories
    WHERE agent_id = :agent AND NOT cold AND valid_until <= clock_timestamp() - CAST(:after AS interval)
      AND known_from <= clock_timestamp() - CAST(:after AS interval)
"""


async def cool_memories(
    connection: AsyncConnection, agent: AgentId, after: timedelta, *, limit: int
) -> int:
    """Makes memories cold that ended longer than `after` ago; how many, `limit` at most."""
    ids = [
        row["id"]
        for row in await fetch_rows(
            connection,
            f"{_COOLABLE} LIMIT :limit",
            {"agent": agent, "after": after, "limit": limit},
        )
    ]
    await fetch_rows(
        connection,
        "UPDATE memories SET cold = true WHERE agent_id = :agent AND id = ANY(:ids)",
        {"agent": agent, "ids": ids},
    )
    return len(ids)


async def count_coolable(connection: AsyncConnection, agent: AgentId, after: timedelta) -> int:
    return await _count_rows(connection, _COOLABLE, {"agent": agent, "after": after})


async def _count_rows(
    connection: AsyncConnection, statement: str, parameters: Mapping[str, Any]
) -> int:
    [row] = await fetch_rows(
        connection, f"SELECT count(*) AS rows FROM ({statement}) AS counted", parameters
    )
    rows: int = row["rows"]
    return rows


# --- answers kept for retries --------------------------------------------------------------------------------------------

_EXPIRED = "SELECT key FROM idempotency_keys WHERE agent_id = :agent AND created_at <= now() - CAST(:kept_for AS interval)"


async def remove_expired_answers(connection: AsyncConnection, agent: AgentId) -> int:
    """Removes the answers that no retry gets any more. Writers do so too, of agents that have some."""
    statement = f"DELETE FROM idempotency_keys WHERE agent_id = :agent AND key IN ({_EXPIRED}) RETURNING key"
    return len(await fetch_rows(connection, statement, {"agent": agent, "kept_for": KEPT_FOR}))


async def count_expired_answers(connection: AsyncConnection, agent: AgentId) -> int:
    return await _count_rows(connection, _EXPIRED, {"agent": agent, "kept_for": KEPT_FOR})


# --- the log -------------------------------------------------------------------------------------------------------------

_NEXT = """
    SELECT coalesce(a.log_folded_until, '0001-01-01 00:00:00+00') AS after, (
        SELECT max(created_at) FROM (
            SELECT created_at FROM consolidation_log l
            WHERE l.agent_id = :agent AND l.created_at > coalesce(a.log_folded_until, '0001-01-01 00:00:00+00')
              AND l.created_at < clock_timestamp() - CAST(:age AS interval)
            ORDER BY created_at LIMIT :limit
        ) AS next
    ) AS until
    FROM agents a WHERE a.agent_id = :agent
"""

# What must stay in the log although it is old: what a waiting review came from, which deciding it reads; and what a later revert undid,
# down the line, because undoing that one makes it stand again.
_LEAVING = """
    WITH RECURSIVE kept AS (
        SELECT l.id, l.reverts FROM consolidation_log l JOIN reviews r ON r.agent_id = l.agent_id AND r.log_id = l.id
        WHERE l.agent_id = :agent AND r.status = 'pending'
        UNION
        SELECT id, reverts FROM consolidation_log WHERE agent_id = :agent AND created_at > :until AND reverts IS NOT NULL
        UNION
        SELECT l.id, l.reverts FROM kept JOIN consolidation_log l ON l.agent_id = :agent AND l.id = kept.reverts
    )
    SELECT id, created_at FROM consolidation_log l
    WHERE agent_id = :agent AND created_at <= :until AND NOT EXISTS (SELECT FROM kept WHERE kept.id = l.id)
    ORDER BY created_at, id
"""


@dataclass(frozen=True, slots=True)
class Batch:
    """The operations after one known time and up to another, and the ids and known times of those up to there that leave the log:
    some may have been kept back before."""

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
    """The oldest operations that are older than `age` and not folded yet, `limit` at most; None where there is nothing to do."""
    [row] = await fetch_rows(connection, _NEXT, {"agent": agent, "age": age, "limit": limit})
    until = row["until"] or row["after"]
    leaving = {
        r["id"]: r["created_at"]
        for r in await fetch_rows(connection, _LEAVING, {"agent": agent, "until": until})
    }
    return Batch(row["after"], until, leaving) if leaving or until > row["after"] else None


_CHECKPOINTS = "SELECT memory_id, told, sealed FROM log_checkpoints WHERE agent_id = :agent AND memory_id = ANY(CAST(:ids AS uuid[]))"
_STORED = """
    SELECT CAST(id AS text) AS id, erased_at IS NOT NULL AS erased FROM memories
    WHERE agent_id = :agent AND id = ANY(CAST(:ids AS uuid[]))
"""
_LINKS = """
    SELECT link ->> 'source' AS source, link ->> 'target' AS target, link ->> 'type' AS type, CAST(l.id AS text) AS log_id, tied
    FROM consolidation_log l CROSS JOIN LATERAL (VALUES (false, l.before_state), (true, l.after_state)) AS side (tied, states)
    CROSS JOIN LATERAL jsonb_path_query(side.states, '$[*].links[*]') AS link
    WHERE l.agent_id = :agent AND l.created_at > :after AND l.created_at <= :until ORDER BY l.created_at, tied
"""
_KEEP_CHECKPOINT = b"""
    INSERT INTO log_checkpoints (agent_id, memory_id, told, sealed) VALUES (%s, %s, %s, %s)
    ON CONFLICT (agent_id, memory_id) DO UPDATE SET told = excluded.told, sealed = excluded.sealed
"""


async def fold_log(connection: AsyncConnection, agent: AgentId, batch: Batch) -> None:
    """Takes what the batch tells of each memory into its checkpoint. Raises LogDamaged."""
    between = {"agent": agent, "after": batch.after, "until": batch.until}
    steps = await read_replay_steps(connection, agent, after=batch.after, until=batch.until)
    links: dict[str, list[tuple[RelationshipState, bool]]] = defaultdict(list)
    for row in await fetch_rows(connection, _LINKS, between):
        tied = row.pop("tied")
        links[row.pop("source")].append((row, tied))
    ids = sorted({*steps, *links})
    erased = await _get_erased_ids(connection, agent, ids)
    found = await fetch_rows(connection, _CHECKPOINTS, {"agent": agent, "ids": ids})
    before = {str(row["memory_id"]): Checkpoint(row["told"], row["sealed"]) for row in found}
    rows = []
    for memory_id in ids:
        last = before.get(memory_id)
        try:
            after = advance_checkpoint(
                last,
                steps.get(memory_id, ()),
                apply_relationship_changes(last.links if last else [], links[memory_id]),
            )
        except (UnreadableOperation, InconsistentOperations):
            raise LogDamaged(agent, memory_id) from None
        rows.append(
            (
                agent,
                memory_id,
                Jsonb(after.state),
                Jsonb({} if memory_id in erased else after.sealed),
            )
        )
    driver = await driver_connection(connection)
    async with driver.cursor() as cursor:
        await cursor.executemany(_KEEP_CHECKPOINT, rows)
    await fetch_rows(
        connection, "UPDATE agents SET log_folded_until = :until WHERE agent_id = :agent", between
    )


async def _get_erased_ids(
    connection: AsyncConnection, agent: AgentId, ids: Sequence[str]
) -> set[str]:
    """Which of these memories are erased. Raises LogDamaged where one is not stored."""
    stored = {
        row["id"]: row["erased"]
        for row in await fetch_rows(connection, _STORED, {"agent": agent, "ids": ids})
    }
    for unknown in set(ids) - stored.keys():
        raise LogDamaged(agent, unknown)
    return {memory_id for memory_id, erased in stored.items() if erased}


_ARCHIVE = """
    INSERT INTO log_archives (agent_id, id, file, sha256, operations, first_at, last_at)
    VALUES (:agent, :archive, :file, :sha256, :operations, :first_at, :last_at)
"""

# Those that stay in the log are noted too: a row of the log that is older than its checkpoints is there by intention, or was put there.
_FOLD = """
    INSERT INTO folded_operations (agent_id, id, archive_id, operation, decided_by, request_id, memory_ids, stands, proposed, created_at)
    SELECT agent_id, id, CASE WHEN id = ANY(:ids) THEN CAST(:archive AS uuid) END, operation, decided_by, request_id,
           array_remove(source_memory_ids || target_memory_id, NULL), reverted_by IS NULL,
           jsonb_path_exists(after_state, '$[*].review'), created_at
    FROM consolidation_log WHERE agent_id = :agent AND created_at <= :until
    ON CONFLICT (agent_id, id) DO UPDATE SET archive_id = excluded.archive_id, stands = excluded.stands
"""
_REMOVE = "DELETE FROM consolidation_log WHERE agent_id = :agent AND id = ANY(:ids)"


async def remove_from_log(
    connection: AsyncConnection, agent: AgentId, batch: Batch, archive_id: UUID, file: File | None
) -> None:
    """Notes which operations are folded, and removes those that leave: they are in this file. None leaves without one."""
    given: dict[str, Any] = {
        "agent": agent,
        "archive": archive_id,
        "ids": batch.ids,
        "until": batch.until,
    }
    if file:
        span = {"operations": len(batch.ids), "first_at": batch.first_at, "last_at": batch.last_at}
        await fetch_rows(
            connection, _ARCHIVE, {**given, **span, "file": file.name, "sha256": file.sha256}
        )
    await fetch_rows(connection, _FOLD, given)
    await fetch_rows(connection, _REMOVE, given)


_OLD = "SELECT created_at FROM consolidation_log WHERE agent_id = :agent AND created_at < clock_timestamp() - CAST(:age AS interval)"


async def count_leaving(
    connection: AsyncConnection, agent: AgentId, age: timedelta
) -> tuple[int, int]:
    """How many operations would leave the log, and how many as old are kept back."""
    [row] = await fetch_rows(
        connection,
        f"SELECT max(created_at) AS until, count(*) AS rows FROM ({_OLD}) AS old",
        {"agent": agent, "age": age},
    )
    if row["until"] is None:
        return 0, 0
    leaving = await _count_rows(connection, _LEAVING, {"agent": agent, "until": row["until"]})
    return leaving, row["rows"] - leaving
