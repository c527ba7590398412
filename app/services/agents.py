"""Changing an agent itself."""

import logging
from collections.abc import Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.agent import AgentId
from app.services.agent_write import Call, agent_write
from app.store import agents
from app.store.agents import AgentChange
from app.store.engine import take_role
from app.store.roles import Role

logger = logging.getLogger(__name__)

AgentRow = Mapping[str, Any]


async def change_agent(
    engine: AsyncEngine,
    call: Call[AgentRow],
    agent: AgentId,
    change: AgentChange,
) -> AgentRow:
    """Set what becomes of changes to an agent's memories, or the time zone of its dates.

    The agent may be another than the agent of the call. A frozen agent is not refused, because
    this is how it is unfrozen.
    """
    async with agent_write(engine, call, refuse_frozen=False) as write:
        await take_role(write.connection, Role.SERVICE, agent)
        row = await agents.change_agent(write.connection, agent, change)
        await take_role(write.connection, Role.SERVICE, call.agent)
        await write.keep(row)
    changed = {"changed_agent": agent, "actor": call.info.actor}
    changed |= {name: getattr(change, name) for name in sorted(change.names)}
    logger.info("an agent was changed", extra=changed)
    return row
