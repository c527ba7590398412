"""Many rows by COPY, many times in one transaction."""

import asyncio
from itertools import repeat

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from app.store.inserts import FEW, insert_rows

COUNT_LOCKS = "SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid()"


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
