"""Many rows by COPY, many times in one transaction."""

import asyncio
from collections.abc import Iterator
from itertools import repeat

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from app.store import inserts
from app.store.inserts import FEW, insert_rows

COUNT_LOCKS = "SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid()"
FIND_WRITING = """
    SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND state = 'active' AND query LIKE 'INSERT INTO scratch%'
"""
COUNT_ROWS = "SELECT (SELECT count(*) FROM incoming_scratch), (SELECT count(*) FROM scratch)"
SLEEP = """
    CREATE FUNCTION sleep() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN PERFORM pg_sleep(0.5); RETURN NULL; END'
"""
SLEEP_BEFORE = "CREATE TRIGGER sleep BEFORE INSERT ON scratch EXECUTE FUNCTION sleep()"


def test_an_import_of_any_size_takes_as_many_locks_as_a_small_one(
    unchecked_database_url: str,
) -> None:
    """Postgres has a few thousand locks for all. A temporary table keeps some to the end."""

    async def write(connection: AsyncConnection, times: int) -> int:
        for _ in range(times):
            rows = [{"number": number} for number in range(FEW + 1)]
            await insert_rows(connection, "scratch", {"number": "int4"}, rows)
        return int((await connection.execute(text(COUNT_LOCKS))).scalar_one())

    async def run() -> None:
        url = unchecked_database_url.replace("postgresql://", "postgresql+psycopg://")
        engine = create_async_engine(url)
        async with engine.connect() as connection, connection.begin():
            await connection.execute(text("CREATE TABLE scratch (number int)"))
            counts = [await write(connection, times) for times in (1, 5, 20)]
            rows = await connection.execute(text("SELECT number FROM scratch"))
            assert sorted(rows.scalars()) == sorted(
                number for _ in repeat(None, 26) for number in range(FEW + 1)
            )
        await engine.dispose()
        assert len(set(counts)) == 1, counts

    asyncio.run(run())


@pytest.mark.parametrize("count", [1, FEW + 1])
def test_other_rows_are_made_while_many_are_written(
    unchecked_database_url: str, count: int
) -> None:
    """A trigger takes its time, so that the writing goes on while the others are made."""
    writing: list[bool] = []

    def make_others() -> Iterator[int]:
        with psycopg.connect(unchecked_database_url) as connection:
            writing.append(connection.execute(FIND_WRITING).rowcount > 0)
        yield from range(3)

    async def run() -> None:
        url = unchecked_database_url.replace("postgresql://", "postgresql+psycopg://")
        engine = create_async_engine(url)
        async with engine.connect() as connection, connection.begin():
            await connection.execute(text("CREATE TABLE scratch (number int)"))
            await connection.execute(text(SLEEP))
            await connection.execute(text(SLEEP_BEFORE))
            rows = [{"number": number} for number in range(count)]
            types = {"number": "int4"}
            made = await insert_rows(connection, "scratch", types, rows, meanwhile=make_others())
            assert made == [0, 1, 2]
            written = await connection.execute(text("SELECT count(*) FROM scratch"))
            assert written.scalar_one() == count
        await engine.dispose()

    asyncio.run(run())
    assert writing == [count > FEW]


def test_a_transfer_rests_before_postgres_writes_many(
    unchecked_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: list[tuple[int, ...]] = []

    async def run() -> None:
        url = unchecked_database_url.replace("postgresql://", "postgresql+psycopg://")
        engine = create_async_engine(url)
        async with engine.connect() as connection, connection.begin():

            async def note_rest() -> None:
                counts.append(tuple((await connection.execute(text(COUNT_ROWS))).one()))

            monkeypatch.setattr(inserts, "rest", note_rest)
            await connection.execute(text("CREATE TABLE scratch (number int)"))
            rows = [{"number": number} for number in range(FEW + 1)]
            await insert_rows(connection, "scratch", {"number": "int4"}, rows)
        await engine.dispose()

    asyncio.run(run())
    assert counts == [(FEW + 1, 0)], "in the temporary table, and not written yet"
