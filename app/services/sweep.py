"""The sweep: stored memories looked at again, some at a time: read, judge with nothing locked, then plan and apply under the agent's lock,
together with how far the sweep is. Killed anywhere, it goes on after the last batch that was written."""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from uuid_utils.compat import uuid7

from app.domain.errors import EmbedderUnavailable, PalimpsestError
from app.domain.memory import AgentId, Memory, Moment, Operation, Version
from app.domain.picture import Picture
from app.domain.plan import Mode, Plan
from app.domain.relation import Classify
from app.domain.sweeping import Swept, as_told, can_act, ground, plan_sweep
from app.domain.time import begins_before
from app.judges import rules
from app.services import metrics
from app.services.judging import JUDGED_AT_ONCE, MOVED, Command, Judged, Judging, Rules, without_erased
from app.store import reads, search, sweeping, sweeps, writes
from app.store.rows import Request
from app.store.search import Comparing, Hit
from app.store.sweeping import Examined
from app.store.sweeps import Origin, Sweep

MOST_FINDINGS = 1_000
logger = logging.getLogger(__name__)
_NO_VECTOR = np.zeros(0, dtype=np.float32)


class _Stopped(Exception):
    """The sweep was cancelled or is another worker's by now: nothing more of it may be written here."""


@dataclass(slots=True)
class _Run:
    """A sweep in the hands of this worker. `foreseen`: what a dry run would have changed so far, as it would be."""

    sweep: Sweep
    runner: UUID
    foreseen: dict[UUID, Version] = field(default_factory=dict)

    def has_ended(self, memory_id: UUID, at: datetime) -> bool:
        """Whether a memory, that was compared as it is stored, would no longer hold then."""
        version = self.foreseen.get(memory_id)
        return version is not None and not version.belief.holds(at)


@dataclass(slots=True)
class _Batch:
    """What some memories came to. `marks`: why a memory is to be looked at again, which may be one that was held against another's."""

    plans: list[Plan] = field(default_factory=list)
    marks: dict[UUID, str] = field(default_factory=dict)


