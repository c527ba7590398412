"""Reads of the doctor, in order and a few rows at a time, and the writes of its remedies.

The caller owns the transaction.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.version import Version
from app.planning.audit.checkpoint import Checkpoint
from app.planning.audit.checks import StoredMemory
from app.planning.audit.faults import Remedy, RemedyTable
from app.planning.audit.replay import ReplayStep
from app.store.chains import VERSION_COLUMNS, group_by_chain
from app.store.columns import list_logged_columns
from app.store.engine import fetch_rows, stream_rows, stream_server_cursor
from app.store.log.replay import REPLAY_STEPS, step_from_row
from app.store.stats import forget_stats
from app.store.tables import memories

Row = dict[str, Any]

_NEVER = datetime.min.replace(tzinfo=UTC)
_FOREVER = datetime.max.replace(tzinfo=UTC)


# List agents in order of their ids, from one on.
_AGENT_IDS = """
    SELECT agent_id
    FROM agents
    WHERE agent_id > :after
    ORDER BY agent_id
    LIMIT :limit
"""


async def list_agent_ids(connection: AsyncConnection, *, after: str, limit: int) -> list[AgentId]:
    """Return agents in order of their ids, from the first after `after` on."""
    rows = await fetch_rows(connection, _AGENT_IDS, {"after": after, "limit": limit})
    return [AgentId(row["agent_id"]) for row in rows]


# Of the agent's memories that were made last, the texts.
_LAST_TEXTS = """
    SELECT content
    FROM memories
    WHERE agent_id = :agent AND content <> ''
    ORDER BY id DESC
    LIMIT :limit
"""


async def list_last_texts(connection: AsyncConnection, agent: AgentId, *, limit: int) -> list[str]:
    """Return the texts of the memories that were made last, but those that were erased."""
    rows = await fetch_rows(connection, _LAST_TEXTS, {"agent": agent, "limit": limit})
    return [row["content"] for row in rows]


async def count_agents(connection: AsyncConnection) -> int:
    [row] = await fetch_rows(connection, "SELECT count(*) AS agents FROM agents", {})
    return int(row["agents"])


# --- memory by memory --------------------------------------------------------------------------

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
_READ = ", ".join(column.name for column in memories.columns if column.name not in _UNREAD)

# Read the rows of memories, with the derived slot as the log writes it.
_ROWS = f"""
    SELECT CAST(id AS text) AS memory_id, {_READ},
           CASE WHEN derived_key IS NOT NULL THEN jsonb_build_object(
               'entity', derived_entity, 'key', derived_key, 'value', derived_value
           ) END AS derived
    FROM memories
    WHERE agent_id = :agent
    ORDER BY id
"""

# Read the past beliefs of memories.
_PAST = """
    SELECT *, CAST(memory_id AS text) AS memory_id
    FROM memory_beliefs b
    WHERE agent_id = :agent
    ORDER BY b.memory_id, known_from
"""

# Read the counters of memories.
_USAGE = """
    SELECT *, CAST(memory_id AS text) AS memory_id
    FROM memory_usage u
    WHERE agent_id = :agent
    ORDER BY u.memory_id
"""

# Read the checkpoints of memories.
_CHECKPOINTS = """
    SELECT *, CAST(memory_id AS text) AS memory_id
    FROM log_checkpoints c
    WHERE agent_id = :agent
    ORDER BY c.memory_id
"""


async def read_folded_until(connection: AsyncConnection, agent: AgentId) -> datetime:
    """Return the known time up to which the log is folded into checkpoints, year 1 if it is not."""
    statement = "SELECT log_folded_until FROM agents WHERE agent_id = :agent"
    rows = await fetch_rows(connection, statement, {"agent": agent})
    until: datetime | None = rows[0]["log_folded_until"] if rows else None
    return until or _NEVER


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

    async def take_row(self, memory_id: str) -> Row | None:
        """Return the row of a memory that has one at most."""
        rows = await self.take_rows(memory_id)
        return rows[0] if rows else None


async def stream_stored_memories(
    connection: AsyncConnection, agent: AgentId
) -> AsyncGenerator[tuple[str, StoredMemory, list[ReplayStep]]]:
    """Yield every memory that any table or the log names, with its rows and its steps.

    One memory is in the service's memory at a time.
    """
    values = {
        "agent": agent,
        "after": await read_folded_until(connection, agent),
        "until": _FOREVER,
    }
    async with AsyncExitStack() as cursors:

        async def open_rows(name: str, statement: str) -> _RowsByMemory:
            cursor = stream_server_cursor(connection, name, statement, values)
            rows = _RowsByMemory(await cursors.enter_async_context(aclosing(cursor)))
            await rows.advance()
            return rows

        rows = await open_rows("rows", _ROWS)
        past = await open_rows("past", _PAST)
        usage = await open_rows("usage", _USAGE)
        steps = await open_rows("steps", REPLAY_STEPS)
        checkpoints = await open_rows("checkpoints", _CHECKPOINTS)
        sources = (rows, past, usage, steps, checkpoints)
        while heads := [source.head["memory_id"] for source in sources if source.head]:
            memory_id: str = min(heads)
            row = await rows.take_row(memory_id)
            folded = await checkpoints.take_row(memory_id)
            stored = StoredMemory(
                row=row,
                past=await past.take_rows(memory_id),
                usage=await usage.take_row(memory_id),
                checkpoint=Checkpoint(folded["told"], folded["sealed"]) if folded else None,
                logged=list_logged_columns(erased=bool(row and row["erased_at"])),
            )
            logged = await steps.take_rows(memory_id)
            yield memory_id, stored, list(map(step_from_row, logged))


# --- chain by chain ----------------------------------------------------------------------------

# Read all versions of an agent, chain by chain.
_CHAINS = f"""
    SELECT {VERSION_COLUMNS}
    FROM memories
    WHERE agent_id = :agent
    ORDER BY chain_id, created_at, id
