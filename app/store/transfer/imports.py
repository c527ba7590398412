"""The writes of an import: rows of a native export, and checks of the history they make up.

The caller owns the transaction.
"""

import re
import struct
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psycopg
from psycopg.abc import Buffer, Transformer
from psycopg.adapt import AdaptersMap, PyFormat
from psycopg.pq import Format
from sqlalchemy.ext.asyncio import AsyncConnection

from app.database_names import remove_shards
from app.domain.agent import AgentId
from app.domain.errors import BadImportLine, DamagedImport
from app.domain.version import Version
from app.store.chains import VERSION_COLUMNS, group_by_chain
from app.store.columns import find_copy_type
from app.store.engine import (
    fetch_rows,
    get_driver,
    set_on_every_node,
    stream_server_cursor,
)
from app.store.inserts import build_copy, create_incoming, move_incoming, name_incoming
from app.store.transfer.format import SECTIONS, TableSection
from app.turns import iterate_in_turns

_SECTIONS = {section.type: section for section in SECTIONS}
_FIELDS = {section.type: tuple(section.columns) for section in SECTIONS}

# What comes before and after the rows of a binary COPY, and the length of a value that is NULL.
_SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_TRAILER = b"\xff\xff"
_NULL = b"\xff\xff\xff\xff"


@dataclass(frozen=True, slots=True)
class ImportTarget:
    """The state before an import.

    `languages` are the oids of text search, by name. `adapters` know how values are written in this
    database.
    """

    empty: bool
    clock: datetime
    languages: dict[str, int]
    adapters: AdaptersMap


# Read the state before an import. Reviews point to the log, so they need not be looked at.
_TARGET = """
    SELECT clock_timestamp() AS clock,
           NOT EXISTS (SELECT FROM memories WHERE agent_id = :agent)
           AND NOT EXISTS (SELECT FROM consolidation_log WHERE agent_id = :agent)
           AND NOT EXISTS (SELECT FROM folded_operations WHERE agent_id = :agent)
           AND NOT EXISTS (SELECT FROM captures WHERE agent_id = :agent) AS empty
"""

_LANGUAGES = "SELECT json_object_agg(oid::regconfig::text, oid::bigint) AS oids FROM pg_ts_config"


async def read_import_target(connection: AsyncConnection, agent: AgentId) -> ImportTarget:
    [target] = await fetch_rows(connection, _TARGET, {"agent": agent})
    [languages] = await fetch_rows(connection, _LANGUAGES, {})
    driver = get_driver(connection)
    return ImportTarget(target["empty"], target["clock"], languages["oids"], driver.adapters)


class RowFormatter:
    """Writes the rows of an agent as a binary COPY takes them. It needs no connection."""

    def __init__(self, agent: AgentId, adapters: AdaptersMap) -> None:
        self._agent = agent
        self._transformers: dict[str, Transformer] = {}
        for section in SECTIONS:
            types = ["text", *map(find_copy_type, section.columns.values())]
            transformer = psycopg.adapt.Transformer(adapters)
            transformer.set_dumper_types(list(map(adapters.types.get_oid, types)), Format.BINARY)
            self._transformers[section.type] = transformer

    def format_row(self, kind: str, values: Mapping[str, Any]) -> bytes:
        """Return the row of a section; `values` has the columns by their names on the line."""
        row = [self._agent, *[values[name] for name in _FIELDS[kind]]]
        pieces: list[Buffer] = [struct.pack("!h", len(row))]
        formats = [PyFormat.BINARY] * len(row)
        for value in self._transformers[kind].dump_sequence(row, formats):
            if value is None:
                pieces.append(_NULL)
            else:
                pieces += (struct.pack("!i", len(value)), value)
        return b"".join(pieces)


async def set_agent(
    connection: AsyncConnection, agent: AgentId, values: Mapping[str, Any], *, line: int
) -> None:
    """Set the agent's row to the values of the header, which is on `line`."""
    driver = get_driver(connection)
    changes = ", ".join(f"{name} = %s" for name in values)
    statement = f"UPDATE agents SET {changes} WHERE agent_id = %s"
    with _translate_errors(line):
        await driver.execute(statement.encode(), [*values.values(), agent])


