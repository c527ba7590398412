"""Change the model of a database's vectors.

The new vectors are made in `embedding_next` while everybody reads and writes `embedding`. At the
end the columns change places.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import groupby
from uuid import UUID

import numpy as np
import psycopg
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.domain.agent import AgentId
from app.domain.errors import PalimpsestError
from app.store.engine import (
    begin_as_owner,
    fetch_rows,
    get_driver,
    is_on_cluster,
    open_owner_session,
    set_on_every_node,
    take_role,
)
from app.store.fragments import LOCK_AGENT
from app.store.roles import Role
from app.store.schema import choose_vector_storage

# An arbitrary number, so that only one process changes the vectors at a time.
_REEMBED_LOCK = 7_265_104_378

# The time within which the database notices that another process was killed.
GONE_WITHIN = "10s"


class CannotChange(PalimpsestError):
    """The database is busy with something that rules out a change of the embeddings."""


class ReembedUnderWay(CannotChange):
    """Another process is changing the embeddings of this database."""

    def __init__(self) -> None:
        super().__init__("Another process is changing the embeddings of this database.")


@dataclass(frozen=True, slots=True)
class UnembeddedMemory:
    """A memory that has no vector of the next model yet."""

    agent: AgentId
    id: UUID
    content: str


START = UnembeddedMemory(AgentId(""), UUID(int=0), "")


@asynccontextmanager
async def lock_reembedding(engine: AsyncEngine) -> AsyncIterator[None]:
    """Keep every other change of the embeddings out. Raise CannotChange if one is under way."""
    async with open_owner_session(engine) as session:
        await session.execute(sa.text(f"SET lock_timeout = '{GONE_WITHIN}'"))
        # Another service of the database changes embeddings of its own.
        lock = sa.text("SELECT pg_advisory_lock(hashtextextended(current_schema(), :lock))")
        try:
            await session.execute(lock, {"lock": _REEMBED_LOCK})
        except sa.exc.OperationalError as problem:
            if not _is_lock_timeout(problem):
                raise
            raise ReembedUnderWay from None
        try:
            yield
        finally:
            await session.invalidate()  # the lock ends with the session


# Let the transaction have one connection to each node of a cluster, so that it never waits for a
# lock of its own.
_USE_ONE_CONNECTION = """
    SELECT
        set_config('citus.multi_shard_modify_mode', 'sequential', true),
        set_config('citus.max_adaptive_executor_pool_size', '1', true)
"""


@asynccontextmanager
async def open_short_lock_transaction(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """Open a transaction that waits two seconds for each of its locks.

    So those who queue behind it do not wait longer. Raise CannotChange if it does not get a lock.
    """
    try:
        async with begin_as_owner(engine) as connection:
            await set_on_every_node(connection, "lock_timeout", "2s")
            if is_on_cluster(get_driver(connection)):
                await fetch_rows(connection, _USE_ONE_CONNECTION, {})
            yield connection
    except (sa.exc.OperationalError, psycopg.OperationalError) as problem:
        if not _is_lock_timeout(problem):
            raise
        raise CannotChange(
            "The tables were in use all the time. End what keeps a transaction open "
            "(see pg_stat_activity), then run this again."
        ) from None


def _is_lock_timeout(problem: Exception) -> bool:
    """Return whether a lock was not free in time.

    What waits for a lock on another node of a cluster is ended as a whole statement.
    """
    cause = getattr(problem, "orig", problem)
    return isinstance(cause, psycopg.errors.LockNotAvailable | psycopg.errors.QueryCanceled)


async def take_role_or_stay_owner(
    connection: AsyncConnection, role: Role | None, agent: AgentId
) -> None:
    """Go on with the transaction in this role and for this agent; None is the owner.

    On a cluster the owner, a superuser, stays. There, each role has connections of its own to a
    node, and in one transaction they would wait for each other for ever.
    """
    is_cluster = is_on_cluster(get_driver(connection))
    await take_role(connection, None if is_cluster else role, agent)


# --- beginning ---------------------------------------------------------------------------------

# Record the model of the vectors, unless a model is recorded.
_CLAIM = """
    INSERT INTO encoder (the_one, name, dimensions)
    VALUES (true, :name, :dimensions)
    ON CONFLICT DO NOTHING
