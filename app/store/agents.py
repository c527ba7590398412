"""Reads about agents themselves."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId, Mode
from app.store.engine import fetch_rows

# Agents that know something or were given a mode: one whose first write failed may leave a row dated before everything.
_AGENTS = """
    SELECT a.agent_id, a.created_at, a.mode, nullif(a.last_known_at, '0001-01-01 00:00:00+00') AS last_known_at,
        (SELECT count(*) FROM memories m WHERE m.agent_id = a.agent_id) AS memories
    FROM agents a
"""
_SEEN = "(a.last_known_at >= '0002-01-01 00:00:00+00' OR a.mode IS NOT NULL)"


async def list_agents(
    connection: AsyncConnection, *, limit: int, after: str
) -> list[dict[str, Any]]:
    """Agents in order of their ids, those after `after`."""
    statement = f"{_AGENTS} WHERE {_SEEN} AND a.agent_id > :after ORDER BY a.agent_id LIMIT :limit"
    return await fetch_rows(connection, statement, {"after": after, "limit": limit})


async def find_agent(connection: AsyncConnection, agent: AgentId) -> Mapping[str, Any] | None:
    rows = await fetch_rows(
        connection, f"{_AGENTS} WHERE {_SEEN} AND a.agent_id = :agent", {"agent": agent}
    )
    return rows[0] if rows else None


# An agent may be given a mode before it knows anything.
_SET_MODE = """
    INSERT INTO agents (agent_id, created_at, last_known_at, mode) VALUES (:agent, clock_timestamp(), '0001-01-01 00:00:00+00', :mode)
    ON CONFLICT (agent_id) DO UPDATE SET mode = excluded.mode
"""


async def set_mode(
    connection: AsyncConnection, agent: AgentId, mode: Mode | None
) -> dict[str, Any]:
    """Gives an agent a mode, None = that of the settings, and reads it."""
    await fetch_rows(connection, _SET_MODE, {"agent": agent, "mode": mode})
    [row] = await fetch_rows(connection, f"{_AGENTS} WHERE a.agent_id = :agent", {"agent": agent})
    return row