async def insert_rows(
    connection: AsyncConnection,
    agent: AgentId,
    kind: str,
    blocks: Iterable[bytes],
    *,
    first_line: int,
) -> None:
    """Write the rows of a section, which are on consecutive lines, in one statement.

    Each block holds rows as `RowFormatter` writes them. Raise BadImportLine or DamagedImport if
    they break a rule of the schema.
    """
    section = _SECTIONS[kind]
    names = ["agent_id", *(column.name for column in section.columns.values())]
    key = ", ".join(column.name for column in section.table.primary_key)
    driver = get_driver(connection)
    # The rule has the name that it has in the table itself, so that an error names that one.
    rule = f"CONSTRAINT {section.table.name}_pkey PRIMARY KEY ({key})"
    await create_incoming(connection, section.table.name, rule)
    with _translate_errors(first_line):
        async with (
            driver.cursor() as cursor,
            cursor.copy(build_copy(section.table.name, names)) as copy,
        ):
            await copy.write(_SIGNATURE)
            # COPY does not wait for the event loop while the server takes the rows at once.
            async for block in iterate_in_turns(blocks):
                await copy.write(block)
            await copy.write(_TRAILER)
        await _check_references(connection, agent, section)
        await move_incoming(connection, section.table.name, names)


async def _check_references(
    connection: AsyncConnection, agent: AgentId, section: TableSection
) -> None:
    """Raise DamagedImport if an incoming row points to one that is not there.

    Postgres itself would not say to which, because row-level security could hide that one.
    """
    incoming = name_incoming(section.table.name)
    for key in sorted(section.table.foreign_key_constraints, key=lambda key: str(key.name)):
        referred = key.referred_table
        own = f"UNION ALL SELECT id FROM {incoming}" if referred is section.table else ""
        for name in key.column_keys:
            if name == "agent_id":
                continue
            statement = f"""
                SELECT {name} AS id FROM {incoming} WHERE {name} IS NOT NULL
                EXCEPT
                (SELECT id FROM {referred.name} WHERE agent_id = :agent {own})
                LIMIT 1
            """
            rows = await fetch_rows(connection, statement, {"agent": agent})
            if rows:
                raise DamagedImport(
                    f"A line of the type {section.type} points to {rows[0]['id']} in {name}, "
                    "which is not there."
                )


@contextmanager
def _translate_errors(first_line: int) -> Iterator[None]:
    """Raise BadImportLine if Postgres names the line that breaks a rule, else DamagedImport."""
    try:
        yield
    except (
        psycopg.IntegrityError,
        psycopg.DataError,
        psycopg.errors.ProgramLimitExceeded,
    ) as error:
        reason = remove_shards(f"{error.diag.message_primary}.")
        place = re.search(r"COPY \w+, line (\d+)", error.diag.context or "")
        if place:
            raise BadImportLine(first_line + int(place[1]) - 1, reason) from None
        detail = remove_shards(error.diag.message_detail or "")
        raise DamagedImport(f"{reason} {detail}".strip()) from None


# Find a memory that no operation inserted. The inserting operation names the memory, and its known
# time is the time at which the memory was created.
_NOT_INSERTED = """
    SELECT m.id
    FROM memories m
    WHERE m.agent_id = :agent
      AND NOT EXISTS (
          SELECT FROM consolidation_log l
          WHERE l.agent_id = :agent AND l.created_at = m.created_at
            AND (l.target_memory_id = m.id OR m.id = ANY(l.source_memory_ids))
      )
      AND NOT EXISTS (
          SELECT FROM folded_operations f
          WHERE f.agent_id = :agent AND f.created_at = m.created_at
            AND f.memory_ids @> ARRAY[m.id]
      )
    LIMIT 1
"""

