"""Reads of the log, memory by memory, in the order in which planning/audit replays it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.planning.audit.replay import ReplayStep
from app.store.engine import fetch_rows
from app.store.log.state import decode_memory_state

# Every state of a memory that the log has within a span of known time, memory by memory.
# A DUPLICATE confirms its target. Reverting the DUPLICATE takes the confirmation back, reverting
# that revert confirms again: the line of reverts may have begun before the span.
REPLAY_STEPS = """
    WITH RECURSIVE confirmed AS (
        SELECT id, operation, target_memory_id, created_at, 1 AS times
        FROM consolidation_log
        WHERE agent_id = :agent AND operation = 'NOOP' AND relation = 'DUPLICATE'
          AND target_memory_id IS NOT NULL AND created_at <= :until
        UNION
        SELECT l.id, l.operation, c.target_memory_id, l.created_at, -c.times
        FROM confirmed c
        JOIN consolidation_log l ON l.agent_id = :agent AND l.reverts = c.id
    )
    SELECT * FROM (
        SELECT state ->> 'id' AS memory_id, l.id AS log_id, l.operation, l.created_at AS at,
               state, before, place, 0 AS confirmed, l.incoming ->> 'content' AS content
        FROM consolidation_log l
        CROSS JOIN LATERAL (
            SELECT true, b.*
            FROM jsonb_path_query(l.before_state, '$[*]') WITH ORDINALITY AS b
            UNION ALL
            SELECT false, a.*
            FROM jsonb_path_query(l.after_state, '$[*]') WITH ORDINALITY AS a
        ) AS states (before, state, place)
        WHERE l.agent_id = :agent AND l.created_at > :after AND l.created_at <= :until
          AND state ->> 'id' IS NOT NULL
        UNION ALL
        SELECT CAST(target_memory_id AS text), id, operation, created_at,
               '{}', false, 0, times, NULL
        FROM confirmed
        WHERE created_at > :after AND created_at <= :until
    ) AS steps
    ORDER BY memory_id COLLATE "C", at, log_id, before DESC, place
"""


async def read_replay_steps(
    connection: AsyncConnection, agent: AgentId, *, after: datetime, until: datetime
) -> dict[str, list[ReplayStep]]:
    """Return the steps of the operations after one known time and up to another, by memory."""
    steps: dict[str, list[ReplayStep]] = {}
    span = {"agent": agent, "after": after, "until": until}
    for row in await fetch_rows(connection, REPLAY_STEPS, span):
        steps.setdefault(row["memory_id"], []).append(step_from_row(row))
    return steps


def step_from_row(row: Mapping[str, Any]) -> ReplayStep:
    return ReplayStep(
        log_id=row["log_id"],
        operation=row["operation"],
        at=row["at"],
        state=decode_memory_state(row["state"], row["content"]),
        before=row["before"],
        confirmed=row["confirmed"],
    )
