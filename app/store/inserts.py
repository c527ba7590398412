"""Writing rows: as a part of one composed statement, or many of them in a row."""

from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager

from sqlalchemy.ext.asyncio import AsyncConnection

from app.store.engine import driver_connection
from app.store.rows import Row

Part = tuple[str, list[object]]
"""A statement with positional parameters, to be composed with others; empty if it does nothing."""

NOTHING: Part = ("", [])


def build_insert(table: str, types: Mapping[str, str], rows: Iterable[Row]) -> Part:
    """Return an INSERT of these rows."""
    values: list[object] = []
    count = 0
    for row in rows:
        values += [row[name] for name in types]
        count += 1
    if count == 0:
        return NOTHING
    placeholders = ", ".join(["%s"] * len(types))
    records = ", ".join([f"({placeholders})"] * count)
    return f"INSERT INTO {table} ({', '.join(types)}) VALUES {records}", values


async def insert_rows(
    connection: AsyncConnection, table: str, types: Mapping[str, str], rows: Iterable[Row]
) -> None:
    """Write rows, one after the other, without waiting for each answer. Rows may be none.

    Row-level security rules out COPY. Rows may point to later ones.
    """
    values = [[row[name] for name in types] for row in rows]
    if not values:
        return
    driver = await driver_connection(connection)
    async with driver.cursor() as cursor, defer_references(connection):
        await cursor.executemany(build_row_insert(table, types), values)


@asynccontextmanager
async def defer_references(connection: AsyncConnection) -> AsyncIterator[None]:
    """Check at the end of the block that memories point to memories that exist."""
    driver = await driver_connection(connection)
    await driver.execute("SET CONSTRAINTS ALL DEFERRED")
    yield
    await driver.execute("SET CONSTRAINTS ALL IMMEDIATE")


def build_row_insert(table: str, columns: Collection[str]) -> bytes:
    """Return the INSERT of one row, with a positional parameter for each column."""
    placeholders = ", ".join(["%s"] * len(columns))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({placeholders})".encode()
