"""The explicit verbs: supersede, retract, amend. Each locks the agent, checks what the caller saw, plans, applies, commits."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncEngine
from uuid_utils.compat import uuid7

from app.domain.agent import AgentId
from app.domain.chains import Chains
from app.domain.errors import StaleVersion
from app.domain.fact import Fact
from app.domain.policy import Policy
from app.embedding import Embedder
from app.planning import hints
from app.planning.explicit import plan_amend, plan_retract, plan_succeed, plan_supersede
from app.planning.plan import Plan
from app.services import metrics
from app.services.idempotency import UNKEYED, Idempotency
from app.services.remember import Outcome
from app.store import apply, chains, memories, relationships
from app.store.rows import CallInfo

Planner = Callable[[Chains, datetime], Plan]


class ExplicitChanger:
    """Changes what callers name. `expected` is the revision of an If-Match header; None = whatever is stored."""

    def __init__(
        self, engine: AsyncEngine, embedder: Embedder, policy: Policy, *, language_oid: int
    ) -> None:
        self._engine = engine
        self._embedder = embedder
        self._policy = policy
        self._language_oid = language_oid

    async def supersede_by_content(
        self,
        agent: AgentId,
        memory_id: UUID,
        fact: Fact,
        *,
        expected: int | None,
        request: CallInfo,
        idempotency: Idempotency[Outcome] = UNKEYED,
    ) -> Outcome:
        """New content takes the memory's place."""
        vectors = await self._embedder.encode([fact.content])
        new_id = uuid7()

        def plan_replacement(picture: Chains, now: datetime) -> Plan:
            return plan_supersede(fact, [memory_id], picture, self._policy, now=now, new_id=new_id)

        return await self._write_change(
            agent,
            [memory_id],
            plan_replacement,
            expected=expected,
            request=request,
            idempotency=idempotency,
            vector=vectors[0],
        )

    async def supersede_by_stored(
        self,
        agent: AgentId,
        memory_id: UUID,
        by: UUID,
        *,
        expected: int | None,
        request: CallInfo,
        idempotency: Idempotency[Outcome] = UNKEYED,
    ) -> Outcome:
        """A stored memory is declared the successor."""

        def plan_successor(picture: Chains, now: datetime) -> Plan:
            return plan_succeed(memory_id, by, picture, now=now)

        return await self._write_change(
            agent,
            [memory_id, by],
            plan_successor,
            expected=expected,
            request=request,
            idempotency=idempotency,
        )

    async def retract(
        self,
        agent: AgentId,
        memory_id: UUID,
        *,
        at: datetime | None,
        never_true: bool,
        reason: str | None,
        expected: int | None,
        request: CallInfo,
        idempotency: Idempotency[Outcome] = UNKEYED,
    ) -> Outcome:
        """Ends a memory without a successor, or withdraws it."""

        def plan_retraction(picture: Chains, now: datetime) -> Plan:
            planned = plan_retract(memory_id, picture, now=now, at=at, never_true=never_true)
            return replace(
                planned,
                decision=replace(planned.decision, reasoning=reason or planned.decision.reasoning),
            )

        return await self._write_change(
            agent,
            [memory_id],
            plan_retraction,
            expected=expected,
            request=request,
            idempotency=idempotency,
        )

    async def amend(
        self,
        agent: AgentId,
        memory_id: UUID,
        *,
        belief_changes: dict[str, Any],
        metadata: dict[str, Any],
        expected: int | None,
        request: CallInfo,
        idempotency: Idempotency[Outcome] = UNKEYED,
    ) -> Outcome:
        """Corrects validity and metadata, never content."""

        def plan_amendment(picture: Chains, now: datetime) -> Plan:
            return plan_amend(memory_id, picture, now=now, claims=belief_changes, metadata=metadata)

        return await self._write_change(
            agent,
            [memory_id],
            plan_amendment,
            expected=expected,
            request=request,
            idempotency=idempotency,
        )

    async def _write_change(
        self,
        agent: AgentId,
        ids: Sequence[UUID],
        plan: Planner,
        *,
        expected: int | None,
        request: CallInfo,
        idempotency: Idempotency[Outcome],
        vector: NDArray[np.float32] | None = None,
    ) -> Outcome:
        async with self._engine.begin() as connection:
            encoder = None if vector is None else self._embedder.name
            lock = await chains.lock_agent(connection, agent, encoder=encoder)
            await idempotency.check_replay(connection)
            lock.refuse_if_frozen(self._policy)
            picture, clock = await chains.read_picture(connection, agent, ids=ids, withdrawable=ids)
            if expected is not None and picture.get_version(ids[0]).revision != expected:
                raise StaleVersion(ids[0])
            planned = plan(picture, chains.next_known_time(clock, lock.last_known_at))
            vectors = (
                {planned.target: vector}
                if planned.inserted and planned.target and vector is not None
                else {}
            )
            [written] = await apply.apply_plans(
                connection,
                agent,
                [planned],
                vectors=vectors,
                language=self._language_oid,
                request=request,
            )
            memory = (
                (await memories.find_memory(connection, agent, planned.target, memories.Point()))[1]
                if planned.target
                else None
            )
            planned.absorb_into(picture)
            [stale] = await relationships.find_made_stale(connection, agent, [planned])
            outcome = Outcome(
                planned,
                written,
                memory,
                hints=tuple(hints.find_plan_hints(planned, picture)),
                stale=stale,
            )
            await idempotency.keep_result(connection, outcome)
        metrics.count_operations([planned])
        return outcome