"""

# Record the model whose vectors are being made, NULL for none.
_RECORD_NEXT = """
    UPDATE encoder
    SET next_name = CAST(:name AS text), next_dimensions = CAST(:dimensions AS integer)
"""

# Drop the vectors that were begun for another model.
_DROP_NEXT_VECTORS = """
    ALTER TABLE memories
        DROP COLUMN embedding_next,
        ADD COLUMN embedding_next vector STORAGE {storage}
"""


async def begin_reembedding(connection: AsyncConnection, name: str, dimensions: int) -> bool:
    """Record which model's vectors are being made, or go on with that model.

    Vectors that were begun for another model are dropped. Return False if the database's vectors
    are of this model already.
    """
    model = {"name": name, "dimensions": dimensions}
    await fetch_rows(connection, _CLAIM, model)
    [stored] = await fetch_rows(connection, "SELECT * FROM encoder FOR UPDATE", {})
    needs_change = (stored["name"], stored["dimensions"]) != (name, dimensions)
    next_model = model if needs_change else {"name": None, "dimensions": None}
    stored_next = {"name": stored["next_name"], "dimensions": stored["next_dimensions"]}
    if stored_next == next_model:
        return needs_change
    # Both vectors may be too large for one row. Then the old one moves out of the row. On a cluster
    # the nodes are told over other connections, which must not wait for a lock of this one.
    next_storage = choose_vector_storage(dimensions)
    await _set_storage(connection, "embedding", "EXTERNAL" if needs_change else next_storage)
    if stored["next_name"] is not None:
        await connection.execute(sa.text(_DROP_NEXT_VECTORS.format(storage=next_storage)))
    else:
        await _set_storage(connection, "embedding_next", next_storage)
    await fetch_rows(connection, _RECORD_NEXT, next_model)
    return needs_change


async def _set_storage(connection: AsyncConnection, column: str, storage: str) -> None:
    values = {"column": column, "storage": storage}
    await fetch_rows(connection, "SELECT set_vector_storage(:column, :storage)", values)


# The memory has no vector of the next model yet. An erased memory has no vector and gets none.
_IS_WAITING = "embedding_next IS NULL AND embedding IS NOT NULL"

# Find whether the index of the waiting memories is there, and whether it is complete.
_FIND_INDEX = """
    SELECT indisvalid FROM pg_index
    WHERE indexrelid = to_regclass(quote_ident(current_schema()) || '.memories_waiting')
"""

# Create the index of the waiting memories.
_CREATE_INDEX = f"""
    CREATE INDEX CONCURRENTLY memories_waiting ON memories (agent_id, id)
    WHERE {_IS_WAITING}
"""


async def build_unembedded_index(engine: AsyncEngine) -> None:
    """Create the index that finds the waiting memories at once, however many are done.

    Nobody is kept from writing meanwhile.
    """
    async with open_owner_session(engine) as session:
        is_valid = (await session.execute(sa.text(_FIND_INDEX))).scalar()
        if is_valid is False:  # an earlier process was stopped while it created the index
            await session.execute(sa.text("DROP INDEX CONCURRENTLY memories_waiting"))
        if not is_valid:
            await session.execute(sa.text(_CREATE_INDEX))


# List agents in the order of their names.
_LIST_AGENTS = """
    SELECT agent_id FROM agents WHERE agent_id > :after ORDER BY agent_id LIMIT :limit
