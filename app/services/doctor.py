"""The doctor: whether everything that must hold of an agent's tables holds, and putting right what can be computed anew."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.domain.checks import Fault, check_answer, check_chain, check_reverts, examine
from app.domain.memory import AgentId
from app.store import doctor, invariants, reads, writes
from app.store.engine import snapshot

_PAGE = 1_000


class Doctor:
    """Examines agents, one at a time: an examination holds a connection and a snapshot until it is done."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._turn = asyncio.Semaphore(1)

    async def count_agents(self) -> int:
        async with reads.reading(self._engine) as connection:
            return await doctor.count_agents(connection)

    async def agents(self) -> AsyncGenerator[AgentId]:
        """Every agent, in order."""
        after = ""
        while True:
            async with reads.reading(self._engine) as connection:
                page = await doctor.agent_ids(connection, after=after, limit=_PAGE)
            for agent in page:
                yield agent
            if len(page) < _PAGE:
                return
            after = page[-1]

    async def examine(self, agent: AgentId) -> AsyncGenerator[Fault]:
        """What does not hold, as it is found, in one snapshot: writers neither wait nor disturb.

        Close it (`aclose`) when reading stops early.
        """
        async with self._turn, snapshot(self._engine) as connection, aclosing(_faults(connection, agent)) as faults:
            async for fault in faults:
                yield fault

    async def repair(self, agent: AgentId) -> list[Fault]:
        """Puts right what has a remedy, and says what that was. The agent's writers wait meanwhile."""
        async with self._turn, self._engine.begin() as connection:
            await writes.lock_agent(connection, agent, encoder=None)
            async with aclosing(_faults(connection, agent)) as faults:
                found = [fault async for fault in faults if fault.remedy]
            await doctor.put_right(connection, agent, [fault.remedy for fault in found if fault.remedy])
        return found


async def _faults(connection: AsyncConnection, agent: AgentId) -> AsyncGenerator[Fault]:
    """All checks of one agent: rules of one statement, then memory by memory, chain by chain, and what lies beside."""
    unreadable = False
    async with aclosing(invariants.broken(connection, agent, invariants.READABLE)) as faults:
        async for fault in faults:
            unreadable = True
            yield fault
    if unreadable:
        return
    for part in (invariants.broken(connection, agent, invariants.RULES), _of_memories(connection, agent), _beside(connection, agent)):
        async with aclosing(part) as faults:
            async for fault in faults:
                yield fault


async def _of_memories(connection: AsyncConnection, agent: AgentId) -> AsyncGenerator[Fault]:
    """Of ends, the chain and the log together say what is wrong; only those in which log and table differ are held until then."""
    told_ends = {}
    async with aclosing(doctor.by_memory(connection, agent)) as memories:
        async for memory_id, stored, steps in memories:
            examined = examine(memory_id, stored, steps)
            if examined.told_ends:
                told_ends[memory_id] = examined.told_ends
            for fault in examined.faults:
                yield fault
    async with aclosing(doctor.chains(connection, agent)) as chains:
        async for chain in chains:
            for fault in check_chain(chain, told_ends):
                yield fault


async def _beside(connection: AsyncConnection, agent: AgentId) -> AsyncGenerator[Fault]:
    """What was undone by what, and the answers kept for retries."""
    for fault in check_reverts(await doctor.reverts(connection, agent)):
        yield fault
    async with aclosing(doctor.answers(connection, agent)) as answers:
        async for kept in answers:
            for fault in check_answer(kept):
                yield fault
