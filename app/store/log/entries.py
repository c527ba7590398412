"""Reads of the log: what was done, newest first, and to which memories."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.engine import RowMapping
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.store.memories import After


@dataclass(frozen=True, slots=True)
class LogFilters:
    """What the log is narrowed to."""

    operation: str | None = None
    memory_id: UUID | None = None
    decided_by: str | None = None
    session_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None


_LOG_CONDITIONS = {
    "operation": "operation = :operation",
    "memory_id": "(target_memory_id = :memory_id OR source_memory_ids @> ARRAY[CAST(:memory_id AS uuid)])",
    "decided_by": "decided_by = :decided_by",
    "session_id": "session_id = :session_id",
    "since": "created_at >= :since",
    "until": "created_at < :until",
}


async def list_log(
    connection: AsyncConnection,
    agent: AgentId,
    filters: LogFilters,
    *,
    limit: int,
    after: After | None,
) -> list[RowMapping]:
    """Operations, newest first."""
    given = {
        f.name: value for f in fields(filters) if (value := getattr(filters, f.name)) is not None
    }
    conditions = ["agent_id = :agent", *(_LOG_CONDITIONS[name] for name in given)]
    if after is not None:
        conditions.append("(created_at, id) < (:after_created_at, :after_id)")
        given |= {"after_created_at": after.created_at, "after_id": after.memory_id}
    statement = f"SELECT * FROM consolidation_log WHERE {' AND '.join(conditions)} ORDER BY created_at DESC, id DESC LIMIT :limit"
    return list(
        (
            await connection.execute(sa.text(statement), {"agent": agent, "limit": limit, **given})
        ).mappings()
    )


async def find_log_entry(
    connection: AsyncConnection, agent: AgentId, log_id: UUID
) -> RowMapping | None:
    statement = sa.text("SELECT * FROM consolidation_log WHERE agent_id = :agent AND id = :id")
    return (
        (await connection.execute(statement, {"agent": agent, "id": log_id}))
        .mappings()
        .one_or_none()
    )


async def list_operations_on(
    connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID], known_at: datetime
) -> list[RowMapping]:
    """The operations that wrote or changed any of these memories, oldest first, as far as known at `known_at`."""
    statement = sa.text("""
        SELECT id, operation, source_memory_ids, target_memory_id, relation, confidence, reasoning, decided_by, created_at
        FROM consolidation_log
        WHERE agent_id = :agent AND created_at <= :known_at AND (target_memory_id = ANY(:ids) OR source_memory_ids && CAST(:ids AS uuid[]))
        ORDER BY created_at, id
    """)
    return list(
        (
            await connection.execute(
                statement, {"agent": agent, "ids": list(ids), "known_at": known_at}
            )
        ).mappings()
    )
