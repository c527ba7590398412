"""What the doctor reads, in order and a few rows at a time, and what it puts right. The caller owns the transaction."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.version import Version
from app.planning.audit.checkpoint import Checkpoint
from app.planning.audit.checks import Remedy, RemedyTable, StoredMemory
from app.planning.audit.replay import ReplayStep
from app.store.chains import VERSION_COLUMNS, version_from_row
from app.store.columns import list_logged_columns
from app.store.engine import fetch_rows, stream_rows, stream_server_cursor
from app.store.log.replay import REPLAY_STEPS, step_from_row
from app.store.tables import memories

Row = dict[str, Any]


async def list_agent_ids(connection: AsyncConnection, *, after: str, limit: int) -> list[AgentId]:
    """Agents in order of their ids, those after `after`."""
    statement = "SELECT agent_id FROM agents WHERE agent_id > :after ORDER BY agent_id LIMIT :limit"
    return [
        AgentId(row["agent_id"])
        for row in await fetch_rows(connection, statement, {"after": after, "limit": limit})
    ]


async def count_agents(connection: AsyncConnection) -> int:
    [row] = await fetch_rows(connection, "SELECT count(*) AS agents FROM agents", {})
    agents: int = row["agents"]
    return agents


# --- memory by memory --------------------------------------------------------------------------------------------------

_UNREAD = {
    "agent_id",
    "id",
    "embedding",
    "embedding_next",
    "lexemes",
    "language",
    "derived_entity",
    "derived_key",
    "derived_value",
}

_ROWS = f"""
    SELECT CAST(id AS text) AS memory_id, {", ".join(c.name for c in memories.columns if c.name not in _UNREAD)},
           CASE WHEN derived_key IS NOT NULL
                THEN jsonb_build_object('entity', derived_entity, 'key', derived_key, 'value', derived_value) END AS derived
    FROM memories WHERE agent_id = :agent ORDER BY id
