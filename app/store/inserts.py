"""Writing rows: as a part of one composed statement, or many by COPY into a temporary table."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection

from app.store.engine import get_driver, is_on_cluster
from app.store.rows import Row
from app.turns import collect_in_turns, iterate_in_turns, rest

Made = TypeVar("Made")

Part = tuple[str, list[object]]
"""A statement with positional parameters, to be composed with others; empty if it does nothing."""

NOTHING: Part = ("", [])

# Rows that are written without a temporary table. To create one takes as long as these take.
FEW = 50


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
    connection: AsyncConnection,
    table: str,
    types: Mapping[str, str],
    rows: Iterable[Row],
    meanwhile: Iterable[Made] = (),
) -> list[Made]:
    """Write rows in one statement, so that they may point to one another. Rows may be none.

    Return the items of `meanwhile`, which are made while Postgres writes many rows.
    """
    written = await collect_in_turns(rows)
    if len(written) <= FEW:
        statement, values = build_insert(table, types, written)
        if statement:
            await get_driver(connection).execute(statement.encode(), values)
        return await collect_in_turns(meanwhile)
    await _copy_rows(connection, table, types, written)
    # While Postgres writes, a short request may find no free core.
    await rest()
    moving = move_incoming(connection, table, types)
    _, made = await asyncio.gather(moving, collect_in_turns(meanwhile))
    return made


async def _copy_rows(
    connection: AsyncConnection, table: str, types: Mapping[str, str], rows: Iterable[Row]
) -> None:
    """Write rows to the temporary table."""
    await create_incoming(connection, table)
    driver = get_driver(connection)
    async with driver.cursor() as cursor, cursor.copy(build_copy(table, types)) as copy:
        copy.set_types(list(types.values()))
        async for row in iterate_in_turns(rows):
            await copy.write_row([row[name] for name in types])


async def create_incoming(connection: AsyncConnection, table: str, *rules: str) -> None:
    """Create a temporary table with the columns of this one, and with more rules.

    Row-level security rules out COPY, but not into a temporary table. There is one for each table
    until the transaction ends: each one that is created takes locks that only its end sets free,
    and an import of 100,000 lines writes thousands of times.
    """
    driver = get_driver(connection)
    name = name_incoming(table)
    definition = ", ".join([f"LIKE {table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS", *rules])
    create = f"CREATE TEMP TABLE IF NOT EXISTS {name} ({definition}) ON COMMIT DROP"
    await driver.execute(create.encode())


def name_incoming(table: str) -> str:
    """Return the name of the temporary table for the rows of this one."""
    return f"incoming_{table}"


def build_copy(table: str, columns: Iterable[str]) -> bytes:
    """Return the COPY into the temporary table."""
    return f"COPY {name_incoming(table)} ({', '.join(columns)}) FROM STDIN (FORMAT BINARY)".encode()


async def move_incoming(connection: AsyncConnection, table: str, columns: Iterable[str]) -> None:
    """Move the rows of the temporary table into this one, in one statement."""
    driver = get_driver(connection)
    incoming = name_incoming(table)
    if is_on_cluster(driver):
        values = [table, incoming, list(columns)]
        await driver.execute(b"SELECT move_incoming(%s, %s, %s)", values)
    else:
        names = ", ".join(columns)
        move = f"INSERT INTO {table} ({names}) SELECT {names} FROM {incoming}"
        await driver.execute(move.encode())
    await driver.execute(f"TRUNCATE {incoming}".encode())
