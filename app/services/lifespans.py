"""Ending a session or a project: find the memories that end with it and end each, in one write."""

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.fact import Lifespan
from app.planning.lifespans import NamedLifespan, plan_lifespan_end
from app.planning.plan import Plan
from app.services.agent_write import AgentWrite, Call, WriteSetup, agent_write
from app.store import lifespans

CHUNK = 1_000


@dataclass(frozen=True, slots=True)
class EndedLifespan:
    """The memories that ended, and the operation of each.

    `remaining` counts the memories of the session or project that go on. `known_at` is the known
    time of the last operation; None if nothing ended.
    """

    ids: tuple[UUID, ...]
    log_ids: tuple[UUID, ...]
    remaining: int
    known_at: datetime | None


class LifespanEnder:
    """Ends memories that live as long as a session or a project. A revert undoes each end."""

    def __init__(self, engine: AsyncEngine, setup: WriteSetup) -> None:
        self._engine = engine
        self._setup = setup

    async def end_lifespan(
        self,
        call: Call[EndedLifespan],
        span: NamedLifespan,
        *,
        at: datetime | None,
        reason: str | None,
    ) -> EndedLifespan:
        """End the span's memories at `at`.

        Without `at` they end now, and memories that have not begun yet are withdrawn.
        """
        if span.lifespan is Lifespan.SESSION:
            call = replace(call, info=replace(call.info, session_id=span.name))
        async with agent_write(self._engine, call, setup=self._setup, refuse_frozen=True) as write:
            await write.read_clock()
            moment = at or write.next_known_time()
            plans, log_ids = await _end_memories(
                write, span, moment, ahead=at is None, reason=reason or span.sentence
            )
            remaining = await lifespans.count_going_on(
                write.connection, call.agent, span, at=moment
            )
            ids = tuple(memory_id for plan in plans for memory_id in plan.superseded)
            known_at = plans[-1].now if plans else None
            result = EndedLifespan(ids, tuple(log_ids), remaining, known_at)
            await write.keep(result)
        return result


async def _end_memories(
    write: AgentWrite[EndedLifespan], span: NamedLifespan, at: datetime, *, ahead: bool, reason: str
) -> tuple[list[Plan], list[UUID]]:
    """End the memories piece by piece. Return the plans carried out, and where each was logged.

    With `ahead`, memories that begin after `at` are withdrawn.
    """
    ids = await lifespans.list_ids_to_end(write.connection, write.agent, span, at=at)
    plans: list[Plan] = []
    log_ids: list[UUID] = []
    for start in range(0, len(ids), CHUNK):
        chunk = ids[start : start + CHUNK]
        chains = await write.read_chains(ids=chunk, withdrawable=chunk if ahead else ())
        for memory_id in chunk:
            now = write.next_known_time()
            plan = plan_lifespan_end(memory_id, chains, now=now, at=at, ahead=ahead, reason=reason)
            if plan:
                write.add_plan(plan)
                plans.append(plan)
        logged = await write.apply()
        log_ids += [place.log_id for place in logged]
    return plans, log_ids