"""


async def stream_chains(
    connection: AsyncConnection, agent: AgentId
) -> AsyncGenerator[list[Version]]:
    """Yield every chain, one at a time."""
    async with aclosing(stream_rows(connection, _CHAINS, {"agent": agent})) as rows:
        async for chain in group_by_chain(rows):
            yield chain


# --- reverts and answers -----------------------------------------------------------------------

# List the operations that undid another or were undone, newest first.
_REVERTS = """
    SELECT id, operation, reverts, reverted_by
    FROM consolidation_log l
    WHERE agent_id = :agent AND (
        reverts IS NOT NULL OR reverted_by IS NOT NULL OR operation = 'REVERT'
        OR EXISTS (
            SELECT FROM consolidation_log u WHERE u.agent_id = :agent AND u.reverts = l.id
        )
    )
    ORDER BY created_at DESC, id DESC
"""


async def list_reverts(connection: AsyncConnection, agent: AgentId) -> list[Row]:
    """Return the operations that undid another or were undone, newest first."""
    return await fetch_rows(connection, _REVERTS, {"agent": agent})


# Read the answers under idempotency keys, each with the erased memories among those it mentions.
_ANSWERS = """
    SELECT encode(k.key_hash, 'hex') AS key_hash, k.fingerprint, k.status, k.headers, k.answer,
           k.mentioned_ids, ARRAY(
        SELECT CAST(m.id AS text)
        FROM memories m
        WHERE m.agent_id = :agent AND m.id = ANY(k.mentioned_ids) AND m.erased_at IS NOT NULL
    ) AS erased
    FROM idempotency_keys k
    WHERE k.agent_id = :agent
    ORDER BY k.key_hash
"""


def stream_idempotency_rows(connection: AsyncConnection, agent: AgentId) -> AsyncGenerator[Row]:
    """Yield the answers under idempotency keys, each with the erased memories it mentions."""
    return stream_rows(connection, _ANSWERS, {"agent": agent})


# --- remedies ----------------------------------------------------------------------------------

# Set the counters of a memory, which may not have a row yet.
_SET_USAGE = """
    INSERT INTO memory_usage (agent_id, memory_id, access_count, last_reinforced_at)
    VALUES (
        :agent, CAST(:id AS uuid), :access_count, CAST(:last_reinforced_at AS timestamptz)
    )
    ON CONFLICT (agent_id, memory_id) DO UPDATE SET
        access_count = excluded.access_count,
        last_reinforced_at = excluded.last_reinforced_at
"""

# Set the values of a remedy in a row of a table.
_SET_IN_TABLE = {
    RemedyTable.AGENT: """
        UPDATE agents SET {changes}
        WHERE agent_id = :agent
    """,
    RemedyTable.MEMORY: """
        UPDATE memories SET {changes}
        WHERE agent_id = :agent AND id = CAST(:id AS uuid)
    """,
    RemedyTable.OPERATION: """
        UPDATE consolidation_log SET {changes}
        WHERE agent_id = :agent AND id = CAST(:id AS uuid)
    """,
    RemedyTable.USAGE: _SET_USAGE,
}


async def apply_remedies(
    connection: AsyncConnection, agent: AgentId, remedies: Sequence[Remedy]
) -> None:
    """Write the right values of each remedy. The caller holds the agent's lock."""
    for remedy in remedies:
        values = dict(remedy.values)
        if remedy.place is RemedyTable.MEMORY:
            # A memory with another end may hold again, so it is no longer cold.
            values["cold"] = False
        changes = ", ".join(f"{name} = :{name}" for name in values)
        statement = _SET_IN_TABLE[remedy.place].format(changes=changes)
        await fetch_rows(connection, statement, {"agent": agent, "id": remedy.id, **values})
    if remedies:
        await forget_stats(connection, agent)
