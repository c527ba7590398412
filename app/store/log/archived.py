"""The rows about operations that left the log: their archives, and their facts without any text."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import BYTEA
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.errors import OperationArchived, SelectionArchived
from app.planning.reverts import LoggedOperation
from app.store.engine import fetch_rows, stream_server_cursor
from app.store.log.archive_files import File
from app.store.log.reverts import Selection
from app.store.tables import archived_log
from app.store.transfer.format import SECTIONS, wire_column_sql

# --- reads -------------------------------------------------------------------------------------

# Find the latest of these operations that was archived, and its file.
_FIND = """
    SELECT f.id, f.created_at, a.file
    FROM folded_operations f
    JOIN log_archives a ON a.agent_id = :agent AND a.id = f.archive_id
    WHERE f.agent_id = :agent AND f.id = ANY(:ids)
    ORDER BY f.created_at DESC
    LIMIT 1
"""


async def refuse_archived(connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID]) -> None:
    """Raise OperationArchived if one of these operations was archived."""
    rows = await fetch_rows(connection, _FIND, {"agent": agent, "ids": list(ids)})
    if rows:
        raise OperationArchived(rows[0]["id"], rows[0]["created_at"], rows[0]["file"])


# Sessions and sources are in the archive files alone, so a selection by them may mean any archived
# operation.
_CONDITIONS = {
    "log_ids": "id = ANY(:log_ids)",
    "operation": "operation = :operation",
    "request_id": "request_id = :request_id",
    "decided_by": "decided_by = :decided_by",
    "actor": "actor = :actor",
    "since": "created_at >= :since",
    "until": "created_at < :until",
    "capture_id": """id IN (
        SELECT f.log_id
        FROM turns t
        JOIN captured_facts f ON f.agent_id = :agent AND f.turn_id = t.id
        WHERE t.agent_id = :agent AND t.capture_id = :capture_id
    )""",
}

# Count the archived operations of a selection that stand.
_COUNT_SELECTED = """
    SELECT max(created_at) AS until, count(*) AS operations
    FROM folded_operations
    WHERE agent_id = :agent AND archive_id IS NOT NULL AND stands
      AND operation NOT IN ('REVERT', 'ERASE') AND {selected}
"""


async def refuse_archived_selection(
    connection: AsyncConnection, agent: AgentId, selection: Selection
) -> None:
    """Raise SelectionArchived if the selection may mean archived operations that stand."""
    stated = {name: getattr(selection, name) for name in _CONDITIONS}
    values = {name: value for name, value in stated.items() if value is not None}
    conditions = ["true", *(_CONDITIONS[name] for name in values)]
    statement = _COUNT_SELECTED.format(selected=" AND ".join(conditions))
    [row] = await fetch_rows(connection, statement, {"agent": agent, **values})
    if row["operations"]:
        raise SelectionArchived(row["until"], row["operations"])


# Find the latest archived operation that stands and touched some memories after a known time. The
# time is that of an operation that is still in the log; it is older only if it had to stay there.
_DEPENDENT = """
    SELECT id
    FROM folded_operations
    WHERE agent_id = :agent AND created_at > :after AND archive_id IS NOT NULL AND stands
      AND operation NOT IN ('ERASE', 'REVERT') AND memory_ids && CAST(:ids AS uuid[])
    ORDER BY created_at DESC
    LIMIT 1
"""


async def refuse_archived_dependents(
    connection: AsyncConnection, agent: AgentId, done: LoggedOperation
) -> None:
    """Raise OperationArchived if an archived operation built on this one.

    The archived operation would have to be undone first, and no longer can be.
    """
    values = {"agent": agent, "after": done.at, "ids": list(done.ids)}
    rows = await fetch_rows(connection, _DEPENDENT, values)
    await refuse_archived(connection, agent, [row["id"] for row in rows])


# Find the known time of the last archived operation within a span.
_ARCHIVED_UNTIL = """
    SELECT max(created_at) AS until
    FROM folded_operations
    WHERE agent_id = :agent AND archive_id IS NOT NULL
      AND created_at >= :since AND created_at <= :known_at
