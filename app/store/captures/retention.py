"""Emptying the messages that are older than messages are kept."""

from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.store.engine import fetch_rows

# Find the messages that are older than messages are kept. Facts that nobody has read from them by
# now are not read any more.
_EXPIRED = """
    SELECT id
    FROM turns
    WHERE agent_id = :agent AND content IS NOT NULL
      AND received_at <= clock_timestamp() - CAST(:after AS interval)
"""

# Empty the expired turns, and their facts.
_EMPTY_EXPIRED = f"""
    WITH emptied AS (
        UPDATE turns t SET
            content = NULL, name = NULL, embedding = NULL, skipped = '[]', done = true
        FROM ({_EXPIRED} LIMIT :limit) AS expired
        WHERE t.agent_id = :agent AND t.id = expired.id
        RETURNING t.id, t.capture_id
    ),
    facts AS (
        UPDATE captured_facts SET content = NULL
        WHERE agent_id = :agent AND turn_id IN (SELECT id FROM emptied)
    ),
    troubles AS (
        UPDATE captures SET trouble = NULL
        WHERE agent_id = :agent AND id IN (SELECT capture_id FROM emptied)
    )
    SELECT count(*) AS turns FROM emptied
"""


async def empty_expired_turns(
    connection: AsyncConnection, agent: AgentId, after: timedelta, *, limit: int
) -> int:
    """Empty turns that arrived longer than `after` ago, and return how many were.

    Their rows stay, so that a message that is sent again is known.
    """
    span = {"agent": agent, "after": after, "limit": limit}
    [row] = await fetch_rows(connection, _EMPTY_EXPIRED, span)
    return int(row["turns"])


async def count_expired_turns(connection: AsyncConnection, agent: AgentId, after: timedelta) -> int:
    """Return how many turns `empty_expired_turns` would empty."""
    statement = f"SELECT count(*) AS turns FROM ({_EXPIRED}) AS expired"
    [row] = await fetch_rows(connection, statement, {"agent": agent, "after": after})
    return int(row["turns"])