class Sweeping:
    """Looks at stored memories again, as a store would have, and changes what it would have changed."""

    def __init__(self, engine: AsyncEngine, judging: Judging, settings: Rules, *, encoder: str, batch: int) -> None:
        self._engine = engine
        self._judging = judging
        self._rules = settings
        self._encoder = encoder
        self._batch = batch
        self._tier = Classify.CASCADE if settings.classify is Classify.OFF else settings.classify

    @property
    def is_on(self) -> bool:
        """Whether the settings let stored memories be looked at again."""
        return self._rules.looks_again

    async def look(self, agent: AgentId) -> bool:
        """The inline pass: looks again at what is marked for it, each memory once. What fails again keeps its mark. Answers as `run`."""
        if not self.is_on:
            return False
        async with self._engine.begin() as connection:
            if not await sweeping.marked(connection, agent):
                return False
            await writes.lock_agent(connection, agent, encoder=None)
            sweep_id = await sweeps.look(connection, agent, uuid7())
        return await self.run(agent, sweep_id)

    async def run(self, agent: AgentId, sweep_id: UUID) -> bool:
        """Carries a sweep out to its end, from where another worker left it. Stops where it was cancelled or is taken over. Does nothing
        while another sweep of the agent is under way, or where the settings switch sweeps off: False."""
        if not self.is_on:
            return False
        runner = uuid7()
        async with self._engine.begin() as connection:
            await writes.lock_agent(connection, agent, encoder=None)
            sweep = await sweeps.take(connection, agent, sweep_id, runner)
            if sweep is None:
                return False
            work = await _work(connection, agent, sweep)
            await sweeps.expect(connection, agent, sweep.id, runner, sweep.examined + len(work))
        run = _Run(sweep, runner)
        turns = None if sweep.is_thorough else frozenset(work)
        over = asyncio.Event()
        living = asyncio.create_task(self._live(agent, sweep.id, runner, over))
        try:
            for ids in _batches(work, self._batch):
                await self._write(agent, run, ids, await self._examine(agent, ids, turns=turns))
            async with self._engine.begin() as connection:
                await sweeps.finish(connection, agent, sweep.id, runner)
        except _Stopped:
            return True
        except Exception as problem:
            async with self._engine.begin() as connection:
                await sweeps.fail(connection, agent, sweep.id, runner, _told(problem))
            raise
        finally:
            over.set()  # not cancelled: the driver may take that for the end of a statement alone, and the heart would go on
            await living
        return True

    async def _live(self, agent: AgentId, sweep_id: UUID, runner: UUID, over: asyncio.Event) -> None:
        """Says that this runner lives, until its work is over."""
        while not await _set_within(over, sweeps.LEASE.total_seconds() / 3):
            try:
                async with self._engine.begin() as connection:
                    await sweeps.stay(connection, agent, sweep_id, runner)
            except Exception as problem:  # the next one may come through in time
                logger.warning("A sweep could not say that it lives: %s", type(problem).__name__)

    # --- judging -------------------------------------------------------------------------------------------------------

    async def _examine(self, agent: AgentId, ids: Sequence[UUID], *, turns: Set[UUID] | None) -> Sequence[Judged]:
        """The memories with the judges' word on what holds where they begin. Those that begin later and are near are held against them
        too, unless they have `turns` of their own (None: every memory has)."""
        async with reads.reading(self._engine) as connection:
            found = await sweeping.to_examine(connection, agent, ids)
            items = [item for examined in found for item in await self._compared(connection, agent, examined, turns=turns)]
        places = asyncio.Semaphore(JUDGED_AT_ONCE)

        async def judged(item: Judged) -> Judged:
            async with places:
                await asyncio.sleep(0)  # others get a turn
                return await self._judging.judge_one(agent, item)

        return await asyncio.gather(*map(judged, items))

    async def _compared(self, connection: AsyncConnection, agent: AgentId, examined: Examined, *, turns: Set[UUID] | None) -> list[Judged]:
        memory = examined.memory
        item = self._item(memory, examined.vector)
        if item.fact.one_value or not self._rules.max_candidates:
            return [item]
        moment, hits = await self._near(connection, agent, item, memory.belief.valid_from)
        before = tuple(hit for hit in hits if begins_before(hit.memory, memory))
        items = [replace(item, hits=before, seen_at=moment.known_at)]
        if turns is not None:
            moment, hits = await self._near(connection, agent, item, None)
            later = [hit for hit in hits if hit.memory.id not in turns and begins_before(memory, hit.memory)]
            items += [
                replace(self._item(hit.memory, _NO_VECTOR), hits=(replace(hit, memory=memory),), seen_at=moment.known_at) for hit in later
            ]
        return items

    def _item(self, memory: Memory, vector: NDArray[np.float32]) -> Judged:
        fact = as_told(memory)
        return Judged(Command(fact), fact, self._tier, memory.id, vector)

    async def _near(self, connection: AsyncConnection, agent: AgentId, item: Judged, as_of: datetime | None) -> tuple[Moment, list[Hit]]:
        comparing = Comparing(self._encoder, self._rules.language, self._rules.max_candidates + 1)  # it finds itself too
        moment, [hits] = await search.candidates(connection, agent, [item.fact], [item.vector], comparing, as_of=as_of)
        return moment, [hit for hit in hits if hit.memory.id != item.new_id]

    # --- writing -------------------------------------------------------------------------------------------------------

    async def _write(self, agent: AgentId, run: _Run, ids: Sequence[UUID], items: Sequence[Judged]) -> None:
        """Does what the judges' word leads to, and writes down how far the sweep is: all or nothing. Raises _Stopped."""
        async with self._engine.begin() as connection:
            lock = await writes.lock_agent(connection, agent, encoder=self._encoder)
            items = await without_erased(connection, agent, items, lock)
            proposes = self._rules.policy.mode_of(lock.mode) is not Mode.LIVE
            batch = await self._plan(connection, agent, run, items, lock.last_known_at, proposes=proposes)
            if run.sweep.dry_run:
                run.foreseen |= {version.id: version for plan in batch.plans for version in plan.versions}
            else:
                await self._apply(connection, agent, run.sweep, ids, items, batch)
            run.sweep = _advanced(run.sweep, ids, batch)
            if not await sweeps.advance(connection, agent, run.sweep, run.runner):
                raise _Stopped
        metrics.count([] if run.sweep.dry_run else batch.plans)

    async def _plan(
        self, connection: AsyncConnection, agent: AgentId, run: _Run, items: Sequence[Judged], last: datetime | None, *, proposes: bool
    ) -> _Batch:
        swept = [item.new_id for item in items]
        named = {*swept, *(i for item in items for i in item.acting)}
        facts = [item.fact for item in items]
        picture, clock = await writes.read_picture(connection, agent, facts=facts, ids=named, withdrawable=swept)
        stored = {version.id: version.revision for version in picture.versions()}
        picture.absorb(version for version in run.foreseen.values() if picture.chain(version.chain_id))
        decided = await sweeping.decided_by_people(connection, agent, swept)
        batch = _Batch()
        for item in items:
            moved = {i for i in item.acting if stored.get(i) != item.seen.get(i)}
            if reason := MOVED if moved else item.verdict.look_again:
                batch.marks[item.new_id] = reason
            left_alone = decided.get(item.new_id, set())
            now = writes.next_known(clock, last)
            plan = None
            if picture.has(item.new_id):
                try:
                    plan = self._plan_one(run, item, picture, moved, left_alone, now, proposes=proposes)
                except PalimpsestError as problem:  # the others have their turn all the same
                    logger.warning("Memory %s could not be held against others: %s", item.new_id, type(problem).__name__)
            if plan and plan.review:
                decided.setdefault(item.new_id, set()).update(i for i, _ in plan.review.relied_on)
            if plan:
                plan.absorb_into(picture)
                batch.plans.append(plan)
                last = now
        return batch

    def _plan_one(
        self, run: _Run, item: Judged, picture: Picture, moved: set[UUID], left_alone: set[UUID], now: datetime, *, proposes: bool
    ) -> Plan | None:
        memory = picture.version(item.new_id)
        if not can_act(memory):
            return None
        fact = replace(item.fact, valid_from=memory.belief.valid_from, valid_until=memory.belief.said_until)
        others = ground(memory, fact, picture, left_alone)
        start = memory.belief.valid_from
        certain = rules.judge(fact, others, start, classify=True, fuzzy=self._rules.fuzzy)
        said = (j for j in item.verdict.judgments if j.memory_id not in moved and not run.has_ended(j.memory_id, start))
        judgments = (*certain, *said)
        swept = Swept(memory.id, fact, judgments, item.merged)
        plan = plan_sweep(swept, picture, others, self._rules.policy, now=now, proposes=proposes)
        return replace(plan, asked=item.verdict.asked) if plan else None

    async def _apply(
        self, connection: AsyncConnection, agent: AgentId, sweep: Sweep, ids: Sequence[UUID], items: Sequence[Judged], batch: _Batch
    ) -> None:
        vectors = {item.merged.new_id: item.merged_vector for item in items if item.merged and item.merged_vector is not None}
        request = Request(request_id=str(sweep.id))
        await writes.apply(connection, agent, batch.plans, vectors=vectors, language=self._rules.language_oid, request=request)
        await sweeping.mark(connection, agent, {**dict.fromkeys(ids), **batch.marks})


