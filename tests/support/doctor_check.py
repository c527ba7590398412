"""The doctor at the end of a test: whatever was done, everything that must hold still holds."""

import asyncio
from contextlib import aclosing

import httpx

from app.domain.agent import AgentId
from app.planning.audit.faults import Fault
from app.services.doctor import Doctor
from app.store.doctor import reads as doctor_reads
from app.store.engine import Patience, begin_as_operator, create_engine


async def _examined(database_url: str) -> dict[AgentId, list[Fault]]:
    engine = create_engine(database_url, pool_size=2, patience=Patience(statement=0))
    try:
        async with begin_as_operator(engine) as connection:
            agents = await doctor_reads.list_agent_ids(connection, after="", limit=10_000)
        found = {}
        for agent in agents:
            async with aclosing(Doctor(engine).examine_agent(agent)) as faults:
                found[agent] = [fault async for fault in faults]
        return found
    finally:
        await engine.dispose()


def faults(database_url: str) -> dict[AgentId, list[Fault]]:
    """What the doctor finds in a database, agent by agent."""
    return {agent: found for agent, found in asyncio.run(_examined(database_url)).items() if found}


def assert_healthy(database_url: str) -> None:
    """Fails with the doctor's sentences unless everything holds of every agent."""
    told = [
        f"{agent}: [{fault.check}] {fault.sentence}"
        for agent, found in faults(database_url).items()
        for fault in found
    ]
    assert not told, "\n".join(told)


def assert_agent_healthy(client: httpx.Client) -> None:
    """The same of the client's agent, asked of the service."""
    response = client.get("/v1/doctor")
    assert response.status_code == 200, response.text
    told = [f"[{problem['check']}] {problem['problem']}" for problem in response.json()["problems"]]
    assert not told, "\n".join(told)
