"""Reads of the log for its own page: operations, newest first, and the operations on a memory."""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.store.bounded import bound_page, is_cut
from app.store.engine import fetch_rows
from app.store.fragments import NEVER
from app.store.known_time import settle_window
from app.store.log.touching import find_operations_touching
from app.store.memories import After


@dataclass(frozen=True, slots=True)
class LogFilters:
    """Filters of a list of operations; None selects all."""

    operation: str | None = None
    memory_id: UUID | None = None
    decided_by: str | None = None
    actor: str | None = None
    session_id: str | None = None
    review: str | None = None
    since: datetime | None = None
    until: datetime | None = None


# A page looks at so many operations at most.
MOST_EXAMINED = 10_000

# The source of the review that an operation left. One leaves at most one.
_REVIEW = "(jsonb_path_query_first(after_state, '$[*].review.source') #>> '{}')"

_NEWEST_FIRST = "created_at DESC, id DESC"
_OLDEST_FIRST = "created_at, id"

# The conditions that an index answers, and those that each operation is examined for.
_BOUNDS = {
    "memory_id": "id = ANY(:operations)",
    "session_id": "session_id = :session_id",
    "since": "created_at >= :since",
    "until": "created_at < :until",
}
_CONDITIONS = {
    "operation": "operation = :operation",
    "decided_by": "decided_by = :decided_by",
    "actor": "actor = :actor",
    "review": f"{_REVIEW} = :review",
}


@dataclass(frozen=True, slots=True)
class LogPage:
    """Operations, newest first.

    `is_cut`: there are more, for which the page had no bytes left. `examined_until` is the
    operation after which the next page begins, if few of those examined passed the filters.
    """

    rows: list[dict[str, Any]]
    is_cut: bool
    examined_until: After | None


async def list_log(
    connection: AsyncConnection,
    agent: AgentId,
    filters: LogFilters,
    *,
    limit: int,
    max_bytes: int,
    after: After | None,
) -> LogPage:
    """Return operations, newest first, until they reach `max_bytes` as JSON.

    At most MOST_EXAMINED operations are examined for the filters that no index answers.
    """
    if filters.until is not None:
        await settle_window(connection, agent, filters.until)
    values = {name: value for name, value in asdict(filters).items() if value is not None}
    bounds = ["agent_id = :agent", *(_BOUNDS[name] for name in values if name in _BOUNDS)]
    conditions = [_CONDITIONS[name] for name in values if name in _CONDITIONS]
    if filters.memory_id is not None:
        values["operations"] = await find_operations_touching(
            connection, agent, [filters.memory_id]
        )
    if after is not None:
        bounds.append("(created_at, id) < (:after_created_at, :after_id)")
        values |= {"after_created_at": after.created_at, "after_id": after.memory_id}
    page = f"""
        SELECT *, {_REVIEW} AS review, encode(hash, 'hex') AS chain_hash
        FROM examined
        WHERE {" AND ".join(conditions) or "true"}
        ORDER BY {_NEWEST_FIRST}
        LIMIT :limit
    """
    statement = f"""
        WITH examined AS NOT MATERIALIZED (
            SELECT * FROM consolidation_log
            WHERE {" AND ".join(bounds)}
            ORDER BY {_NEWEST_FIRST}
            LIMIT {MOST_EXAMINED}
        ),
        page AS MATERIALIZED ({bound_page(page, _NEWEST_FIRST)}),
        last AS MATERIALIZED (
            SELECT created_at, id FROM examined
            WHERE (SELECT count(*) FROM page) < :limit
            ORDER BY {_NEWEST_FIRST}
            OFFSET {MOST_EXAMINED - 1} LIMIT 1
        )
        SELECT page.*, last.created_at AS last_created_at, last.id AS last_id
        FROM (SELECT 1) AS once LEFT JOIN last ON true LEFT JOIN page ON true
        ORDER BY page.created_at DESC, page.id DESC
    """
    values |= {"agent": agent, "limit": limit, "max_bytes": max_bytes}
    rows = await fetch_rows(connection, statement, values)
    operations = [row for row in rows if row["id"] is not None]
    end = rows[0]
    examined_until = After(end["last_created_at"], end["last_id"]) if end["last_id"] else None
    return LogPage(operations, is_cut(operations), examined_until)


async def find_log_entry(
    connection: AsyncConnection, agent: AgentId, log_id: UUID
) -> dict[str, Any] | None:
    statement = f"""
        SELECT *, {_REVIEW} AS review, encode(hash, 'hex') AS chain_hash
        FROM consolidation_log
        WHERE agent_id = :agent AND id = :id
    """
    rows = await fetch_rows(connection, statement, {"agent": agent, "id": log_id})
    return rows[0] if rows else None


# List the operations that wrote, changed or confirmed versions of a line.
_OPERATIONS_ON = """
    SELECT id, operation, source_memory_ids, target_memory_id, relation, confidence, reasoning,
           decided_by, actor, created_at
    FROM consolidation_log
    WHERE agent_id = :agent AND created_at <= :known_at
      AND (created_at, id) > (:after_created_at, :after_id)
      AND id = ANY(:operations)
    ORDER BY created_at, id
    LIMIT :limit
"""


async def list_operations_on(
    connection: AsyncConnection,
    agent: AgentId,
    ids: Collection[UUID],
    known_at: datetime,
    *,
    after: After | None,
    limit: int,
    max_bytes: int,
) -> list[dict[str, Any]]:
    """Return operations on these memories up to a known time, oldest first.

    They end after `limit` operations, or once they reach `max_bytes` as JSON.
    """
    after = after or After(NEVER, UUID(int=0))
    values = {
        "agent": agent,
        "operations": await find_operations_touching(connection, agent, ids),
        "known_at": known_at,
        "after_created_at": after.created_at,
        "after_id": after.memory_id,
        "limit": limit + 1,
        "max_bytes": max_bytes,
    }
    statement = f"{bound_page(_OPERATIONS_ON, _OLDEST_FIRST)} ORDER BY {_OLDEST_FIRST}"
    rows = await fetch_rows(connection, statement, values)
    return rows[:limit]
