"""Changing the model of a database's vectors.

The new ones are made in `embedding_next` while everybody reads and writes `embedding`; at the end the columns change places.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

import numpy as np
import psycopg
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.domain.agent import AgentId
from app.domain.errors import PalimpsestError
from app.store.engine import fetch_rows
from app.store.schema import choose_vector_storage

# An arbitrary number, so that only one process changes the vectors at a time.
_REEMBED_LOCK = 7_265_104_378

# So soon the database has noticed that another one was killed.
GONE_WITHIN = "10s"


class CannotChange(PalimpsestError):
    """The database is busy with something that a change of the embeddings cannot share it with."""


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
    """Keeps every other change of the embeddings out. Raises CannotChange where one is under way."""
    async with engine.connect() as connection:
        session = await connection.execution_options(isolation_level="AUTOCOMMIT")
        await session.execute(sa.text(f"SET lock_timeout = '{GONE_WITHIN}'"))
        try:
            await session.execute(
                sa.text("SELECT pg_advisory_lock(:lock)"), {"lock": _REEMBED_LOCK}
            )
        except sa.exc.OperationalError as problem:
            if not isinstance(problem.orig, psycopg.errors.LockNotAvailable):
                raise
            raise ReembedUnderWay from None
        try:
            yield
        finally:
            await session.invalidate()  # the lock ends with the session


@asynccontextmanager
async def open_short_lock_transaction(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A transaction that waits two seconds for each of its locks, so that those who queue behind it do not wait longer.

    Raises CannotChange where one was not to be had.
    """
    try:
        async with engine.begin() as connection:
            await connection.execute(sa.text("SET LOCAL lock_timeout = '2s'"))
            yield connection
    except (sa.exc.OperationalError, psycopg.errors.LockNotAvailable) as problem:
        if not isinstance(getattr(problem, "orig", problem), psycopg.errors.LockNotAvailable):
            raise
        raise CannotChange(
            "The tables were in use all the time. End what keeps a transaction open (see pg_stat_activity), then run this again."
        ) from None


# --- beginning ---------------------------------------------------------------------------------------------------------


async def begin_reembedding(connection: AsyncConnection, name: str, dimensions: int) -> bool:
    """Records which model's vectors are being made, or goes on with them; what was begun for another model is dropped.

    False where the database's vectors are that model's already.
    """
    claim = "INSERT INTO encoder (the_one, name, dimensions) VALUES (true, :name, :dimensions) ON CONFLICT DO NOTHING"
    await fetch_rows(connection, claim, {"name": name, "dimensions": dimensions})
    [stored] = await fetch_rows(connection, "SELECT * FROM encoder FOR UPDATE", {})
    change = (stored["name"], stored["dimensions"]) != (name, dimensions)
    if (stored["next_name"], stored["next_dimensions"]) == (
        (name, dimensions) if change else (None, None)
    ):
        return change
    if stored["next_name"] is not None:
        await connection.execute(
            sa.text(
                "ALTER TABLE memories DROP COLUMN embedding_next, ADD COLUMN embedding_next vector"
            )
        )
    # While both are there they may be too large for one row; then it is the old one that moves out.
    await _set_storage(
        connection, "embedding", "EXTERNAL" if change else choose_vector_storage(dimensions)
    )
    await _set_storage(connection, "embedding_next", choose_vector_storage(dimensions))
    record = "UPDATE encoder SET next_name = CAST(:name AS text), next_dimensions = CAST(:dimensions AS integer)"
    await fetch_rows(
        connection,
        record,
        {"name": name, "dimensions": dimensions} if change else {"name": None, "dimensions": None},
    )
    return change


async def _set_storage(connection: AsyncConnection, column: str, storage: str) -> None:
    await connection.execute(
        sa.text(f"ALTER TABLE memories ALTER COLUMN {column} SET STORAGE {storage}")
    )


# Erased memories have no vector and get none.
_IS_WAITING = "embedding_next IS NULL AND embedding IS NOT NULL"


