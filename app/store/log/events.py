"""Reads of the log for those who follow it: operations in their order, after a place in it.

Writes of an agent take their known times under the agent's lock and keep it until their commit
(`known_time`). So they are seen in the order of their known times, and no operation is seen later
than one behind it. A reader who goes on after the last operation misses nothing.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.events import BEGINNING, Event, Position
from app.domain.relation import Operation
from app.store.engine import fetch_rows

# Find the place of an operation, which may have left the log.
_FIND = """
    SELECT created_at, id FROM consolidation_log WHERE agent_id = :agent AND id = :id
    UNION ALL
    SELECT created_at, id FROM folded_operations WHERE agent_id = :agent AND id = :id
    LIMIT 1
"""


async def find_position(
    connection: AsyncConnection, agent: AgentId, log_id: UUID
) -> Position | None:
    """Return the place of an operation; None if the agent has no such operation."""
    if log_id == BEGINNING.id:
        return BEGINNING
    return await _fetch_position(connection, _FIND, {"agent": agent, "id": log_id})


# Find the last operation, which may have left the log.
_LAST = """
    (
        SELECT created_at, id FROM consolidation_log WHERE agent_id = :agent
        ORDER BY created_at DESC, id DESC
        LIMIT 1
    )
    UNION ALL
    (
        SELECT created_at, id FROM folded_operations WHERE agent_id = :agent
        ORDER BY created_at DESC, id DESC
        LIMIT 1
    )
    ORDER BY created_at DESC, id DESC
    LIMIT 1
"""


async def get_last_position(connection: AsyncConnection, agent: AgentId) -> Position:
    """Return the place of the agent's last operation, or BEGINNING if there is none."""
    return await _fetch_position(connection, _LAST, {"agent": agent}) or BEGINNING


# Find the last archived operation behind a place.
_LAST_ARCHIVED = """
    SELECT created_at, id FROM folded_operations
    WHERE agent_id = :agent AND archive_id IS NOT NULL
      AND (created_at, id) > (:after_at, :after_id)
    ORDER BY created_at DESC, id DESC
    LIMIT 1
"""


async def find_last_archived(
    connection: AsyncConnection, agent: AgentId, after: Position
) -> Position | None:
    """Return the place of the last operation behind `after` that was archived, if any.

    The log is whole behind it only.
    """
    values = {"agent": agent, "after_at": after.at, "after_id": after.id}
    return await _fetch_position(connection, _LAST_ARCHIVED, values)


async def _fetch_position(
    connection: AsyncConnection, statement: str, values: dict[str, Any]
) -> Position | None:
    rows = await fetch_rows(connection, statement, values)
    return Position(rows[0]["created_at"], rows[0]["id"]) if rows else None


@dataclass(frozen=True, slots=True)
class Selection:
    """At most `limit` events, of these operations; of all if none is named."""

    limit: int
    operations: tuple[Operation, ...] = ()


# List operations behind a place, oldest first. A memory was superseded by an operation if another
# took its place only after it.
_EVENTS = """
    SELECT
        l.id,
        l.created_at AS at,
        l.operation,
        l.relation,
        l.target_memory_id AS memory_id,
        l.source_memory_ids AS memory_ids,
        ARRAY(
            SELECT CAST(after ->> 'id' AS uuid)
            FROM jsonb_array_elements(l.after_state) AS after
            WHERE after #>> '{belief,superseded_by}' IS NOT NULL
              AND NOT EXISTS (
                  SELECT FROM jsonb_array_elements(l.before_state) AS before
                  WHERE before ->> 'id' = after ->> 'id'
                    AND before #>> '{belief,superseded_by}' IS NOT NULL
              )
        ) AS superseded,
        (SELECT r.id FROM reviews r WHERE r.agent_id = :agent AND r.log_id = l.id) AS review_id,
        CAST(
            jsonb_path_query_first(l.after_state, '$[*].settled.review_id') #>> '{}' AS uuid
        ) AS decided_review_id,
        l.reverts,
        l.decided_by,
        l.actor
    FROM consolidation_log l
    WHERE l.agent_id = :agent AND (l.created_at, l.id) > (:after_at, :after_id)
      AND (CAST(:operations AS text[]) = '{}' OR l.operation = ANY(CAST(:operations AS text[])))
    ORDER BY l.created_at, l.id
    LIMIT :limit
"""


async def list_events(
    connection: AsyncConnection, agent: AgentId, after: Position, selection: Selection
) -> list[Event]:
    """Return the selected operations behind a place, oldest first."""
    values = {
        "agent": agent,
        "after_at": after.at,
        "after_id": after.id,
        "operations": list(selection.operations),
        "limit": selection.limit,
    }
    rows = await fetch_rows(connection, _EVENTS, values)
    return [Event(**row) for row in rows]


# Read when each of some agents was written to last.
_KNOWN_TIMES = """
    SELECT agent_id, last_known_at FROM agents WHERE agent_id = ANY(CAST(:agents AS text[]))
"""


async def read_last_known_times(
    connection: AsyncConnection, agents: Collection[AgentId]
) -> dict[AgentId, datetime]:
    """Return the known time of each agent's last write that is seen."""
    rows = await fetch_rows(connection, _KNOWN_TIMES, {"agents": list(agents)})
    return {AgentId(row["agent_id"]): row["last_known_at"] for row in rows}
