"""Stored values that no write leaves, which earlier versions took from imports.

The caller owns the transaction.
"""

from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import get_origin

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.store.column_values import ENUMERATIONS, JSON_SCHEMAS, find_wrong_values
from app.store.engine import fetch_rows, stream_rows
from app.store.tables import metadata


@dataclass(frozen=True, slots=True)
class WrongValue:
    """A value of a row. `ids` are those in the key of the row, and `path` leads into JSON."""

    ids: tuple[str, ...]
    column: str
    path: str


async def stream_wrong_values(
    connection: AsyncConnection, agent: AgentId, table: str
) -> AsyncGenerator[WrongValue]:
    """Yield the values of an agent that are no member of their enumeration, or other JSON."""
    statement = _build_statement(table)
    async with aclosing(stream_rows(connection, statement, {"agent": agent})) as rows:
        async for row in rows:
            for column, path in find_wrong_values(table, row):
                yield WrongValue(tuple(row["ids"]), column, path)


def _build_statement(table: str) -> str:
    """Return the statement that reads the checked columns of a table, and the ids of its rows."""
    columns = [f"CAST({column} AS text) AS {column}" for column in JSON_SCHEMAS.get(table, ())]
    columns += ENUMERATIONS.get(table, ())
    ids = [f"CAST({name} AS text)" for name in _list_ids(table)]
    return f"""
        SELECT CAST(ARRAY[{", ".join(ids)}] AS text[]) AS ids, {", ".join(columns)}
        FROM {table}
        WHERE agent_id = :agent
    """


def _list_ids(table: str) -> list[str]:
    key = [column.name for column in metadata.tables[table].primary_key]
    return [name for name in key if name in ("id", "memory_id", "source_id")]


# The tables whose JSON an erasure reads, or leaves in part. It empties all JSON of the others.
_READ_BY_ERASURES = ("consolidation_log", "reviews", "log_checkpoints", "captured_facts")


async def empty_wrong_json(connection: AsyncConnection, agent: AgentId) -> None:
    """Put nothing in the place of JSON that cannot be read, and that so could not be erased."""
    for table in _READ_BY_ERASURES:
        [key] = _list_ids(table)
        rows = defaultdict[str, list[str]](list)
        async with aclosing(stream_wrong_values(connection, agent, table)) as values:
            async for value in values:
                if value.column in JSON_SCHEMAS[table]:
                    rows[value.column] += value.ids
        for column, ids in rows.items():
            statement = _build_emptying(table, key, column)
            await fetch_rows(connection, statement, {"agent": agent, "ids": ids})


def _build_emptying(table: str, key: str, column: str) -> str:
    """Return the statement that empties a column: NULL, else an empty object or array."""
    is_array = get_origin(JSON_SCHEMAS[table][column]) is list
    empty = "'[]'" if is_array else "'{}'"
    if metadata.tables[table].columns[column].nullable:
        empty = "NULL"
    return f"""
        UPDATE {table} SET {column} = {empty}
        WHERE agent_id = :agent AND {key} = ANY(CAST(:ids AS uuid[]))
    """
