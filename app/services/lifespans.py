"""Ending a session or a project: lock, find what ends with it, end it piece by piece in one transaction, answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.domain.agent import AgentId
from app.domain.fact import Lifespan
from app.domain.policy import Policy
from app.planning.lifespans import NamedLifespan, plan_lifespan_end
from app.planning.plan import Plan
from app.services import metrics
from app.services.idempotency import UNKEYED, Idempotency
from app.store import apply, chains, lifespans
from app.store.rows import CallInfo

CHUNK = 1_000


@dataclass(frozen=True, slots=True)
class EndedLifespan:
    """The memories that ended, the operation of each, how many of the session or project go on, and the known time of the last
    operation; None where nothing ended."""

    ids: tuple[UUID, ...]
    log_ids: tuple[UUID, ...]
    remaining: int
    known_at: datetime | None


@dataclass(frozen=True, slots=True)
class _EndRequest:
    """What is asked: the span, the moment, whether what begins after it is called off, and why."""

    span: NamedLifespan
    at: datetime
    ahead: bool
    reason: str
    request: CallInfo


class LifespanEnder:
    """Ends what was given the life of a session or a project. What it ends is undone as any operation is."""

    def __init__(self, engine: AsyncEngine, policy: Policy, *, language_oid: int) -> None:
        self._engine = engine
        self._policy = policy
        self._language_oid = language_oid

    async def end_lifespan(
        self,
        agent: AgentId,
        span: NamedLifespan,
        *,
        at: datetime | None,
        reason: str | None,
        request: CallInfo,
        idempotency: Idempotency[EndedLifespan] = UNKEYED,
    ) -> EndedLifespan:
        """Ends the span's memories at `at`; without it now, and withdraws those that have not begun."""
        if span.lifespan is Lifespan.SESSION:
            request = replace(request, session_id=span.name)
        async with self._engine.begin() as connection:
            lock = await chains.lock_agent(connection, agent, encoder=None)
            await idempotency.check_replay(connection)
            lock.refuse_if_frozen(self._policy)
            _, clock = await chains.read_picture(connection, agent)
            moment = chains.next_known_time(clock, lock.last_known_at) if at is None else at
            asked = _EndRequest(span, moment, at is None, reason or span.sentence, request)
            plans, log_ids = await self._end_memories(connection, agent, asked, lock.last_known_at)
            kept = await lifespans.count_going_on(connection, agent, span, at=moment)
            ended = tuple(memory_id for plan in plans for memory_id in plan.superseded)
            result = EndedLifespan(ended, log_ids, kept, plans[-1].now if plans else None)
            await idempotency.keep_result(connection, result)
        metrics.count_operations(plans)
        return result

    async def _end_memories(
        self,
        connection: AsyncConnection,
        agent: AgentId,
        end_request: _EndRequest,
        last: datetime | None,
    ) -> tuple[list[Plan], tuple[UUID, ...]]:
        """What was done, and where each was logged."""
        ids = await lifespans.list_ids_to_end(
            connection, agent, end_request.span, at=end_request.at
        )
        done: list[Plan] = []
        log_ids: list[UUID] = []
        for start in range(0, len(ids), CHUNK):
            plans = await _plan_chunk(
                connection,
                agent,
                end_request,
                ids[start : start + CHUNK],
                done[-1].now if done else last,
            )
            written = await apply.apply_plans(
                connection,
                agent,
                plans,
                vectors={},
                language=self._language_oid,
                request=end_request.request,
            )
            done += plans
            log_ids += [at.log_id for at in written]
        return done, tuple(log_ids)


async def _plan_chunk(
    connection: AsyncConnection,
    agent: AgentId,
    end_request: _EndRequest,
    ids: Sequence[UUID],
    last: datetime | None,
) -> list[Plan]:
    picture, clock = await chains.read_picture(
        connection, agent, ids=ids, withdrawable=ids if end_request.ahead else ()
    )
    plans: list[Plan] = []
    for memory_id in ids:
        now = chains.next_known_time(clock, last)
        plan = plan_lifespan_end(
            memory_id,
            picture,
            now=now,
            at=end_request.at,
            ahead=end_request.ahead,
            reason=end_request.reason,
        )
        if plan:
            plan.absorb_into(picture)
            plans.append(plan)
            last = now
    return plans
