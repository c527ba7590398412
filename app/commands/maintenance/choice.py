"""The agents that a maintenance command works on."""

from app.domain.agent import AgentId
from app.domain.errors import UnknownAgent
from app.store import agents
from app.store.engine import begin_for_agent
from app.wiring import Services


async def get_existing_agent(services: Services, agent: str) -> AgentId:
    """Return the agent's id. Raises UnknownAgent if nothing was ever stored for that agent."""
    agent_id = AgentId(agent)
    async with begin_for_agent(services.engine, agent_id) as connection:
        if await agents.find_agent(connection, agent_id) is None:
            raise UnknownAgent(agent_id)
    return agent_id
