"""Changing an agent itself."""

import logging
from collections.abc import Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.agent import AgentId, Mode
from app.services.agent_write import Call, agent_write
from app.store import agents
from app.store.engine import take_role
from app.store.roles import Role

logger = logging.getLogger(__name__)

AgentRow = Mapping[str, Any]


async def set_agent_mode(
    engine: AsyncEngine,
    call: Call[AgentRow],
    agent: AgentId,
    mode: Mode | None,
) -> AgentRow:
    """Set what becomes of changes to an agent's memories; None means as the settings say.

    The agent may be another than the agent of the call. A frozen agent is not refused, because
    this is how it is unfrozen.
    """
    async with agent_write(engine, call, refuse_frozen=False) as write:
        await take_role(write.connection, Role.SERVICE, agent)
        row = await agents.set_mode(write.connection, agent, mode)
        await take_role(write.connection, Role.SERVICE, call.agent)
        await write.keep(row)
    changed = {"changed_agent": agent, "mode": mode, "actor": call.info.actor}
    logger.info("the mode of an agent was set", extra=changed)
    return row
