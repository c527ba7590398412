"""An agent as lines of the native format, in one snapshot, streamed: Postgres makes the lines, and no more than a block is held here."""

import asyncio
import base64
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import numpy as np
import psycopg
import sqlalchemy as sa
from psycopg.rows import dict_row
from sqlalchemy.dialects.postgresql import BYTEA, TIMESTAMP
from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.agent import AgentId
from app.domain.errors import TooManyExports
from app.store.engine import driver_connection
from app.store.transfer.format import (
    AGENT_COLUMNS,
    FORMAT,
    SECTIONS,
    TableSection,
    is_language,
    is_vector,
)

BLOCK = 2**16  # bytes; a line is never cut, so a block is as long as its last line makes it


class Exports:
    """Exports agents. Each holds a pooled connection until its reader is done, so only some may run at once."""

    def __init__(self, engine: AsyncEngine, *, at_once: int) -> None:
        self._engine = engine
        self._turns = asyncio.Semaphore(at_once)

    async def stream_blocks(self, agent: AgentId, *, vectors: bool) -> AsyncGenerator[bytes]:
        """Whole lines in blocks: the header, every section, and the line that says it is complete. Raises TooManyExports.

        Close it (`aclose`) when reading stops early: that gives the connection back.
        """
        if self._turns.locked():
            raise TooManyExports
        async with (
            self._turns,
            self._open_snapshot() as driver,
            aclosing(_stream_lines(driver, agent, vectors=vectors)) as lines,
        ):
            block = bytearray()
            async for line in lines:
                block += line
                if len(block) >= BLOCK:
                    yield bytes(block)
                    block.clear()
            yield bytes(block)

    @asynccontextmanager
    async def _open_snapshot(self) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
        async with self._engine.connect() as plain:
            connection = await plain.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
            # Every section's order is that of an index. A sort of whole rows would be cheaper by the planner's count, but would
            # write them all to disk before the first one comes.
            await connection.execute(sa.text("SET LOCAL enable_sort = off"))
            await connection.execute(
                sa.text("SET LOCAL statement_timeout = 0")
            )  # a COPY goes on at its reader's pace
            yield await driver_connection(connection)


async def _stream_lines(
    driver: psycopg.AsyncConnection[Any], agent: AgentId, *, vectors: bool
) -> AsyncGenerator[bytes]:
    """COPY rather than a cursor: it hands over row by row, and rows may be large; a fetch of many would hold them all."""
    yield _encode_line(await _read_header(driver, agent, vectors=vectors))
    counts = {section.type: 0 for section in SECTIONS}
    for section in SECTIONS:
        async with (
            driver.cursor() as cursor,
            cursor.copy(_copy_section_sql(section, vectors=vectors).encode(), [agent]) as copy,
        ):
            copy.set_types(["text", "bytea"])
            async for text, vector in copy.rows():
                yield _add_vector(text, vector).encode() + b"\n"
                counts[section.type] += 1
    yield _encode_line({"type": "end", "counts": counts})


def _encode_line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


async def _read_header(
    driver: psycopg.AsyncConnection[Any], agent: AgentId, *, vectors: bool
) -> dict[str, Any]:
    """What the lines were made from. Nothing in it changes unless the agent does."""
    cursor = driver.cursor(row_factory=dict_row)
    columns = ", ".join(
        f"{wire_column_sql(column)} AS {name}" for name, column in AGENT_COLUMNS.items()
    )
    await cursor.execute(f"SELECT {columns} FROM agents WHERE agent_id = %s".encode(), [agent])
    known = await cursor.fetchone()
    await cursor.execute("SELECT name AS encoder, dimensions FROM encoder")
    made_by = (await cursor.fetchone() if vectors else None) or {
        "encoder": None,
        "dimensions": None,
    }
    return {"type": "palimpsest", "format": FORMAT, **made_by, "agent": known}


def _add_vector(text: str, vector: bytes | None) -> str:
    """The line with its vector as base64 of little-endian floats; Postgres sends them big-endian."""
    if vector is None:
        return text
    floats = np.frombuffer(vector, ">f4").astype("<f4").tobytes()
    return f'{text[:-1]},"embedding":"{base64.b64encode(floats).decode()}"}}'


def _copy_section_sql(section: TableSection, *, vectors: bool) -> str:
    columns = ", ".join(
        f"{wire_column_sql(column)} AS {name}"
        for name, column in section.columns.items()
        if not is_vector(column)
    )
    vector = next(
        (name for name, column in section.columns.items() if is_vector(column) and vectors), None
    )
    return f"""
        COPY (
            SELECT row_to_json(line)::text, {f"substring(vector_send(t.{vector}) FROM 5)" if vector else "NULL::bytea"}
            FROM {section.table.name} t CROSS JOIN LATERAL (SELECT '{section.type}' AS type, {columns}) AS line
            WHERE t.agent_id = %s ORDER BY {", ".join(f"t.{name}" for name in section.order)}
        ) TO STDOUT (FORMAT BINARY)
    """


def wire_column_sql(column: sa.Column[object]) -> str:
    """The SQL of a column as its line carries it: times in UTC to the microsecond, hashes as hex, languages by name."""
    if isinstance(column.type, TIMESTAMP):
        return f"""to_char({column.name} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
    if isinstance(column.type, BYTEA):
        return f"encode({column.name}, 'hex')"
    return f"{column.name}::text" if is_language(column) else column.name
