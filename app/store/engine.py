"""The connection pool, and how a connection is set up."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from functools import lru_cache
from typing import Any, cast

import psycopg
import sqlalchemy as sa
from pgvector.psycopg import register_vector_async
from psycopg.rows import dict_row
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine


def sqlalchemy_url(url: str) -> sa.URL:
    """A postgresql:// URL with psycopg 3 as its driver."""
    return sa.make_url(url).set(drivername="postgresql+psycopg")


def create_engine(url: str, *, pool_size: int, pool_timeout: float) -> AsyncEngine:
    """A pool of at most `pool_size` connections; waiting longer than `pool_timeout` seconds for one raises TimeoutError."""
    engine = create_async_engine(
        sqlalchemy_url(url),
        pool_size=pool_size,
        max_overflow=0,
        pool_use_lifo=True,  # the connection used last has the statements prepared
        pool_timeout=pool_timeout,
        connect_args={"options": "-c timezone=UTC", "connect_timeout": 10},
    )
    sa.event.listen(engine.sync_engine, "connect", _register_vector)
    return engine


def _register_vector(dbapi_connection: DBAPIConnection, _record: object) -> None:
    dbapi_connection.run_async(register_vector_async)


async def driver_connection(connection: AsyncConnection) -> psycopg.AsyncConnection[Any]:
    """The psycopg connection beneath, in the same transaction: for COPY, which SQLAlchemy does not speak."""
    raw = await connection.get_raw_connection()
    driver = raw.driver_connection
    assert isinstance(driver, psycopg.AsyncConnection)
    return driver


async def fetch(connection: AsyncConnection, statement: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a statement with `:names`, straight from the driver, in the same transaction. Raises psycopg errors.

    SQLAlchemy takes 0.3 ms more for a search: it parses the text, guards and wraps every row.
    """
    driver = await driver_connection(connection)
    cursor = driver.cursor(row_factory=dict_row)
    await cursor.execute(_in_driver_style(statement), parameters)
    return await cursor.fetchall() if cursor.description else []


async def stream(connection: AsyncConnection, statement: str, parameters: Mapping[str, Any]) -> AsyncGenerator[dict[str, Any]]:
    """The rows of a statement with `:names` as they arrive, in the same transaction; nothing else is asked meanwhile.

    Close it (`aclose`) when reading stops early.
    """
    driver = await driver_connection(connection)
    async with driver.cursor(row_factory=dict_row) as cursor:
        arriving = cast("AsyncGenerator[dict[str, Any]]", cursor.stream(_in_driver_style(statement), parameters))
        async with aclosing(arriving) as rows:
            async for row in rows:
                yield row


async def stream_beside(
    connection: AsyncConnection, name: str, statement: str, parameters: Mapping[str, Any]
) -> AsyncGenerator[dict[str, Any]]:
    """As `stream`, through a cursor of this name in the database: several can be read side by side."""
    driver = await driver_connection(connection)
    async with driver.cursor(name, row_factory=dict_row) as cursor:
        cursor.itersize = 200
        await cursor.execute(_in_driver_style(statement), parameters)
        async for row in cursor:
            yield row


@asynccontextmanager
async def snapshot(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A connection whose statements all see the database as it is at the first one."""
    async with engine.connect() as plain:
        yield await plain.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


@lru_cache(maxsize=512)
def _in_driver_style(statement: str) -> bytes:
    return str(sa.text(statement).compile(dialect=_DIALECT)).encode()


_DIALECT = PGDialect_psycopg()  # type: ignore[no-untyped-call]
