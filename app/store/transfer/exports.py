"""Exports: an agent as lines of the native format, streamed from one snapshot.

Postgres makes the lines, and the service holds no more than a block of them.
"""

import base64
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import numpy as np
import psycopg
import sqlalchemy as sa
from psycopg.rows import dict_row
from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.agent import AgentId
from app.store.engine import (
    get_driver,
    lift_statement_timeout,
    open_snapshot,
    set_on_every_node,
)
from app.store.transfer.format import (
    AGENT_COLUMNS,
    FORMAT,
    SECTIONS,
    TableSection,
    is_vector,
    wire_column_sql,
)

# Bytes. A line is never cut, so a block may be longer by the rest of its last line.
BLOCK = 2**16


class Exports:
    """Exports agents. Each export holds a pooled connection."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def stream_blocks(self, agent: AgentId, *, vectors: bool) -> AsyncGenerator[bytes]:
        """Yield whole lines in blocks: the header, every section, and the line of the end.

        Close the generator (`aclose`) if reading stops early: that gives the connection back.
        """
        async with (
            self._open_snapshot(agent) as driver,
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
    async def _open_snapshot(self, agent: AgentId) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
        async with open_snapshot(self._engine, agent) as connection:
            # Every section has the order of an index. The planner counts a sort of whole rows as
            # cheaper, but a sort writes all of them to disk before the first row comes.
            await set_on_every_node(connection, "enable_sort", "off")
            # A COPY goes on as slowly as its reader takes the rows.
            await lift_statement_timeout(connection)
            yield get_driver(connection)


async def _stream_lines(
    driver: psycopg.AsyncConnection[Any], agent: AgentId, *, vectors: bool
) -> AsyncGenerator[bytes]:
    """Yield each line.

    Rows may be large. COPY hands them over one by one; a cursor would hold as many as it fetches.
    """
    yield _encode_line(await _read_header(driver, agent, vectors=vectors))
    counts = {section.type: 0 for section in SECTIONS}
    for section in SECTIONS:
        statement = _copy_section_sql(section, vectors=vectors).encode()
        async with driver.cursor() as cursor, cursor.copy(statement, [agent]) as copy:
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
    """Return the header, which stays the same until the agent changes."""
    cursor = driver.cursor(row_factory=dict_row)
    columns = _wire_columns_sql(AGENT_COLUMNS)
    await cursor.execute(f"SELECT {columns} FROM agents WHERE agent_id = %s".encode(), [agent])
    agent_row = await cursor.fetchone()
    await cursor.execute("SELECT name AS encoder, dimensions FROM encoder")
    encoder = await cursor.fetchone()
    if not vectors or encoder is None:
        encoder = {"encoder": None, "dimensions": None}
    return {"type": "palimpsest", "format": FORMAT, **encoder, "agent": agent_row}


def _add_vector(text: str, vector: bytes | None) -> str:
    """Add the vector to the line, as base64 of little-endian floats. Postgres sends big-endian."""
    if vector is None:
        return text
    floats = np.frombuffer(vector, ">f4").astype("<f4").tobytes()
    return f'{text[:-1]},"embedding":"{base64.b64encode(floats).decode()}"}}'


def _copy_section_sql(section: TableSection, *, vectors: bool) -> str:
    plain = {name: column for name, column in section.columns.items() if not is_vector(column)}
    vector = "NULL::bytea"
    for name in section.columns.keys() - plain.keys():
        if vectors:
            vector = f"substring(vector_send(t.{name}) FROM 5)"
    order = ", ".join(f"t.{name}" for name in section.order)
    return f"""
        COPY (
            SELECT row_to_json(line)::text, {vector}
            FROM {section.table.name} t
            CROSS JOIN LATERAL (
                SELECT '{section.type}' AS type, {_wire_columns_sql(plain)}
            ) AS line
            WHERE t.agent_id = %s
            ORDER BY {order}
        ) TO STDOUT (FORMAT BINARY)
    """


def _wire_columns_sql(columns: dict[str, sa.Column[object]]) -> str:
    return ", ".join(f"{wire_column_sql(column)} AS {name}" for name, column in columns.items())
