"""Ending a session or a project: lock, find what ends with it, end it piece by piece in one transaction, answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.domain.ending import Span, plan_ending
from app.domain.memory import AgentId, Lifespan
from app.domain.plan import Plan, Policy
from app.services import metrics
from app.services.once import UNKEYED, Once
from app.store import ending, writes
from app.store.rows import Request

CHUNK = 1_000


@dataclass(frozen=True, slots=True)
class Ended:
    """The memories that ended, the operation of each, how many of the session or project go on, and the known time of the last
    operation; None where nothing ended."""

    ids: tuple[UUID, ...]
    log_ids: tuple[UUID, ...]
    kept: int
    known_at: datetime | None


@dataclass(frozen=True, slots=True)
class _Ending:
    """What is asked: the span, the moment, whether what begins after it is called off, and why."""

    span: Span
    at: datetime
    ahead: bool
    reason: str
    request: Request


class Ending:
    """Ends what was given the life of a session or a project. What it ends is undone as any operation is."""

    def __init__(self, engine: AsyncEngine, policy: Policy, *, language_oid: int) -> None:
        self._engine = engine
        self._policy = policy
        self._language_oid = language_oid

    async def run(
        self, agent: AgentId, span: Span, *, at: datetime | None, reason: str | None, request: Request, once: Once[Ended] = UNKEYED
    ) -> Ended:
        """Ends the span's memories at `at`; without it now, and withdraws those that have not begun."""
        if span.lifespan is Lifespan.SESSION:
            request = replace(request, session_id=span.name)
        async with self._engine.begin() as connection:
            lock = await writes.lock_agent(connection, agent, encoder=None)
            await once.check(connection)
            lock.refuse_where_frozen(self._policy)
            _, clock = await writes.read_picture(connection, agent)
            moment = writes.next_known(clock, lock.last_known_at) if at is None else at
            asked = _Ending(span, moment, at is None, reason or span.sentence, request)
            plans, log_ids = await self._end(connection, agent, asked, lock.last_known_at)
            kept = await ending.count_going_on(connection, agent, span, at=moment)
            ended = tuple(memory_id for plan in plans for memory_id in plan.superseded)
            result = Ended(ended, log_ids, kept, plans[-1].now if plans else None)
            await once.keep(connection, result)
        metrics.count(plans)
        return result

    async def _end(
        self, connection: AsyncConnection, agent: AgentId, asked: _Ending, last: datetime | None
    ) -> tuple[list[Plan], tuple[UUID, ...]]:
        """What was done, and where each was logged."""
        ids = await ending.ids_to_end(connection, agent, asked.span, at=asked.at)
        done: list[Plan] = []
        log_ids: list[UUID] = []
        for start in range(0, len(ids), CHUNK):
            plans = await _planned(connection, agent, asked, ids[start : start + CHUNK], done[-1].now if done else last)
            written = await writes.apply(connection, agent, plans, vectors={}, language=self._language_oid, request=asked.request)
            done += plans
            log_ids += [at.log_id for at in written]
        return done, tuple(log_ids)


async def _planned(connection: AsyncConnection, agent: AgentId, asked: _Ending, ids: Sequence[UUID], last: datetime | None) -> list[Plan]:
    picture, clock = await writes.read_picture(connection, agent, ids=ids, withdrawable=ids if asked.ahead else ())
    plans: list[Plan] = []
    for memory_id in ids:
        now = writes.next_known(clock, last)
        plan = plan_ending(memory_id, picture, now=now, at=asked.at, ahead=asked.ahead, reason=asked.reason)
        if plan:
            plan.absorb_into(picture)
            plans.append(plan)
            last = now
    return plans
