"""Carrying out sweeps: stored memories are judged again, a batch at a time.

Each batch is read, judged with nothing locked, then planned and applied under the agent's lock,
together with the sweep's progress. A sweep that is killed goes on after its last written batch.
"""

import logging
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from uuid_utils.compat import uuid7

from app.classification import rules
from app.domain.actor import name_sweep
from app.domain.agent import AgentId, Mode
from app.domain.errors import EmbedderUnavailable, PalimpsestError
from app.domain.relation import Classify, Operation
from app.domain.timeline import begins_before
from app.domain.version import Memory, Moment, Version
from app.embedding import Vector
from app.planning.not_done import Judging, explain_plan
from app.planning.plan import TOO_MANY_CLOSURES, IncomingFact, Plan
from app.planning.sweeps import can_act, plan_sweep, select_comparison_chains
from app.remote.budget import Payer
from app.services.agent_indexes import AgentIndexDirectory
from app.services.agent_write import AgentWrite, Call, WriteSetup, agent_write
from app.services.background_tasks import renew_in_background
from app.services.classify import (
    MOVED,
    ClassifiedItem,
    Classifier,
    StoreCommand,
    StoreSettings,
    collect_vectors,
    without_erased,
)
from app.services.dating import FactDater
from app.services.repetitions import RepeatedFacts
from app.store import comparison
from app.store.comparison import ComparisonOptions
from app.store.engine import begin_for_agent
from app.store.ranking import Hit
from app.store.rows import CallInfo
from app.store.sweeps import runs as sweep_runs
from app.store.sweeps import work as sweep_work
from app.store.sweeps.runs import Origin, Sweep
from app.store.sweeps.work import MemoryToExamine

MOST_FINDINGS = 1_000
logger = logging.getLogger(__name__)
_NO_VECTOR = np.zeros(0, dtype=np.float32)


class _Stopped(Exception):
    """The sweep was cancelled or taken over by another worker, so this one may write no more."""


@dataclass(slots=True)
class _Run:
    """A sweep that this worker carries out.

    `foreseen` holds the versions that a dry run would have changed so far, as they would be.
    """

    sweep: Sweep
    runner: UUID
    foreseen: dict[UUID, Version] = field(default_factory=dict)

    def foresee(self, plans: Sequence[Plan]) -> None:
        """Note the versions that these plans of a dry run would write."""
        for plan in plans:
            for version in plan.versions:
                self.foreseen[version.id] = version

    def has_ended(self, memory_id: UUID, at: datetime) -> bool:
        """Return True if a dry run foresees that the memory no longer holds at `at`."""
        version = self.foreseen.get(memory_id)
        return version is not None and not version.belief.holds_at(at)


@dataclass(slots=True)
class _Batch:
    """The plans for some memories, and why memories are to be looked at again."""

    plans: list[Plan] = field(default_factory=list)
    marks: dict[UUID, str] = field(default_factory=dict)