async def _set_within(event: asyncio.Event, seconds: float) -> bool:
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
    return event.is_set()


def _told(problem: Exception) -> str:
    """What went wrong, without the words of a fact: those of foreign errors quote whatever they met."""
    own = isinstance(problem, PalimpsestError) and not isinstance(problem, EmbedderUnavailable)
    return str(problem) if own else type(problem).__name__


async def _work(connection: AsyncConnection, agent: AgentId, sweep: Sweep) -> list[UUID]:
    """What is left to examine, in order."""
    if sweep.origin is Origin.STORE:
        return await sweeping.marked(connection, agent)
    return await sweeping.work(connection, agent, slot_hash=sweep.slot_hash, since=sweep.since, after=sweep.place)


def _batches(ids: Sequence[UUID], size: int) -> Iterator[Sequence[UUID]]:
    return (ids[start : start + size] for start in range(0, len(ids), size))


def _advanced(sweep: Sweep, ids: Sequence[UUID], batch: _Batch) -> Sweep:
    counts = Counter(sweep.counts)
    for plan in batch.plans:
        counts.update(_count(plan))
    counts["postponed"] += len(batch.marks)
    findings = [*sweep.findings, *map(_finding, batch.plans)][:MOST_FINDINGS]
    return replace(sweep, place=ids[-1], examined=sweep.examined + len(ids), counts=dict(counts), findings=findings)


def _count(plan: Plan) -> dict[str, int]:
    counted = {"reviews": 1} if plan.review else {}
    match plan.operation:
        case Operation.SUPERSEDE | Operation.UPDATE:
            counted["superseded"] = len(plan.superseded)
        case Operation.DELETE:
            counted["retracted"] = len(plan.superseded)
        case Operation.MERGE:
            counted["merged"] = 1
        case Operation.NOOP | Operation.AMEND if plan.changed:
            counted["duplicates"] = 1
    return counted


def _finding(plan: Plan) -> dict[str, Any]:
    """A change or a question as the sweep tells it: ids and names, no words of any fact."""
    asked = plan.review.judgments if plan.review else ()
    others = dict.fromkeys([*plan.superseded, *(j.memory_id for j in asked)])
    return {
        "operation": plan.operation,
        "relation": plan.decision.relation,
        "memory_id": str(plan.target) if plan.target else None,
        "others": list(map(str, others)),
        "confidence": plan.decision.confidence,
        "signals": [finding.name for finding in plan.decision.findings],
        "review": plan.review is not None,
    }
