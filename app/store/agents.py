"""Reads about agents themselves, and their mode."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId, Mode
from app.domain.keys import is_pattern
from app.store.engine import fetch_rows
from app.store.fragments import NEVER_SQL


def _select_agents(agent: str) -> str:
    """Return the SELECT of agents as callers see them. `agent` is the expression of an id.

    No version is ever removed, and a new one becomes known after all others. So those that the
    stats of a large agent counted need not be counted again. The planner evaluates a COALESCE after
    the policy of one agent and so without an index, unless it is a SELECT of its own.
    """
    return f"""
    SELECT
        a.agent_id,
        a.created_at,
        a.mode,
        a.timezone,
        nullif(a.last_known_at, {NEVER_SQL}) AS last_known_at,
        coalesce(CAST(i.stats ->> 'memories' AS bigint), 0) + (
            SELECT count(*) FROM memories m
            WHERE m.agent_id = {agent} AND m.created_at > (
                SELECT coalesce(CAST(i.stats ->> 'last_known_at' AS timestamptz), {NEVER_SQL})
            )
        ) AS memories
    FROM agents a
    LEFT JOIN agent_indexes i ON i.agent_id = {agent}
    """


# The agent knows something or was given a mode or a time zone. An agent whose first write failed
# may have a row too, dated before everything.
_IS_SEEN = f"(a.last_known_at > {NEVER_SQL} OR a.mode IS NOT NULL OR a.timezone IS NOT NULL)"

# List agents in order: those of these ids, and those that begin in one of these ways.
_LIST = f"""
    {_select_agents("a.agent_id")}
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
    {_select_agents(":agent")}
    WHERE {_IS_SEEN} AND a.agent_id = :agent
"""

# Read an agent that is known to have a row.
_READ = f"""
    {_select_agents(":agent")}
    WHERE a.agent_id = :agent
"""

# Set the mode or the time zone of an agent, or both. The agent may not know anything yet.
_CHANGE = f"""
    INSERT INTO agents AS a (agent_id, created_at, last_known_at, mode, timezone)
    VALUES (:agent, clock_timestamp(), {NEVER_SQL}, :mode, :timezone)
    ON CONFLICT (agent_id) DO UPDATE SET
        mode = CASE WHEN :sets_mode THEN excluded.mode ELSE a.mode END,
        timezone = CASE WHEN :sets_timezone THEN excluded.timezone ELSE a.timezone END
"""

# The clock, and the time zone of an agent that may not have a row yet.
_READ_CLOCK_AND_ZONE = """
    SELECT clock_timestamp() AS clock,
           (SELECT timezone FROM agents WHERE agent_id = :agent) AS timezone
"""


@dataclass(frozen=True, slots=True)
class AgentChange:
    """What to set about an agent: those of the values that `names` contains.

    None stands for the value of the settings. `timezone` is a name of the IANA database.
    """

    names: frozenset[str]
    mode: Mode | None = None
    timezone: str | None = None


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


# Find an agent that callers see, without counting its memories.
_IS_THERE = f"SELECT true AS is_seen FROM agents a WHERE {_IS_SEEN} AND a.agent_id = :agent"


async def is_seen(connection: AsyncConnection, agent: AgentId) -> bool:
    """Return whether callers see this agent."""
    return bool(await fetch_rows(connection, _IS_THERE, {"agent": agent}))


async def change_agent(
    connection: AsyncConnection, agent: AgentId, change: AgentChange
) -> dict[str, Any]:
    """Set what is to change about an agent, and return the agent."""
    values = {
        "agent": agent,
        "mode": change.mode,
        "sets_mode": "mode" in change.names,
        "timezone": change.timezone,
        "sets_timezone": "timezone" in change.names,
    }
    await fetch_rows(connection, _CHANGE, values)
    [row] = await fetch_rows(connection, _READ, {"agent": agent})
    return row


async def read_clock_and_zone(
    connection: AsyncConnection, agent: AgentId
) -> tuple[datetime, str | None]:
    """Return the database's clock, and the name of the agent's time zone if it has one."""
    [row] = await fetch_rows(connection, _READ_CLOCK_AND_ZONE, {"agent": agent})
    return row["clock"], row["timezone"]