class Sweeper:
    """Judges stored memories again, and changes what a store would have changed."""

    def __init__(
        self,
        engine: AsyncEngine,
        dater: FactDater,
        classifier: Classifier,
        settings: StoreSettings,
        setup: WriteSetup,
        indexes: AgentIndexDirectory,
        *,
        batch: int,
    ) -> None:
        self._engine = engine
        self._dater = dater
        self._classifier = classifier
        self._settings = settings
        self._setup = setup
        self._indexes = indexes
        self._batch = batch
        self._tier = Classify.CASCADE if settings.classify is Classify.OFF else settings.classify

    @property
    def is_on(self) -> bool:
        """Return True if the settings let stored memories be looked at again."""
        return self._settings.looks_again

    async def sweep_marked(self, agent: AgentId) -> bool:
        """Look again at every marked memory, once each. Return what `run` returns.

        A memory that fails again keeps its mark.
        """
        if not self.is_on:
            return False
        async with begin_for_agent(self._engine, agent) as connection:
            if not await sweep_work.list_marked_memories(connection, agent):
                return False
        call: Call[None] = Call(agent)
        async with agent_write(self._engine, call, refuse_frozen=False) as write:
            sweep_id = await sweep_runs.get_or_create_marks_sweep(write.connection, agent, uuid7())
        return await self.run(agent, sweep_id)

    async def run(self, agent: AgentId, sweep_id: UUID) -> bool:
        """Carry a sweep out to its end, from where another worker left it.

        Stop if it is cancelled or taken over. Return False, and do nothing, if another sweep of the
        agent is under way or if the settings switch sweeps off.
        """
        if not self.is_on:
            return False
        runner = uuid7()
        claim = await self._claim_sweep(agent, sweep_id, runner)
        if claim is None:
            return False
        sweep, left = claim
        run = _Run(sweep, runner)
        turns = None if sweep.is_thorough else frozenset(left)

        async def renew_lease() -> None:
            try:
                async with begin_for_agent(self._engine, agent) as connection:
                    await sweep_runs.renew_sweep_lease(connection, agent, sweep_id, runner)
            except Exception as problem:
                # The next renewal may come through in time.
                logger.warning("A sweep could not say that it lives: %s", type(problem).__name__)

        async with renew_in_background(renew_lease, sweep_runs.LEASE.total_seconds() / 3):
            try:
                for start in range(0, len(left), self._batch):
                    ids = left[start : start + self._batch]
                    items = await self._classify_memories(agent, ids, turns=turns)
                    await self._write_batch(agent, run, ids, items)
                async with begin_for_agent(self._engine, agent) as connection:
                    await sweep_runs.finish_sweep(connection, agent, sweep_id, runner)
            except _Stopped:
                return True
            except Exception as problem:
                words = _describe_problem(problem)
                async with begin_for_agent(self._engine, agent) as connection:
                    await sweep_runs.record_sweep_failure(
                        connection, agent, sweep_id, runner, words
                    )
                raise
        return True

    async def _claim_sweep(
        self, agent: AgentId, sweep_id: UUID, runner: UUID
    ) -> tuple[Sweep, list[UUID]] | None:
        """Take the sweep over. Return it with the memories left to examine, in order.

        Return None if it is over, or if another sweep of the agent is under way.
        """
        call: Call[None] = Call(agent)
        async with agent_write(self._engine, call, refuse_frozen=False) as write:
            connection = write.connection
            sweep = await sweep_runs.claim_sweep(connection, agent, sweep_id, runner)
            if sweep is None:
                return None
            if sweep.origin is Origin.STORE:
                left = await sweep_work.list_marked_memories(connection, agent)
            else:
                left = await sweep_work.list_memories_to_sweep(
                    connection,
                    agent,
                    slot_hash=sweep.slot_hash,
                    since=sweep.since,
                    after=sweep.place,
                )
            total = sweep.examined + len(left)
            await sweep_runs.set_sweep_total(connection, agent, sweep_id, runner, total)
        return sweep, left

    # --- judging ---------------------------------------------------------------------------------

    async def _classify_memories(
        self, agent: AgentId, ids: Sequence[UUID], *, turns: Set[UUID] | None
    ) -> list[ClassifiedItem]:
        """Return the memories with what judges say of the memories that hold when they begin.

        Near memories that begin later are compared with them too, unless the sweep examines these
        by themselves: they are in `turns`, or `turns` is None and every memory is examined.
        """
        async with begin_for_agent(self._engine, agent) as connection:
            items: list[ClassifiedItem] = []
            for examined in await sweep_work.read_memories_to_examine(connection, agent, ids):
                items += await self._find_candidates(connection, agent, examined, turns=turns)
        episodes = await self._dater.find_episodes([item.fact for item in items])
        marked = [
            replace(item, command=replace(item.command, is_episode=is_episode))
            for item, is_episode in zip(items, episodes, strict=True)
        ]
        return await self._classifier.judge_all(Payer(agent), marked)

    async def _find_candidates(
        self,
        connection: AsyncConnection,
        agent: AgentId,
        examined: MemoryToExamine,
        *,
        turns: Set[UUID] | None,
    ) -> list[ClassifiedItem]:
        memory = examined.memory
        item = self._item_from_memory(memory, examined.vector)
        if item.fact.one_value or not self._settings.max_candidates:
            return [item]
        start = memory.belief.valid_from
        moment, hits = await self._find_nearest(connection, agent, item, start)
        before = tuple(hit for hit in hits if begins_before(hit.memory, memory))
        items = [replace(item, hits=before, seen_at=moment.known_at)]
        if turns is None:
            return items
        moment, hits = await self._find_nearest(connection, agent, item, None)
        for hit in hits:
            if hit.memory.id not in turns and begins_before(memory, hit.memory):
                later = self._item_from_memory(hit.memory, _NO_VECTOR)
                earlier = replace(hit, memory=memory)
                items.append(replace(later, hits=(earlier,), seen_at=moment.known_at))
        return items

    def _item_from_memory(self, memory: Memory, vector: Vector) -> ClassifiedItem:
        fact = replace(memory.fact.to_incoming_fact(), said_at=memory.told_at)
        return ClassifiedItem(StoreCommand(fact), fact, self._tier, memory.id, vector)

    async def _find_nearest(
        self,
        connection: AsyncConnection,
        agent: AgentId,
        item: ClassifiedItem,
        as_of: datetime | None,
    ) -> tuple[Moment, list[Hit]]:
        # The search finds the memory itself too, so it asks for one more.
        limit = self._settings.max_candidates + 1
        options = ComparisonOptions(self._classifier.encoder, self._settings.language, limit)
        moment, [hits] = await comparison.find_candidates(
            connection,
            agent,
            [item.fact],
            [item.vector],
            options,
            as_of=as_of,
            index=await self._indexes.find_index(agent),
        )
        return moment, [hit for hit in hits if hit.memory.id != item.new_id]

    # --- writing ---------------------------------------------------------------------------------

    async def _write_batch(
        self, agent: AgentId, run: _Run, ids: Sequence[UUID], items: list[ClassifiedItem]
    ) -> None:
        """Carry out what the judges found, and save the sweep's progress: both or neither.

        A frozen agent is not refused: changes to its memories become reviews.
        Raises _Stopped if the sweep is no longer this worker's.
        """
        sweep_id = run.sweep.id
        info = CallInfo(request_id=str(sweep_id), actor=name_sweep(sweep_id))
        call: Call[None] = Call(agent, info)
        async with agent_write(
            self._engine,
            call,
            setup=self._setup,
            refuse_frozen=False,
            encoder=self._classifier.encoder,
        ) as write:
            items = await without_erased(write, items)
            batch = await self._plan_batch(write, run, items)
            if run.sweep.dry_run:
                run.foresee(batch.plans)
            else:
                await write.apply(collect_vectors(items))
                marks: dict[UUID, str | None] = dict.fromkeys(ids)
                marks.update(batch.marks)
                await sweep_work.mark_memories(write.connection, agent, marks)
            run.sweep = _advance_sweep(run.sweep, ids, batch)
            if not await sweep_runs.save_sweep_progress(
                write.connection, agent, run.sweep, run.runner
            ):
                raise _Stopped

    async def _plan_batch(
        self, write: AgentWrite[None], run: _Run, items: Sequence[ClassifiedItem]
    ) -> _Batch:
        swept = [item.new_id for item in items]
        named = set(swept).union(*(item.affected_ids for item in items))
        chains = await write.read_chains(
            facts=[item.fact for item in items], ids=list(named), withdrawable=swept
        )
        stored_revisions = {version.id: version.revision for version in chains.list_versions()}
        chains.absorb_versions(
            version for version in run.foreseen.values() if chains.find_chain(version.chain_id)
        )
        decided = await sweep_work.find_decided_by_people(write.connection, write.agent, swept)
        batch = _Batch()
        repeated = RepeatedFacts(write)
        for item in items:
            moved = item.find_moved(stored_revisions)
            reason = MOVED if moved else item.verdict.look_again
            if reason:
                batch.marks[item.new_id] = reason
            excluded_ids = decided.setdefault(item.new_id, set())
            try:
                plan = await self._plan_one(write, run, item, moved, excluded_ids)
            except PalimpsestError as problem:
                # A memory that cannot be planned must not stop the others.
                kind = type(problem).__name__
                logger.warning("Memory %s could not be compared with others: %s", item.new_id, kind)
                continue
            if plan is None:
                continue
            plan = await repeated.join_stored(plan, item.new_id)
            if plan.review:
                excluded_ids.update(memory_id for memory_id, _ in plan.review.relied_on)
            write.add_plan(plan)
            repeated.note_plan(plan)
            batch.plans.append(plan)
        return batch

    async def _plan_one(
        self,
        write: AgentWrite[None],
        run: _Run,
        item: ClassifiedItem,
        moved: Set[UUID],
        excluded_ids: Set[UUID],
    ) -> Plan | None:
        """Plan one memory. Judgments on `moved` memories do not count."""
        chains = write.chains
        if not chains.has_version(item.new_id):
            return None
        memory = chains.get_version(item.new_id)
        if not can_act(memory):
            return None
        start = memory.belief.valid_from
        fact = replace(item.fact, valid_from=start, valid_until=memory.belief.said_until)
        others = select_comparison_chains(memory, fact, chains, excluded_ids)
        fuzzy = self._settings.fuzzy
        judgments = list(rules.judge_fact(fact, others, start, classify=True, fuzzy=fuzzy))
        for judgment in item.verdict.judgments:
            other_id = judgment.memory_id
            is_left = others.has_version(other_id) and other_id not in moved
            if is_left and not run.has_ended(other_id, start):
                judgments.append(judgment)
        incoming = IncomingFact(
            fact,
            memory.id,
            tuple(judgments),
            merged=item.merged,
            rewritten=item.rewritten,
            is_episode=item.command.is_episode,
        )

        def plan_change(*, proposes: bool) -> Plan | None:
            plan = plan_sweep(
                incoming,
                chains,
                others,
                self._settings.policy,
                now=write.next_known_time(),
                proposes=proposes,
            )
            return plan.with_model_cost(item.verdict.model_cost) if plan else None

        plan = plan_change(proposes=write.mode is not Mode.LIVE)
        if plan is not None and await write.exceeds_closures(plan):
            plan = plan_change(proposes=True)
            if plan is not None:
                plan = plan.with_reasoning(f"{TOO_MANY_CLOSURES} {plan.decision.reasoning}")
        if plan is None:
            return None
        judging = Judging(
            judgments=incoming.judgments,
            gate_closed=item.verdict.gate_closed,
            failure=item.verdict.look_again,
        )
        return explain_plan(plan, judging, chains, self._settings.policy)


