"""The chain of the log: the hashes of rows that are written, and of rows that are read again."""

import json
import os
from collections.abc import AsyncGenerator, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.log_chain import (
    CONTENT_COLUMNS,
    FOLDED_COLUMNS,
    LINKED_COLUMNS,
    SALT_BYTES,
    START,
    digest_content,
    encode_value,
    hash_operation,
    join_columns,
)
from app.store.engine import fetch_rows, stream_rows
from app.store.rows import Row

_HASHES = ("previous_hash", "hash", "content_digest", "content_salt")


class LogChain:
    """The end of an agent's log during a write, which holds the agent's lock."""

    def __init__(self, head: bytes | None) -> None:
        """Take the hash of the last operation, None if the chain has no operation yet."""
        self.head = head

    def link_row(self, row: Row) -> Row:
        """Return the row of the next operation with its hashes. Its hash becomes the head.

        The content is encoded once, for its digest and for Postgres.
        """
        content = {}
        for name in CONTENT_COLUMNS:
            value = row[name]
            if value is not None:
                content[name] = encode_value(value.obj if isinstance(value, Jsonb) else value)
        salt = os.urandom(SALT_BYTES)
        previous_hash = self.head or START
        content_digest = digest_content(salt, join_columns(content))
        self.head = hash_operation(previous_hash, content_digest, row)
        linked = row | {
            "previous_hash": previous_hash,
            "hash": self.head,
            "content_digest": content_digest,
            "content_salt": salt,
        }
        for name, text in content.items():
            if isinstance(row[name], Jsonb):
                linked[name] = Jsonb(text, dumps=str)
        return linked


# --- reads for the doctor ----------------------------------------------------------------------

# Read the operations of the chain that are in the log.
_LINKED = f"""
    SELECT {", ".join((*LINKED_COLUMNS, *CONTENT_COLUMNS, *_HASHES))}
    FROM consolidation_log
    WHERE agent_id = :agent AND hash IS NOT NULL
    ORDER BY created_at, id
"""


def stream_linked_operations(
    connection: AsyncConnection, agent: AgentId
) -> AsyncGenerator[dict[str, Any]]:
    """Yield the operations of the chain that are in the log, oldest first."""
    return stream_rows(connection, _LINKED, {"agent": agent})


# Read what the database still knows of the operations that went to an archive.
_ARCHIVED = f"""
    SELECT {", ".join(FOLDED_COLUMNS)}
    FROM folded_operations
    WHERE agent_id = :agent AND archive_id = :archive
"""


async def read_archived_operations(
    connection: AsyncConnection, agent: AgentId, archive_id: UUID
) -> dict[str, dict[str, Any]]:
    """Return what the database still knows of each operation of an archive, by its id."""
    values = {"agent": agent, "archive": archive_id}
    rows = await fetch_rows(connection, _ARCHIVED, values)
    return {str(row["id"]): row for row in rows}


def parse_archived_operations(lines: Sequence[bytes]) -> list[dict[str, Any]]:
    """Return the operations on the lines of an archive, their times and hashes as values."""
    operations = []
    for line in lines:
        operation: dict[str, Any] = json.loads(line)
        # Archives from before the chain have none of its columns, and older ones have no opinions.
        for name in ("actor", "opinions", *_HASHES):
            operation.setdefault(name, None)
        operation["created_at"] = datetime.fromisoformat(operation["created_at"])
        for name in _HASHES:
            if operation[name] is not None:
                operation[name] = bytes.fromhex(operation[name])
        operations.append(operation)
    return operations