"""

_PAST = "SELECT *, CAST(memory_id AS text) AS memory_id FROM memory_beliefs b WHERE agent_id = :agent ORDER BY b.memory_id, known_from"

_USAGE = "SELECT *, CAST(memory_id AS text) AS memory_id FROM memory_usage u WHERE agent_id = :agent ORDER BY u.memory_id"

_CHECKPOINTS = "SELECT *, CAST(memory_id AS text) AS memory_id FROM log_checkpoints c WHERE agent_id = :agent ORDER BY c.memory_id"

_EVER = datetime.max.replace(tzinfo=UTC)


async def read_folded_until(connection: AsyncConnection, agent: AgentId) -> datetime:
    """The known time up to which checkpoints tell what the log told; the beginning of time where there are none."""
    statement = "SELECT max(coalesce(log_folded_until, :never)) AS until FROM agents WHERE agent_id = :agent"
    [row] = await fetch_rows(
        connection, statement, {"agent": agent, "never": datetime.min.replace(tzinfo=UTC)}
    )
    until: datetime | None = row["until"]
    return until or datetime.min.replace(tzinfo=UTC)


class _RowsByMemory:
    """Rows in the order of their memories, taken memory by memory."""

    def __init__(self, rows: AsyncIterator[Row]) -> None:
        self._rows = rows
        self.head: Row | None = None

    async def advance(self) -> None:
        self.head = await anext(self._rows, None)

    async def take_rows(self, memory_id: str) -> list[Row]:
        taken = []
        while self.head is not None and self.head["memory_id"] == memory_id:
            taken.append(self.head)
            await self.advance()
        return taken


async def stream_stored_memories(
    connection: AsyncConnection, agent: AgentId
) -> AsyncGenerator[tuple[str, StoredMemory, list[ReplayStep]]]:
    """Every memory that any table or the log tells of, with all that they tell of it. No more than one is held at a time."""
    async with AsyncExitStack() as opened:
        groups = []
        parts = (
            ("rows", _ROWS),
            ("past", _PAST),
            ("usage", _USAGE),
            ("steps", REPLAY_STEPS),
            ("checkpoints", _CHECKPOINTS),
        )
        given = {
            "agent": agent,
            "after": await read_folded_until(connection, agent),
            "until": _EVER,
        }
        for name, statement in parts:
            rows = await opened.enter_async_context(
                aclosing(stream_server_cursor(connection, name, statement, given))
            )
            groups.append(_RowsByMemory(rows))
            await groups[-1].advance()
        while heads := [group.head["memory_id"] for group in groups if group.head]:
            memory_id: str = min(heads)
            row, past, usage, steps, kept = [await group.take_rows(memory_id) for group in groups]
            checkpoint = Checkpoint(kept[0]["told"], kept[0]["sealed"]) if kept else None
            stored = StoredMemory(
                row=row[0] if row else None,
                past=past,
                usage=usage[0] if usage else None,
                checkpoint=checkpoint,
                logged=list_logged_columns(erased=bool(row and row[0]["erased_at"])),
            )
            yield memory_id, stored, [step_from_row(step) for step in steps]


# --- chain by chain ----------------------------------------------------------------------------------------------------

_CHAINS = f"SELECT {VERSION_COLUMNS} FROM memories WHERE agent_id = :agent ORDER BY chain_id, created_at, id"


async def stream_chains(
    connection: AsyncConnection, agent: AgentId
) -> AsyncGenerator[list[Version]]:
    """Every chain, one at a time."""
    chain: list[Version] = []
    async with aclosing(stream_rows(connection, _CHAINS, {"agent": agent})) as rows:
        async for row in rows:
            if chain and chain[0].chain_id != row["chain_id"]:
                yield chain
                chain = []
            chain.append(version_from_row(row))
    if chain:
        yield chain


# --- the rest ----------------------------------------------------------------------------------------------------------


async def list_reverts(connection: AsyncConnection, agent: AgentId) -> list[Row]:
    """The operations that undid another or were undone, newest first."""
    statement = """
        SELECT id, operation, reverts, reverted_by FROM consolidation_log l
        WHERE agent_id = :agent AND (reverts IS NOT NULL OR reverted_by IS NOT NULL OR operation = 'REVERT' OR EXISTS (
            SELECT FROM consolidation_log u WHERE u.agent_id = :agent AND u.reverts = l.id
        )) ORDER BY created_at DESC, id DESC
    """
    return await fetch_rows(connection, statement, {"agent": agent})


def stream_idempotency_rows(connection: AsyncConnection, agent: AgentId) -> AsyncGenerator[Row]:
    """What is kept under idempotency keys, with the erased memories among those that each mentions."""
    statement = """
        SELECT k.key, k.fingerprint, k.status, k.headers, k.answer, k.mentioned_ids, ARRAY(
            SELECT CAST(m.id AS text) FROM memories m
            WHERE m.agent_id = :agent AND m.id = ANY(k.mentioned_ids) AND m.erased_at IS NOT NULL
        ) AS erased FROM idempotency_keys k WHERE k.agent_id = :agent ORDER BY k.key
    """
    return stream_rows(connection, statement, {"agent": agent})


# --- putting right -----------------------------------------------------------------------------------------------------

_HERE = {
    RemedyTable.AGENT: "agents WHERE agent_id = :agent",
    RemedyTable.MEMORY: "memories WHERE agent_id = :agent AND id = CAST(:id AS uuid)",
    RemedyTable.OPERATION: "consolidation_log WHERE agent_id = :agent AND id = CAST(:id AS uuid)",
}

_COUNT = """
    INSERT INTO memory_usage (agent_id, memory_id, access_count, last_reinforced_at)
    VALUES (:agent, CAST(:id AS uuid), :access_count, CAST(:last_reinforced_at AS timestamptz))
    ON CONFLICT (agent_id, memory_id)
    DO UPDATE SET access_count = excluded.access_count, last_reinforced_at = excluded.last_reinforced_at
"""


async def apply_remedies(
    connection: AsyncConnection, agent: AgentId, remedies: Sequence[Remedy]
) -> None:
    """Gives each place its right values, under the agent's lock."""
    for remedy in remedies:
        statement = _COUNT if remedy.place is RemedyTable.USAGE else _remedy_update_sql(remedy)
        await fetch_rows(connection, statement, {"agent": agent, "id": remedy.id, **remedy.values})


def _remedy_update_sql(remedy: Remedy) -> str:
    """A memory with another end may hold again, so it is no longer cold."""
    table, where = _HERE[remedy.place].split(" ", 1)
    changes = [f"{name} = :{name}" for name in remedy.values] + ["cold = false"] * (
        remedy.place is RemedyTable.MEMORY
    )
    return f"UPDATE {table} SET {', '.join(changes)} {where}"
