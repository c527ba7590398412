"""The indexes of large agents: build them, bring them up to date, and drop them.

An index is a partition of `indexed_memories`. Functions of the owner create and drop it, because
only the owner may; each works for the agent of the transaction alone.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.domain.agent import AgentId
from app.store.counted_strengths import remove_strengths
from app.store.engine import (
    begin_as_operator,
    fetch_rows,
    get_driver,
    is_on_cluster,
    lift_statement_timeout,
)
from app.store.fragments import CLOCK, LOCK_AGENT
from app.store.index_scope import AgentIndex

# An arbitrary number, so that only one worker looks after the indexes at a time.
_LOCK = 7_265_104_379

# pgvector builds no index over longer vectors.
MOST_DIMENSIONS = 4_000

# A word of so many memories may be frequent. Fewer need not be counted: a search reads them all.
COUNTED_FROM = 500


@asynccontextmanager
async def try_lock(engine: AsyncEngine) -> AsyncIterator[bool]:
    """Yield True if no other worker looks after the indexes meanwhile, and this is no cluster.

    The functions that search an index would not find it on another node.
    """
    async with begin_as_operator(engine) as connection:
        await fetch_rows(connection, "SET LOCAL idle_in_transaction_session_timeout = 0", {})
        statement = "SELECT pg_try_advisory_xact_lock(:lock) AS is_free"
        [row] = await fetch_rows(connection, statement, {"lock": _LOCK})
        yield row["is_free"] and not is_on_cluster(get_driver(connection))


# --- which agents have one, and which should -----------------------------------------------------

_LIST = "SELECT agent_id, memories, live, counted_at FROM agent_indexes ORDER BY agent_id"


async def list_indexes(connection: AsyncConnection) -> dict[AgentIndex, datetime]:
    """Return the indexes of all agents, and when each was counted. For the operator.

    A cluster has none. It is not asked, because that would need every node.
    """
    if is_on_cluster(get_driver(connection)):
        return {}
    rows = await fetch_rows(connection, _LIST, {})
    return {
        AgentIndex(AgentId(row["agent_id"]), row["memories"], row["live"]): row["counted_at"]
        for row in rows
    }


# List the agents without an index that wrote since a time and have at least so many memories that
# hold or will. Of each agent, no more than so many are read.
_LIST_LARGE = """
    SELECT a.agent_id
    FROM agents a
    CROSS JOIN LATERAL (
        SELECT count(*) AS live FROM (
            SELECT FROM memories m
            WHERE m.agent_id = a.agent_id AND NOT m.cold
              AND (m.valid_until IS NULL OR m.valid_until > clock_timestamp())
            LIMIT :at_least
        ) AS large
    ) AS counted
    WHERE (CAST(:since AS timestamptz) IS NULL OR a.last_known_at > :since)
      AND NOT EXISTS (SELECT FROM agent_indexes i WHERE i.agent_id = a.agent_id)
      AND counted.live >= :at_least
    ORDER BY a.agent_id
"""


async def list_large_agents(
    connection: AsyncConnection, *, at_least: int, since: datetime | None
) -> list[AgentId]:
    """Return the agents that should have an index and have none. For the operator."""
    rows = await fetch_rows(connection, _LIST_LARGE, {"at_least": at_least, "since": since})
    return [AgentId(row["agent_id"]) for row in rows]


# --- building ------------------------------------------------------------------------------------

_SELECT_INDEXED = """
    SELECT
        m.agent_id, m.id, m.created_at, m.slot_category,
        CAST(m.embedding AS halfvec), m.lexemes
    FROM memories m
    WHERE m.agent_id = :agent AND m.erased_at IS NULL
"""

# Find the last memory of the agent.
_FIND_LAST = """
    SELECT m.created_at, m.id FROM memories m
    WHERE m.agent_id = :agent
    ORDER BY m.created_at DESC, m.id DESC
    LIMIT 1
"""

_READ_DIMENSIONS = "SELECT dimensions FROM encoder"


async def read_dimensions(connection: AsyncConnection) -> int:
    """Return the size of the database's vectors."""
    [row] = await fetch_rows(connection, _READ_DIMENSIONS, {})
    dimensions: int = row["dimensions"]
    return dimensions


async def fill_table(connection: AsyncConnection, agent: AgentId) -> tuple[datetime, UUID]:
    """Copy the memories into a new table, and return the time and the id of the last one.

    The table is no part of the index yet.
    """
    await lift_statement_timeout(connection)
    await fetch_rows(connection, "SELECT create_index_table()", {})
    [last] = await fetch_rows(connection, _FIND_LAST, {"agent": agent})
    table = await _get_table(connection)
    values = {"agent": agent, "created_at": last["created_at"], "id": last["id"]}
    until = "(m.created_at, m.id) <= (:created_at, :id) ORDER BY m.created_at, m.id"
    await fetch_rows(connection, f"INSERT INTO {table} {_SELECT_INDEXED} AND {until}", values)
    return last["created_at"], last["id"]


async def _get_table(connection: AsyncConnection) -> str:
    """Return the name of the table of the transaction's agent: letters, digits and "_"."""
    [row] = await fetch_rows(connection, "SELECT name_index_table() AS name", {})
    name: str = row["name"]
    return name


async def build_indexes(connection: AsyncConnection, dimensions: int, memory: str) -> None:
    """Build the indexes of the new table, with so much memory, such as "512MB".

    One process of the server builds them. Several would be done sooner, but would leave other
    callers no processor on a small machine.
    """
    await lift_statement_timeout(connection)
    await fetch_rows(connection, "SET LOCAL max_parallel_maintenance_workers = 0", {})
    values = {"dimensions": dimensions, "memory": memory}
    await fetch_rows(connection, "SELECT build_index_table(:dimensions, :memory)", values)


