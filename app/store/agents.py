"""Reads about agents themselves, and their mode."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId, Mode
from app.domain.keys import is_pattern
from app.store.engine import fetch_rows
from app.store.fragments import NEVER_SQL

# An agent as callers see it.
_AGENTS = f"""
    SELECT
        a.agent_id,
        a.created_at,
        a.mode,
        nullif(a.last_known_at, {NEVER_SQL}) AS last_known_at,
        (SELECT count(*) FROM memories m WHERE m.agent_id = a.agent_id) AS memories
    FROM agents a
"""

# The agent knows something or was given a mode. An agent whose first write failed may have a row
# too, dated before everything.
_IS_SEEN = f"(a.last_known_at > {NEVER_SQL} OR a.mode IS NOT NULL)"

# List agents in order: those of these ids, and those that begin in one of these ways.
_LIST = f"""
    {_AGENTS}
    WHERE {_IS_SEEN} AND a.agent_id > :after AND (
        a.agent_id = ANY(CAST(:ids AS text[]))
        OR EXISTS (
            SELECT FROM unnest(CAST(:beginnings AS text[])) AS beginning
            WHERE starts_with(a.agent_id, beginning) AND a.agent_id <> beginning
        )
    )
    ORDER BY a.agent_id
    LIMIT :limit
"""

# Find an agent that callers see.
_FIND = f"""
    {_AGENTS}
    WHERE {_IS_SEEN} AND a.agent_id = :agent
"""

# Read an agent that is known to have a row.
_READ = f"""
    {_AGENTS}
    WHERE a.agent_id = :agent
"""

# Set the mode of an agent, which may not know anything yet.
_SET_MODE = f"""
    INSERT INTO agents (agent_id, created_at, last_known_at, mode)
    VALUES (:agent, clock_timestamp(), {NEVER_SQL}, :mode)
    ON CONFLICT (agent_id) DO UPDATE SET mode = excluded.mode
"""


async def list_agents(
    connection: AsyncConnection, *, limit: int, after: str, allowed: Sequence[str]
) -> list[dict[str, Any]]:
    """Return agents in order of their ids, beginning after the id `after`.

    `allowed` are ids and patterns of agents, as in `Rights`.
    """
    values = {
        "after": after,
        "limit": limit,
        "ids": list(allowed),
        "beginnings": [agents.removesuffix("*") for agents in allowed if is_pattern(agents)],
    }
    return await fetch_rows(connection, _LIST, values)


async def find_agent(connection: AsyncConnection, agent: AgentId) -> Mapping[str, Any] | None:
    rows = await fetch_rows(connection, _FIND, {"agent": agent})
    return rows[0] if rows else None


async def set_mode(
    connection: AsyncConnection, agent: AgentId, mode: Mode | None
) -> dict[str, Any]:
    """Set the mode of an agent and return the agent. None stands for the mode of the settings."""
    await fetch_rows(connection, _SET_MODE, {"agent": agent, "mode": mode})
    [row] = await fetch_rows(connection, _READ, {"agent": agent})
    return row
