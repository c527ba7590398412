"""Ending a session or a project: find the memories that end with it and end each, in one write."""

from collections.abc import Iterator, Sequence
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


@dataclass(frozen=True, slots=True)
class _End:
    """An end to carry out. With `ahead`, memories that begin after `at` are withdrawn."""

    span: NamedLifespan
    at: datetime
    ahead: bool
    reason: str


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
            info = replace(call.info, session_id=span.name)
            call = replace(call, info=info)
        async with agent_write(self._engine, call, setup=self._setup, refuse_frozen=True) as write:
            await write.read_clock()
            moment = at or write.next_known_time()
            end = _End(span, moment, ahead=at is None, reason=reason or span.sentence)
            plans, log_ids = await _end_memories(write, end)
            remaining = await lifespans.count_going_on(
                write.connection,
                call.agent,
                span,
                at=moment,
            )
            ids = tuple(memory_id for plan in plans for memory_id in plan.superseded)
            known_at = plans[-1].now if plans else None
            result = EndedLifespan(ids, tuple(log_ids), remaining, known_at)
            await write.keep(result)
        return result


async def _end_memories(
    write: AgentWrite[EndedLifespan], end: _End
) -> tuple[list[Plan], list[UUID]]:
    """End the memories piece by piece. Return the plans carried out, and where each was logged."""
    ids = await lifespans.list_ids_to_end(write.connection, write.agent, end.span, at=end.at)
    plans: list[Plan] = []
    log_ids: list[UUID] = []
    for chunk in _split_chunks(ids):
        plans += await _plan_chunk(write, end, chunk)
        logged = await write.apply()
        log_ids += [place.log_id for place in logged]
    return plans, log_ids


async def _plan_chunk(
    write: AgentWrite[EndedLifespan],
    end: _End,
    ids: Sequence[UUID],
) -> list[Plan]:
    withdrawable = ids if end.ahead else ()
    chains = await write.read_chains(ids=ids, withdrawable=withdrawable)
    plans: list[Plan] = []
    for memory_id in ids:
        plan = plan_lifespan_end(
            memory_id,
            chains,
            now=write.next_known_time(),
            at=end.at,
            ahead=end.ahead,
            reason=end.reason,
        )
        if plan:
            write.add_plan(plan)
            plans.append(plan)
    return plans


def _split_chunks(ids: Sequence[UUID]) -> Iterator[Sequence[UUID]]:
    for start in range(0, len(ids), CHUNK):
        yield ids[start : start + CHUNK]