# Remove what was erased while the table was no part of the index.
_REMOVE_ERASED = """
    DELETE FROM {table} AS i
    USING memories m
    WHERE i.agent_id = :agent AND m.agent_id = :agent AND m.id = i.id
      AND m.erased_at IS NOT NULL
"""

_REGISTER = """
    INSERT INTO agent_indexes (
        agent_id, covers_until, covers_id, memories, live, built_at, counted_at
    )
    VALUES (:agent, :covers_until, :covers_id, 0, 0, clock_timestamp(), clock_timestamp())
"""


async def attach_table(
    connection: AsyncConnection, agent: AgentId, last: tuple[datetime, UUID]
) -> None:
    """Make the new table the agent's index. `last` is what `fill_table` returned.

    Nobody can erase anything meanwhile.
    """
    await fetch_rows(connection, LOCK_AGENT, {"agent": agent})
    remove = _REMOVE_ERASED.format(table=await _get_table(connection))
    await fetch_rows(connection, remove, {"agent": agent})
    await fetch_rows(connection, "SELECT attach_index_table()", {})
    values = {"agent": agent, "covers_until": last[0], "covers_id": last[1]}
    await fetch_rows(connection, _REGISTER, values)


# --- keeping it ----------------------------------------------------------------------------------

# Add the next memories to the index. They are locked, so that none is erased meanwhile unseen.
_APPEND = f"""
    WITH added AS (
        SELECT * FROM (
            {_SELECT_INDEXED} AND (m.created_at, m.id) > (
                SELECT i.covers_until, i.covers_id FROM agent_indexes i WHERE i.agent_id = :agent
            )
            ORDER BY m.created_at, m.id
            LIMIT :limit
            FOR SHARE OF m
        ) AS next
    ),
    inserted AS (
        INSERT INTO indexed_memories SELECT * FROM added
    )
    SELECT created_at, id FROM added ORDER BY created_at DESC, id DESC LIMIT 1
"""

_MOVE_END = """
    UPDATE agent_indexes SET covers_until = :covers_until, covers_id = :covers_id
    WHERE agent_id = :agent
"""


async def append_memories(connection: AsyncConnection, agent: AgentId, limit: int) -> bool:
    """Add the next memories that were stored after those in the index. Return False if none was."""
    rows = await fetch_rows(connection, _APPEND, {"agent": agent, "limit": limit})
    for row in rows:
        values = {"covers_until": row["created_at"], "covers_id": row["id"], "agent": agent}
        await fetch_rows(connection, _MOVE_END, values)
    return bool(rows)


_COUNT = f"""
    UPDATE agent_indexes SET
        memories = (SELECT count(*) FROM indexed_memories i WHERE i.agent_id = :agent),
        live = (
            SELECT count(*) FROM memories m
            WHERE m.agent_id = :agent AND NOT m.cold
              AND (m.valid_until IS NULL OR m.valid_until > clock.now)
        ),
        counted_at = clock.now
    FROM {CLOCK}
    WHERE agent_id = :agent
    RETURNING memories, live
"""

_FORGET_WORDS = "DELETE FROM frequent_words WHERE agent_id = :agent"

# The query of `ts_stat` is a text of its own, so the agent is quoted into it.
_COUNT_WORDS = """
    INSERT INTO frequent_words (agent_id, word, memories)
    SELECT :agent, hashtextextended(counted.word, 0), sum(counted.ndoc)
    FROM ts_stat(
        'SELECT lexemes FROM indexed_memories WHERE agent_id = ' || quote_literal(:agent)
    ) AS counted
    WHERE counted.ndoc >= :at_least
    GROUP BY 2
"""


async def count_index(connection: AsyncConnection, agent: AgentId) -> AgentIndex | None:
    """Count the memories and the frequent words of the index anew. Return None if it is gone."""
    await lift_statement_timeout(connection)
    rows = await fetch_rows(connection, _COUNT, {"agent": agent})
    await fetch_rows(connection, _FORGET_WORDS, {"agent": agent})
    await fetch_rows(connection, _COUNT_WORDS, {"agent": agent, "at_least": COUNTED_FROM})
    return AgentIndex(agent, rows[0]["memories"], rows[0]["live"]) if rows else None


_FORGET = "DELETE FROM agent_indexes WHERE agent_id = :agent"


async def drop_index(connection: AsyncConnection, agent: AgentId) -> None:
    """Drop the index of the agent. From then on, searches read the whole agent."""
    await fetch_rows(connection, _FORGET, {"agent": agent})
    await fetch_rows(connection, _FORGET_WORDS, {"agent": agent})
    await remove_strengths(connection, agent)
    await fetch_rows(connection, "SELECT drop_index_table()", {})


# Hashes of words would outlast the texts. Those of other memories are there again when the index is
# counted anew.
_FORGET_ERASED_WORDS = """
    DELETE FROM frequent_words f
    WHERE f.agent_id = :agent AND f.word IN (
        SELECT hashtextextended(words.lexeme, 0)
        FROM indexed_memories i CROSS JOIN unnest(i.lexemes) AS words
        WHERE i.agent_id = :agent AND i.id = ANY(:ids)
    )
"""

_REMOVE = "DELETE FROM indexed_memories WHERE agent_id = :agent AND id = ANY(:ids)"


async def remove_erased(connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID]) -> None:
    """Remove erased memories and the hashes of their words from the index."""
    values = {"agent": agent, "ids": list(ids)}
    await fetch_rows(connection, _FORGET_ERASED_WORDS, values)
    await fetch_rows(connection, _REMOVE, values)
