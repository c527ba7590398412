"""Adding relationships between memories."""

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.relationship import Relationship
from app.planning.explicit import plan_relationship
from app.services.agent_write import Call, WriteSetup, agent_write
from app.store import relationships
from app.store.relationships import StoredRelationship


@dataclass(frozen=True, slots=True)
class RelationshipOutcome:
    """The relationship as it is stored, and whether this call stored it."""

    relationship: StoredRelationship
    is_new: bool


class RelationshipWriter:
    """Adds relationships. A revert of the logged operation removes them again."""

    def __init__(self, engine: AsyncEngine, setup: WriteSetup) -> None:
        self._engine = engine
        self._setup = setup

    async def add_relationship(
        self,
        call: Call[RelationshipOutcome],
        link: Relationship,
    ) -> RelationshipOutcome:
        """Add a relationship. If it is stored already, nothing is written.

        Raises UnknownMemory, Erased, Withdrawn, InvalidFact, AgentFrozen.
        """
        async with agent_write(self._engine, call, setup=self._setup, refuse_frozen=True) as write:
            chains = await write.read_chains(ids=[link.source, link.target])
            plan = plan_relationship(link, chains, now=write.next_known_time())
            stored_before = await relationships.find_relationships(
                write.connection, call.agent, [link]
            )
            if stored_before:
                outcome = RelationshipOutcome(stored_before[0], is_new=False)
            else:
                write.add_plan(plan)
                [logged] = await write.apply()
                stored = StoredRelationship(plan.links[0], plan.now, logged.log_id)
                outcome = RelationshipOutcome(stored, is_new=True)
            await write.keep(outcome)
        return outcome