"""


async def list_agents(connection: AsyncConnection, after: AgentId, limit: int) -> list[AgentId]:
    """Return the agents whose names come next."""
    rows = await fetch_rows(connection, _LIST_AGENTS, {"after": after, "limit": limit})
    return [AgentId(row["agent_id"]) for row in rows]


# --- making vectors ----------------------------------------------------------------------------


async def count_unembedded(connection: AsyncConnection) -> int:
    statement = f"SELECT count(*) AS waiting FROM memories WHERE {_IS_WAITING}"
    [row] = await fetch_rows(connection, statement, {})
    waiting: int = row["waiting"]
    return waiting


# List the next waiting memories.
_LIST_WAITING = f"""
    SELECT agent_id, id, content FROM memories
    WHERE {_IS_WAITING} AND (agent_id, id) > (:agent, :id)
    ORDER BY agent_id, id
    LIMIT :limit
"""


async def list_unembedded(
    connection: AsyncConnection, after: UnembeddedMemory, limit: int
) -> list[UnembeddedMemory]:
    """Return the next waiting memories, in order of agent and id."""
    values = {"agent": after.agent, "id": after.id, "limit": limit}
    rows = await fetch_rows(connection, _LIST_WAITING, values)
    return [UnembeddedMemory(row["agent_id"], row["id"], row["content"]) for row in rows]


# Store the vectors. A memory that was erased after its text was read stays without a vector.
_STORE_VECTORS = f"""
    UPDATE memories AS m
    SET embedding_next = made.vector
    FROM unnest(CAST(:ids AS uuid[]), CAST(:vectors AS vector[])) AS made (id, vector)
    WHERE m.agent_id = :agent AND m.id = made.id AND {_IS_WAITING}
"""


async def store_next_vectors(
    connection: AsyncConnection, waiting: Sequence[UnembeddedMemory], vectors: NDArray[np.float32]
) -> None:
    """Store a vector of the next model for each of these memories, agent by agent.

    The memories are in the order of `list_unembedded`, so that two transactions never wait for
    each other's agents. The transaction is left in the role of the last agent.
    """
    made = zip(waiting, vectors, strict=True)
    for agent, group in groupby(made, key=lambda pair: pair[0].agent):
        pairs = list(group)
        values = {
            "agent": agent,
            "ids": [memory.id for memory, _ in pairs],
            "vectors": [vector for _, vector in pairs],
        }
        await take_role_or_stay_owner(connection, Role.SERVICE, agent)
        await fetch_rows(connection, LOCK_AGENT, {"agent": agent})
        await fetch_rows(connection, _STORE_VECTORS, values)


# --- the change --------------------------------------------------------------------------------


async def keep_writers_out(connection: AsyncConnection) -> None:
    """Let the writes under way finish, and new ones wait until the transaction ends.

    Reads go on. The lock conflicts with the row lock on `agents` that every write begins with, and
    with no lock of a read.
    """
    await connection.execute(sa.text("LOCK TABLE agents IN EXCLUSIVE MODE"))


# Put the new vectors in the place of the old ones. The index of the waiting memories goes with
# the old column.
_SWAP = (
    "ALTER TABLE memories DROP COLUMN embedding",
    "ALTER TABLE memories RENAME COLUMN embedding_next TO embedding",
    "ALTER TABLE memories ADD COLUMN embedding_next vector",
    """
    UPDATE encoder SET
        name = next_name,
        dimensions = next_dimensions,
        next_name = NULL,
        next_dimensions = NULL
    """,
    "SELECT drop_every_index_table()",
)


async def swap_vector_columns(connection: AsyncConnection) -> None:
    """Put the new vectors and the new model's name in the place of the old ones.

    The caller keeps writers out. It is a matter of milliseconds, because no row is touched.
    """
    for statement in _SWAP:
        await connection.execute(sa.text(statement))


async def vacuum_memories(engine: AsyncEngine) -> None:
    """Free the space of the rows' old versions for new ones."""
    async with open_owner_session(engine) as session:
        await session.execute(sa.text("VACUUM (ANALYZE) memories"))
