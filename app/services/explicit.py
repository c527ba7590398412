"""The explicit verbs: supersede, retract and amend what the caller names."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine
from uuid_utils.compat import uuid7

from app.domain.chains import Chains
from app.domain.corrections import is_correction
from app.domain.errors import StaleVersion
from app.domain.fact import Fact
from app.embedding import Embedder, Vector
from app.planning.explicit import plan_amend, plan_retract, plan_succeed, plan_supersede
from app.planning.hints import find_date_hints
from app.planning.plan import IncomingFact, Plan
from app.services.agent_write import Call, Outcome, WriteSetup, agent_write
from app.services.dating import FactDater

Planner = Callable[[Chains, datetime], Plan]


@dataclass(frozen=True, slots=True)
class Target:
    """The memory that a caller names.

    `revision` is the one that the caller saw; None if any will do.
    """

    memory_id: UUID
    revision: int | None = None


class ExplicitChanger:
    """Changes what callers name."""

    def __init__(
        self,
        engine: AsyncEngine,
        embedder: Embedder,
        dater: FactDater,
        setup: WriteSetup,
    ) -> None:
        self._engine = engine
        self._embedder = embedder
        self._dater = dater
        self._setup = setup

    async def supersede_by_content(
        self,
        call: Call[Outcome],
        target: Target,
        fact: Fact,
        *,
        reads_dates: bool,
        zone: tzinfo | None,
    ) -> Outcome:
        """Put new content in the memory's place, with the dates of its words if they are read.

        `zone` is the one in which they were spoken, if the caller said so.
        """
        left_open: tuple[str, ...] = ()
        if reads_dates:
            [dated] = await self._dater.date_facts(call.agent, [fact], [zone])
            fact, left_open = dated.fact, dated.left_open
        [vector] = await self._embedder.encode([fact.content])
        memory_id, new_id, policy = target.memory_id, uuid7(), self._setup.policy

        def plan_replacement(chains: Chains, now: datetime) -> Plan:
            incoming = IncomingFact(fact, new_id, corrects=is_correction(fact.content))
            return plan_supersede(incoming, [memory_id], chains, policy, now=now)

        return await self._write_change(
            call, target, plan_replacement, vector=vector, left_open=left_open
        )

    async def supersede_by_stored(self, call: Call[Outcome], target: Target, by: UUID) -> Outcome:
        """Declare a stored memory the successor."""

        def plan_successor(chains: Chains, now: datetime) -> Plan:
            return plan_succeed(target.memory_id, by, chains, now=now)

        return await self._write_change(call, target, plan_successor, successor=by)

    async def retract(
        self,
        call: Call[Outcome],
        target: Target,
        *,
        at: datetime | None,
        never_true: bool,
        reason: str | None,
    ) -> Outcome:
        """End a memory without a successor, or withdraw it."""

        def plan_retraction(chains: Chains, now: datetime) -> Plan:
            plan = plan_retract(target.memory_id, chains, now=now, at=at, never_true=never_true)
            return plan.with_reasoning(reason) if reason else plan

        return await self._write_change(call, target, plan_retraction)

    async def amend(
        self,
        call: Call[Outcome],
        target: Target,
        *,
        belief_changes: dict[str, Any],
        metadata: dict[str, Any],
    ) -> Outcome:
        """Correct validity and metadata, never content."""

        def plan_amendment(chains: Chains, now: datetime) -> Plan:
            return plan_amend(
                target.memory_id, chains, now=now, claims=belief_changes, metadata=metadata
            )

        return await self._write_change(call, target, plan_amendment)

    async def _write_change(
        self,
        call: Call[Outcome],
        target: Target,
        make_plan: Planner,
        *,
        successor: UUID | None = None,
        vector: Vector | None = None,
        left_open: Sequence[str] = (),
    ) -> Outcome:
        encoder = None if vector is None else self._embedder.name
        ids = [target.memory_id, *([successor] if successor else [])]
        async with agent_write(
            self._engine, call, setup=self._setup, refuse_frozen=True, encoder=encoder
        ) as write:
            following = await write.list_successors(successor) if successor else ()
            chains = await write.read_chains(ids=[*ids, *following], withdrawable=ids)
            revision = target.revision
            if revision is not None and chains.get_version(target.memory_id).revision != revision:
                raise StaleVersion(target.memory_id)
            plan = make_plan(chains, write.next_known_time())
            vectors = {}
            if plan.inserted and plan.target and vector is not None:
                vectors[plan.target] = vector
            write.add_plan(plan)
            await write.apply(vectors)
            [outcome] = await write.read_outcomes(hinted=True)
            outcome = outcome.with_hints(find_date_hints(left_open))
            await write.keep(outcome)
        return outcome
