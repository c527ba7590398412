"""What a repetition says besides its text joins the memory that it repeats."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from app.domain.fact import Fact, StoredFact
from app.planning.plan import Plan
from app.planning.repetitions import is_repetition, join_repetition
from app.services.agent_write import AgentWrite
from app.store import memories
from app.store.memories import Point

_JOINED = ("tags", "entities", "sources", "source", "details", "session_id", "project")


class RepeatedFacts:
    """The facts that the repetitions of one write join, as its plans so far leave them."""

    def __init__(self, write: AgentWrite[Any]) -> None:
        self._write = write
        self._facts: dict[UUID, StoredFact] = {}

    async def join(self, plan: Plan, fact: Fact) -> Plan:
        """Return the plan; if it is of a repetition, what else the fact says joins its target."""
        if plan.target is None or not is_repetition(plan):
            return plan
        if not any(getattr(fact, name) for name in _JOINED):
            return plan
        return join_repetition(plan, await self._get_fact(plan.target), fact)

    async def join_stored(self, plan: Plan, memory_id: UUID | None) -> Plan:
        """Return the plan; if it withdraws a repetition, the rest of that joins its target."""
        if memory_id is None or not is_repetition(plan):
            return plan
        fact = await self._get_fact(memory_id)
        return await self.join(plan, fact.to_incoming_fact())

    def note_plan(self, plan: Plan) -> None:
        """Take note of what the plan inserts and corrects."""
        for insertion in plan.inserted:
            self._facts[insertion.version.id] = insertion.fact
        if plan.metadata and plan.target in self._facts:
            self._facts[plan.target] = replace(self._facts[plan.target], **plan.metadata)

    async def _get_fact(self, memory_id: UUID) -> StoredFact:
        if memory_id not in self._facts:
            write = self._write
            page = await memories.find_memories(write.connection, write.agent, [memory_id], Point())
            self._facts[memory_id] = page.memories[0].fact
        return self._facts[memory_id]
