"""The connection pool, and how a connection is set up."""

from typing import Any

import psycopg
import sqlalchemy as sa
from pgvector.psycopg import register_vector_async
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