async def build_unembedded_index(engine: AsyncEngine) -> None:
    """The index by which those that wait are found at once, however many are done. Nobody is kept from writing meanwhile."""
    async with engine.connect() as connection:
        session = await connection.execution_options(isolation_level="AUTOCOMMIT")
        find = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('memories_waiting')"
        valid = (await session.execute(sa.text(find))).scalar()
        if valid is False:  # its making was broken off
            await session.execute(sa.text("DROP INDEX CONCURRENTLY memories_waiting"))
        if not valid:
            create = f"CREATE INDEX CONCURRENTLY memories_waiting ON memories (agent_id, id) WHERE {_IS_WAITING}"
            await session.execute(sa.text(create))


# --- making vectors ----------------------------------------------------------------------------------------------------


async def count_unembedded(connection: AsyncConnection) -> int:
    [row] = await fetch_rows(
        connection, f"SELECT count(*) AS waiting FROM memories WHERE {_IS_WAITING}", {}
    )
    waiting: int = row["waiting"]
    return waiting


async def list_unembedded(
    connection: AsyncConnection, after: UnembeddedMemory, limit: int
) -> list[UnembeddedMemory]:
    """The next of those that wait, in order of agent and id."""
    statement = f"""
        SELECT agent_id, id, content FROM memories WHERE {_IS_WAITING} AND (agent_id, id) > (:agent, :id)
        ORDER BY agent_id, id LIMIT :limit
    """
    rows = await fetch_rows(
        connection, statement, {"agent": after.agent, "id": after.id, "limit": limit}
    )
    return [UnembeddedMemory(row["agent_id"], row["id"], row["content"]) for row in rows]


# As every write does, the agents are locked first, here in their order: two transactions never wait for each other's rows.
_LOCK_AGENTS = "SELECT FROM agents WHERE agent_id = ANY(:agents) ORDER BY agent_id FOR UPDATE"

# One that was erased after its text was read stays without a vector.
_FILL = f"""
    UPDATE memories AS m SET embedding_next = made.vector
    FROM unnest(CAST(:agents AS text[]), CAST(:ids AS uuid[]), CAST(:vectors AS vector[])) AS made (agent_id, id, vector)
    WHERE m.agent_id = made.agent_id AND m.id = made.id AND {_IS_WAITING}
"""


async def store_next_vectors(
    connection: AsyncConnection, waiting: Sequence[UnembeddedMemory], vectors: NDArray[np.float32]
) -> None:
    """Gives each its vector of the next model."""
    agents = [memory.agent for memory in waiting]
    await fetch_rows(connection, _LOCK_AGENTS, {"agents": sorted(set(agents))})
    await fetch_rows(
        connection,
        _FILL,
        {"agents": agents, "ids": [memory.id for memory in waiting], "vectors": list(vectors)},
    )


# --- the change --------------------------------------------------------------------------------------------------------


async def keep_writers_out(connection: AsyncConnection) -> None:
    """Lets the writes under way finish and new ones wait until the transaction ends; reads go on.

    It conflicts with the row lock on `agents` that every write begins with, and with nothing that a read takes.
    """
    await connection.execute(sa.text("LOCK TABLE agents IN EXCLUSIVE MODE"))


async def swap_vector_columns(connection: AsyncConnection) -> None:
    """The new vectors take the place of the old ones, and the new model's name that of the old; with writers kept out. A matter of
    milliseconds, as no row is touched."""
    for statement in (
        "ALTER TABLE memories DROP COLUMN embedding",  # and with it the index of those that waited
        "ALTER TABLE memories RENAME COLUMN embedding_next TO embedding",
        "ALTER TABLE memories ADD COLUMN embedding_next vector",
        "UPDATE encoder SET name = next_name, dimensions = next_dimensions, next_name = NULL, next_dimensions = NULL",
    ):
        await connection.execute(sa.text(statement))


async def vacuum_memories(engine: AsyncEngine) -> None:
    """Makes the space of the rows' old versions free for new ones."""
    async with engine.connect() as connection:
        session = await connection.execution_options(isolation_level="AUTOCOMMIT")
        await session.execute(sa.text("VACUUM (ANALYZE) memories"))
