"""Writing the rows of a native export, and asking whether all of them together are an agent's history. The caller owns the transaction."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
import sqlalchemy as sa
from psycopg.rows import dict_row
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.errors import BadImportLine, DamagedImport
from app.domain.version import Version
from app.store.chains import VERSION_COLUMNS, version_from_row
from app.store.columns import find_copy_type
from app.store.engine import driver_connection, fetch_rows
from app.store.transfer.format import SECTIONS

_BREATH = 50  # rows between two chances for other requests
_FETCH = 500
_SECTIONS = {section.type: section for section in SECTIONS}


@dataclass(frozen=True, slots=True)
class ImportTarget:
    """What an import needs to know first: whether the agent holds nothing, the clock, and the text languages by name."""

    empty: bool
    clock: datetime
    languages: dict[str, int]


# A review points to the log, so these two tables tell.
_LOOK = """
    SELECT clock_timestamp() AS clock,
           NOT EXISTS (SELECT FROM memories WHERE agent_id = :agent)
           AND NOT EXISTS (SELECT FROM consolidation_log WHERE agent_id = :agent)
           AND NOT EXISTS (SELECT FROM folded_operations WHERE agent_id = :agent) AS empty,
           (SELECT json_object_agg(oid::regconfig::text, oid::bigint) FROM pg_ts_config) AS languages
"""


async def read_import_target(connection: AsyncConnection, agent: AgentId) -> ImportTarget:
    [row] = await fetch_rows(connection, _LOOK, {"agent": agent})
    return ImportTarget(row["empty"], row["clock"], row["languages"])


async def set_agent(
    connection: AsyncConnection, agent: AgentId, known: Mapping[str, Any], *, line: int
) -> None:
    """Gives the agent's row what the header on `line` says of it."""
    driver = await driver_connection(connection)
    changes = ", ".join(f"{name} = %s" for name in known)
    with _translate_errors(line):
        await driver.execute(
            f"UPDATE agents SET {changes} WHERE agent_id = %s".encode(), [*known.values(), agent]
        )


async def copy_rows(
    connection: AsyncConnection,
    agent: AgentId,
    kind: str,
    rows: Iterable[Mapping[str, Any]],
    *,
    first_line: int,
) -> None:
    """The rows of a section, which stood on consecutive lines, in one COPY: rows that point to one another are checked at its end.

    Raises BadImportLine or DamagedImport where they break a rule of the schema.
    """
    section = _SECTIONS[kind]
    driver = await driver_connection(connection)
    names = ", ".join(column.name for column in section.columns.values())
    statement = f"COPY {section.table.name} (agent_id, {names}) FROM STDIN (FORMAT BINARY)"
    with _translate_errors(first_line):
        async with driver.cursor() as cursor, cursor.copy(statement.encode()) as copy:
            copy.set_types(["text", *map(find_copy_type, section.columns.values())])
            for number, row in enumerate(rows):
                await copy.write_row([agent, *(row[name] for name in section.columns)])
                if number % _BREATH == 0:
                    await asyncio.sleep(
                        0
                    )  # COPY does not wait for the event loop while the server keeps up


@contextmanager
def _translate_errors(first_line: int) -> Iterator[None]:
    """A broken rule of the schema, told by the line where Postgres names one, else by the key that is missing."""
    try:
        yield
    except (
        psycopg.IntegrityError,
        psycopg.DataError,
        psycopg.errors.ProgramLimitExceeded,
    ) as error:
        reason = f"{error.diag.message_primary}."
        if place := re.search(r"COPY \w+, line (\d+)", error.diag.context or ""):
            raise BadImportLine(first_line + int(place[1]) - 1, reason) from None
        raise DamagedImport(f"{reason} {error.diag.message_detail or ''}".strip()) from None


# What the rules of the schema cannot say; each finds a memory or operation that breaks one.
_CHECKS = {
    # The operation that inserted a memory has the known time at which the memory was created, and names it.
    "No operation of the log brought memory {} in.": """
        SELECT m.id FROM memories m
        WHERE m.agent_id = :agent AND NOT EXISTS (
            SELECT FROM consolidation_log l
            WHERE l.agent_id = m.agent_id AND l.created_at = m.created_at
              AND (l.target_memory_id = m.id OR m.id = ANY(l.source_memory_ids))
        ) AND NOT EXISTS (
            SELECT FROM folded_operations f
            WHERE f.agent_id = m.agent_id AND f.created_at = m.created_at AND f.memory_ids @> ARRAY[m.id]
        ) LIMIT 1
    """,
    "A review is of the operation {}, which is neither in the log nor among those that left it.": """
        SELECT r.log_id AS id FROM reviews r
        WHERE r.agent_id = :agent AND r.log_id IS NOT NULL
          AND NOT EXISTS (SELECT FROM consolidation_log l WHERE l.agent_id = r.agent_id AND l.id = r.log_id)
          AND NOT EXISTS (SELECT FROM folded_operations f WHERE f.agent_id = r.agent_id AND f.id = r.log_id AND f.archive_id IS NOT NULL)
        LIMIT 1
    """,
    "The beliefs of memory {} do not follow one another from its created_at on without a gap or an overlap.": """
        SELECT id FROM (
            SELECT id, known_from,
                   coalesce(lag(known_until) OVER (PARTITION BY id ORDER BY known_from, known_until NULLS LAST), created_at) AS due
            FROM (
                SELECT id, created_at, known_from, CAST(NULL AS timestamptz) AS known_until FROM memories WHERE agent_id = :agent
                UNION ALL
                SELECT m.id, m.created_at, b.known_from, b.known_until
                FROM memory_beliefs b JOIN memories m ON m.agent_id = b.agent_id AND m.id = b.memory_id WHERE b.agent_id = :agent
            ) AS held
        ) AS beliefs WHERE known_from <> due LIMIT 1
    """,
}


async def check_imported_history(connection: AsyncConnection, agent: AgentId) -> None:
    """Raises DamagedImport where a memory has no operation, or its beliefs leave a gap."""
    # The statistics do not know the new rows: the planner expects one and would compare each with each.
    await connection.execute(sa.text("SET LOCAL enable_nestloop = off"))
    for reason, statement in _CHECKS.items():
        for row in await fetch_rows(connection, statement, {"agent": agent}):
            raise DamagedImport(reason.format(row["id"]))


_CHAINS = f"SELECT {VERSION_COLUMNS} FROM memories WHERE agent_id = %s ORDER BY chain_id, created_at, id".encode()


async def stream_imported_chains(
    connection: AsyncConnection, agent: AgentId
) -> AsyncIterator[list[Version]]:
    """Every chain, one at a time."""
    driver = await driver_connection(connection)
    chain_id: UUID | None = None
    chain: list[Version] = []
    async with driver.cursor("chains", row_factory=dict_row) as cursor:
        cursor.itersize = _FETCH
        await cursor.execute(_CHAINS, [agent])
        async for row in cursor:
            if row["chain_id"] != chain_id and chain:
                yield chain
                chain = []
            chain_id = row["chain_id"]
            chain.append(version_from_row(row))
    if chain:
        yield chain