# Find an operation that a review names, and that is neither in the log nor archived.
_MISSING_OPERATION = """
    SELECT r.log_id AS id
    FROM reviews r
    WHERE r.agent_id = :agent AND r.log_id IS NOT NULL
      AND NOT EXISTS (
          SELECT FROM consolidation_log l WHERE l.agent_id = :agent AND l.id = r.log_id
      )
      AND NOT EXISTS (
          SELECT FROM folded_operations f
          WHERE f.agent_id = :agent AND f.id = r.log_id AND f.archive_id IS NOT NULL
      )
    LIMIT 1
"""

# Find a memory with a belief that does not begin when the one before it ends.
_BROKEN_BELIEFS = """
    SELECT id
    FROM (
        SELECT id, known_from,
               coalesce(
                   lag(known_until) OVER (
                       PARTITION BY id ORDER BY known_from, known_until NULLS LAST
                   ),
                   created_at
               ) AS due
        FROM (
            SELECT id, created_at, known_from, CAST(NULL AS timestamptz) AS known_until
            FROM memories
            WHERE agent_id = :agent
            UNION ALL
            SELECT m.id, m.created_at, b.known_from, b.known_until
            FROM memory_beliefs b
            JOIN memories m ON m.agent_id = :agent AND m.id = b.memory_id
            WHERE b.agent_id = :agent
        ) AS spans
    ) AS beliefs
    WHERE known_from <> due
    LIMIT 1
"""

# Find a message that a fact quotes, and that is not there.
_MISSING_MESSAGE = """
    SELECT quote ->> 'turn_id' AS id
    FROM captured_facts f
    CROSS JOIN LATERAL jsonb_array_elements(f.quotes) AS quote
    WHERE f.agent_id = :agent
      AND NOT EXISTS (
          SELECT FROM turns t
          WHERE t.agent_id = :agent AND t.id = CAST(quote ->> 'turn_id' AS uuid)
      )
    LIMIT 1
"""

# Rules that the schema cannot express: the sentence about a fault, and the statement that finds it.
_CHECKS = (
    ("No operation of the log brought memory {} in.", _NOT_INSERTED),
    (
        "A review is of the operation {}, which is neither in the log nor among those that left "
        "it.",
        _MISSING_OPERATION,
    ),
    ("A fact of a message quotes the message {}, which is not there.", _MISSING_MESSAGE),
    (
        "The beliefs of memory {} do not follow one another from its created_at on without a gap "
        "or an overlap.",
        _BROKEN_BELIEFS,
    ),
)


async def check_imported_history(connection: AsyncConnection, agent: AgentId) -> None:
    """Raise DamagedImport if an operation is missing, or if the beliefs of a memory leave a gap."""
    # The statistics do not count the new rows. The planner expects one row, and would compare each
    # row with each other row.
    await set_on_every_node(connection, "enable_nestloop", "off")
    for reason, statement in _CHECKS:
        rows = await fetch_rows(connection, statement, {"agent": agent})
        if rows:
            raise DamagedImport(reason.format(rows[0]["id"]))


# Read the versions of an agent, chain by chain. A version alone in its chain that is open and was
# never ended is right as it is.
_CHAINS = f"""
    SELECT {VERSION_COLUMNS}
    FROM memories
    WHERE agent_id = :agent AND chain_id IN (
        SELECT chain_id
        FROM memories
        WHERE agent_id = :agent
        GROUP BY chain_id
        HAVING count(*) > 1 OR NOT bool_and(
            id = chain_id
            AND said_until IS NULL
            AND retracted_at IS NULL
            AND NOT void
            AND ended_by IS NULL
            AND valid_until IS NULL
            AND superseded_by IS NULL
            AND covered = '{{}}'
        )
    )
    ORDER BY chain_id, created_at, id
"""


def stream_imported_chains(
    connection: AsyncConnection, agent: AgentId
) -> AsyncIterator[list[Version]]:
    """Yield every chain that may be damaged, one at a time."""
    return group_by_chain(stream_server_cursor(connection, "chains", _CHAINS, {"agent": agent}))
