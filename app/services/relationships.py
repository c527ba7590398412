"""Tying two memories: lock, see that both can be tied and are not already, apply, commit."""

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.domain.agent import AgentId
from app.domain.policy import Policy
from app.domain.relationship import Relationship
from app.planning.explicit import plan_relationship
from app.planning.plan import Plan
from app.services import metrics
from app.services.idempotency import UNKEYED, Idempotency
from app.store import apply, chains, relationships
from app.store.relationships import StoredRelationship
from app.store.rows import CallInfo


@dataclass(frozen=True, slots=True)
class RelationshipOutcome:
    """The link as it is stored, and whether this call stored it."""

    relationship: StoredRelationship
    is_new: bool


class RelationshipWriter:
    """Ties memories. Undoing is the log's business, as with every operation."""

    def __init__(self, engine: AsyncEngine, policy: Policy, *, language_oid: int) -> None:
        self._engine = engine
        self._policy = policy
        self._language_oid = language_oid

    async def add_relationship(
        self,
        agent: AgentId,
        link: Relationship,
        *,
        request: CallInfo,
        idempotency: Idempotency[RelationshipOutcome] = UNKEYED,
    ) -> RelationshipOutcome:
        """Ties two memories; where they are tied so already, nothing is written.

        Raises UnknownMemory, Erased, Withdrawn, InvalidFact, AgentFrozen.
        """
        async with self._engine.begin() as connection:
            lock = await chains.lock_agent(connection, agent, encoder=None)
            await idempotency.check_replay(connection)
            lock.refuse_if_frozen(self._policy)
            picture, clock = await chains.read_picture(
                connection, agent, ids=[link.source, link.target]
            )
            plan = plan_relationship(
                link, picture, now=chains.next_known_time(clock, lock.last_known_at)
            )
            stored = await relationships.find_relationships(connection, agent, [link])
            linked = (
                RelationshipOutcome(stored[0], is_new=False)
                if stored
                else await self._write_relationship(connection, agent, plan, request)
            )
            await idempotency.keep_result(connection, linked)
        metrics.count_operations([plan] if linked.is_new else [])
        return linked

    async def _write_relationship(
        self, connection: AsyncConnection, agent: AgentId, plan: Plan, request: CallInfo
    ) -> RelationshipOutcome:
        [written] = await apply.apply_plans(
            connection, agent, [plan], vectors={}, language=self._language_oid, request=request
        )
        return RelationshipOutcome(
            StoredRelationship(plan.links[0], plan.now, written.log_id), is_new=True
        )
