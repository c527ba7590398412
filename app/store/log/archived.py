"""What the database knows of operations that left the log: their archives, and what each of them was, without a word of it."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import fields
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.errors import OperationArchived, SelectionArchived
from app.planning.reverts import LoggedOperation
from app.store.engine import fetch_rows, stream_server_cursor
from app.store.log.archive_files import File
from app.store.log.reverts import Selection
from app.store.transfer.exports import wire_column_sql
from app.store.transfer.format import SECTIONS

# --- reads -------------------------------------------------------------------------------------------------------------

_FIND = """
    SELECT f.id, f.created_at, a.file FROM folded_operations f JOIN log_archives a ON a.agent_id = f.agent_id AND a.id = f.archive_id
    WHERE f.agent_id = :agent AND f.id = ANY(:ids) ORDER BY f.created_at DESC LIMIT 1
"""


async def refuse_archived(connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID]) -> None:
    """Raises Archived where one of these operations was archived."""
    for row in await fetch_rows(connection, _FIND, {"agent": agent, "ids": list(ids)}):
        raise OperationArchived(row["id"], row["created_at"], row["file"])


# A selection by session or source may mean any archived operation: such words are in its archive alone.
_SELECTABLE = {
    "operation": "operation = :operation",
    "request_id": "request_id = :request_id",
    "decided_by": "decided_by = :decided_by",
    "since": "created_at >= :since",
    "until": "created_at < :until",
}


async def refuse_archived_selection(
    connection: AsyncConnection, agent: AgentId, selection: Selection
) -> None:
    """Raises SelectionArchived where the selection may mean archived operations that stand."""
    given = {
        f.name: value
        for f in fields(selection)
        if (value := getattr(selection, f.name)) is not None and f.name in _SELECTABLE
    }
    conditions = [
        "agent_id = :agent",
        "archive_id IS NOT NULL",
        "stands",
        "operation NOT IN ('REVERT', 'ERASE')",
    ]
    where = " AND ".join([*conditions, *(_SELECTABLE[name] for name in given)])
    statement = f"SELECT max(created_at) AS until, count(*) AS operations FROM folded_operations WHERE {where}"
    [row] = await fetch_rows(connection, statement, {"agent": agent, **given})
    if row["operations"]:
        raise SelectionArchived(row["until"], row["operations"])


# Only an operation that was kept back can be older than an archived one.
_BUILT_ON = """
    SELECT id FROM folded_operations
    WHERE agent_id = :agent AND created_at > :after AND archive_id IS NOT NULL AND stands AND operation NOT IN ('ERASE', 'REVERT')
      AND memory_ids && CAST(:ids AS uuid[])
    ORDER BY created_at DESC LIMIT 1
"""


async def refuse_archived_dependents(
    connection: AsyncConnection, agent: AgentId, done: LoggedOperation
) -> None:
    """Raises Archived where an archived operation built on this one, which could no longer be undone first."""
    rows = await fetch_rows(
        connection, _BUILT_ON, {"agent": agent, "after": done.at, "ids": list(done.ids)}
    )
    await refuse_archived(connection, agent, [row["id"] for row in rows])


_UNTIL = """
    SELECT max(created_at) AS until FROM folded_operations
    WHERE agent_id = :agent AND archive_id IS NOT NULL AND created_at >= :since AND created_at <= :known_at
"""


async def find_archived_until(
    connection: AsyncConnection, agent: AgentId, *, since: datetime, known_at: datetime
) -> datetime | None:
    """The known time of the last archived operation from `since` to `known_at`, None where there is none: up to there, what the log tells
    is not all that was done."""
    [row] = await fetch_rows(
        connection, _UNTIL, {"agent": agent, "since": since, "known_at": known_at}
    )
    until: datetime | None = row["until"]
    return until


async def list_archive_files(connection: AsyncConnection, agent: AgentId) -> dict[UUID, File]:
    """The agent's archives whose files should be there, oldest first."""
    statement = "SELECT id, file, sha256 FROM log_archives WHERE agent_id = :agent AND file IS NOT NULL ORDER BY first_at, id"
    return {
        row["id"]: File(row["file"], row["sha256"])
        for row in await fetch_rows(connection, statement, {"agent": agent})
    }


# --- writes ------------------------------------------------------------------------------------------------------------

_REPLACE = (
    "UPDATE log_archives SET file = :file, sha256 = :sha256 WHERE agent_id = :agent AND id = :id"
)


async def replace_file(
    connection: AsyncConnection, agent: AgentId, archive_id: UUID, file: File | None
) -> None:
    """From now on the archive is in this file; None: it is not kept."""
    given = {"file": file.name if file else None, "sha256": file.sha256 if file else None}
    await fetch_rows(connection, _REPLACE, {"agent": agent, "id": archive_id, **given})


# --- lines as rows -----------------------------------------------------------------------------------------------------

_OPERATION = next(section for section in SECTIONS if section.type == "operation")


def _operation_lines_sql(table: str, condition: str) -> str:
    """Operations as lines of the native format, in their order."""
    columns = ", ".join(
        f"{wire_column_sql(column)} AS {name}" for name, column in _OPERATION.columns.items()
    )
    return f"""
        SELECT row_to_json(line)::text AS line FROM {table} t CROSS JOIN LATERAL (SELECT 'operation' AS type, {columns}) AS line
        WHERE t.agent_id = :agent {condition} ORDER BY t.created_at, t.id
    """


_LINES_OF_LOG = _operation_lines_sql("consolidation_log", "AND t.id = ANY(:ids)")
_LINES_OF_COPY = _operation_lines_sql("archived_log", "")


async def stream_log_lines(
    connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID]
) -> AsyncGenerator[bytes]:
    """These operations of the log, a line each."""
    async with aclosing(
        stream_server_cursor(
            connection, "leaving", _LINES_OF_LOG, {"agent": agent, "ids": list(ids)}
        )
    ) as rows:
        async for row in rows:
            yield _line_from_row(row)


def _line_from_row(row: dict[str, Any]) -> bytes:
    line: str = row["line"]
    return line.encode() + b"\n"


# Archived operations, for as long as a transaction works on them, as the log itself would hold them.
_COPY = "CREATE TEMP TABLE IF NOT EXISTS archived_log (LIKE consolidation_log) ON COMMIT DROP"
_EMPTY = "TRUNCATE archived_log"
# All at once: row by row, Postgres would look the columns up for each.
_LOAD = "INSERT INTO archived_log SELECT * FROM jsonb_populate_recordset(CAST(NULL AS consolidation_log), CAST(:rows AS jsonb))"


async def load_archived_log(
    connection: AsyncConnection, agent: AgentId, lines: Sequence[bytes]
) -> None:
    """Makes these lines the rows of `archived_log`, which ends with the transaction."""
    owned = b'{"agent_id":' + json.dumps(agent).encode() + b","
    rows = b"[" + b",".join(owned + line[1:] for line in lines) + b"]"
    await fetch_rows(connection, _COPY, {})
    await fetch_rows(connection, _EMPTY, {})
    await fetch_rows(connection, _LOAD, {"rows": rows.decode()})


async def read_archived_log(connection: AsyncConnection, agent: AgentId) -> list[bytes]:
    """The rows of `archived_log`, a line each."""
    return [
        _line_from_row(row)
        for row in await fetch_rows(connection, _LINES_OF_COPY, {"agent": agent})
    ]