def _describe_problem(problem: Exception) -> str:
    """Return what went wrong, without the words of any fact.

    Errors of other libraries quote whatever they met, so only their names are safe.
    """
    if isinstance(problem, PalimpsestError) and not isinstance(problem, EmbedderUnavailable):
        return str(problem)
    return type(problem).__name__


def _advance_sweep(sweep: Sweep, ids: Sequence[UUID], batch: _Batch) -> Sweep:
    counts = Counter(sweep.counts)
    for plan in batch.plans:
        if plan.review:
            counts["reviews"] += 1
        match plan.operation:
            case Operation.SUPERSEDE | Operation.UPDATE:
                counts["superseded"] += len(plan.superseded)
            case Operation.DELETE:
                counts["retracted"] += len(plan.superseded)
            case Operation.MERGE:
                counts["merged"] += 1
            case Operation.AMEND if plan.newly_covered:
                counts["covered"] += len(plan.newly_covered)
            case Operation.NOOP | Operation.AMEND if plan.changed:
                counts["duplicates"] += 1
    counts["postponed"] += len(batch.marks)
    findings = [*sweep.findings, *map(_build_finding, batch.plans)]
    return replace(
        sweep,
        place=ids[-1],
        examined=sweep.examined + len(ids),
        counts=dict(counts),
        findings=findings[:MOST_FINDINGS],
    )


def _build_finding(plan: Plan) -> dict[str, Any]:
    """Build what the sweep reports of a change or a question: ids and names, no words of a fact."""
    judgments = plan.review.judgments if plan.review else ()
    others = dict.fromkeys((*plan.superseded, *plan.newly_covered))
    others.update(dict.fromkeys(judgment.memory_id for judgment in judgments))
    return {
        "operation": plan.operation,
        "relation": plan.decision.relation,
        "memory_id": str(plan.target) if plan.target else None,
        "others": [str(memory_id) for memory_id in others],
        "confidence": plan.decision.confidence,
        "signals": [finding.name for finding in plan.decision.findings],
        "review": plan.review is not None,
    }