"""


async def find_archived_until(
    connection: AsyncConnection, agent: AgentId, *, since: datetime, known_at: datetime
) -> datetime | None:
    """Return the known time of the last archived operation from `since` to `known_at`, if any.

    Up to that time the log may lack operations.
    """
    span = {"agent": agent, "since": since, "known_at": known_at}
    [row] = await fetch_rows(connection, _ARCHIVED_UNTIL, span)
    until: datetime | None = row["until"]
    return until


# List the archives that have a file, oldest first.
_FILES = """
    SELECT id, file, sha256
    FROM log_archives
    WHERE agent_id = :agent AND file IS NOT NULL
    ORDER BY first_at, id
"""


async def list_archive_files(connection: AsyncConnection, agent: AgentId) -> dict[UUID, File]:
    """Return the files of the agent's archives, oldest first."""
    rows = await fetch_rows(connection, _FILES, {"agent": agent})
    return {row["id"]: File(row["file"], row["sha256"]) for row in rows}


# --- writes ------------------------------------------------------------------------------------

# Name another file of an archive, or none.
_REPLACE_FILE = """
    UPDATE log_archives SET file = :file, sha256 = :sha256
    WHERE agent_id = :agent AND id = :id
"""


async def replace_file(
    connection: AsyncConnection, agent: AgentId, archive_id: UUID, file: File | None
) -> None:
    """Name another file of an archive; None if the archive was given up."""
    values = {
        "agent": agent,
        "id": archive_id,
        "file": file.name if file else None,
        "sha256": file.sha256 if file else None,
    }
    await fetch_rows(connection, _REPLACE_FILE, values)


# --- lines as rows -----------------------------------------------------------------------------

_OPERATION = next(section for section in SECTIONS if section.type == "operation")


def _operation_lines_sql(table: str, condition: str) -> str:
    """Return a statement for operations as lines of the native format, in their order."""
    named = [f"{wire_column_sql(column)} AS {name}" for name, column in _OPERATION.columns.items()]
    return f"""
        SELECT row_to_json(line)::text AS line
        FROM {table} t
        CROSS JOIN LATERAL (SELECT 'operation' AS type, {", ".join(named)}) AS line
        WHERE t.agent_id = :agent AND {condition}
        ORDER BY t.created_at, t.id
    """


_LINES_OF_LOG = _operation_lines_sql("consolidation_log", "t.id = ANY(:ids)")
_LINES_OF_COPY = _operation_lines_sql("archived_log", "true")


async def stream_log_lines(
    connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID]
) -> AsyncGenerator[bytes]:
    """Yield a line for each of these operations of the log."""
    values = {"agent": agent, "ids": list(ids)}
    cursor = stream_server_cursor(connection, "leaving", _LINES_OF_LOG, values)
    async with aclosing(cursor) as rows:
        async for row in rows:
            yield _line_from_row(row)


def _line_from_row(row: dict[str, Any]) -> bytes:
    line: str = row["line"]
    return line.encode() + b"\n"


_EMPTY_COPY = "DELETE FROM archived_log WHERE agent_id = :agent"


def _loaded_column_sql(column: sa.Column[Any]) -> str:
    """Return the SQL of a column that is read from a line: there, hashes are in hexadecimal."""
    if column.name == "agent_id":
        return "a.agent_id"
    if isinstance(column.type, BYTEA):
        return f"decode(encode(r.{column.name}, 'escape'), 'hex')"
    return f"r.{column.name}"


# Load all rows at once: row by row, Postgres would look up the columns for each of them. By the
# agent's own row, a cluster knows that all of them go to one node.
_LOAD_COPY = f"""
    INSERT INTO archived_log ({", ".join(column.name for column in archived_log.columns)})
    SELECT {", ".join(map(_loaded_column_sql, archived_log.columns))}
    FROM agents a, jsonb_populate_recordset(CAST(NULL AS archived_log), CAST(:rows AS jsonb)) AS r
    WHERE a.agent_id = :agent
"""


async def load_archived_log(
    connection: AsyncConnection, agent: AgentId, lines: Sequence[bytes]
) -> None:
    """Fill the table `archived_log` with these lines. The caller has the agent's lock."""
    rows = b"[" + b",".join(lines) + b"]"
    await fetch_rows(connection, _LOAD_COPY, {"agent": agent, "rows": rows.decode()})


async def unload_archived_log(connection: AsyncConnection, agent: AgentId) -> list[bytes]:
    """Return a line for each row of `archived_log`, and empty the table."""
    rows = await fetch_rows(connection, _LINES_OF_COPY, {"agent": agent})
    await fetch_rows(connection, _EMPTY_COPY, {"agent": agent})
    return list(map(_line_from_row, rows))
