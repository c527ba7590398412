"""Storing facts: judge; then plan and apply under the agent's lock; commit; answer."""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from uuid_utils.compat import uuid7

from app.classification import rules
from app.domain.agent import AgentId, Mode
from app.domain.chains import Chains
from app.domain.errors import PalimpsestError
from app.domain.relation import Classify, Judgment
from app.domain.version import Memory
from app.embedding import Embedder
from app.planning.classified import mark_for_another_look
from app.planning.explicit import plan_supersede
from app.planning.hints import Hint
from app.planning.plan import Plan, ReviewSource, list_inserted_memories
from app.planning.reviews import plan_for_review, review_from_plan
from app.planning.staleness import StaleMemory
from app.planning.store import plan_store
from app.services import metrics
from app.services.agent_write import ComparedMemory, Outcome
from app.services.classify import (
    MOVED,
    ClassifiedItem,
    Classifier,
    StoreCommand,
    StoreSettings,
    without_erased,
)
from app.services.hints import find_plan_hints
from app.services.idempotency import UNKEYED, Idempotency
from app.services.sweep_wakeups import SweepWaker
from app.store import apply, chains, memories, relationships
from app.store.apply import LoggedPlan
from app.store.chains import LockedAgent
from app.store.memories import Point
from app.store.reviews import reviews
from app.store.reviews.reviews import Incoming
from app.store.rows import CallInfo

Outcomes = list[Outcome | PalimpsestError]

# What has to hold under the agent's lock, besides what storing asks for itself.
Check = Callable[[AsyncConnection, LockedAgent], Awaitable[None]]


async def _check_nothing(_connection: AsyncConnection, _lock: LockedAgent) -> None: ...


class BatchRefused(PalimpsestError):
    """An atomic batch in which an item cannot be stored; nothing was."""

    def __init__(self, problems: Mapping[int, PalimpsestError]) -> None:
        first, problem = next(iter(problems.items()))
        super().__init__(f"Item {first}: {problem} The batch is atomic, so nothing was stored.")
        self.problems = problems


class Remember:
    """Stores facts. No connection is held while the encoder or a model runs."""

    def __init__(
        self,
        engine: AsyncEngine,
        embedder: Embedder,
        judging: Classifier,
        settings: StoreSettings,
        waking: SweepWaker,
    ) -> None:
        self._engine = engine
        self._embedder = embedder
        self._judging = judging
        self._rules = settings
        self._waking = waking

    async def store(
        self,
        agent: AgentId,
        command: StoreCommand,
        *,
        request: CallInfo,
        dry_run: bool = False,
        idempotency: Idempotency[Outcome] = UNKEYED,
        check: Check = _check_nothing,
    ) -> Outcome:
        """Stores one fact. Raises what planning it raises."""
        return _get_single_outcome(
            await self.store_all(
                agent,
                [command],
                request=request,
                dry_run=dry_run,
                idempotency=idempotency.with_conversion(_get_single_outcome),
                check=check,
            )
        )

    async def store_all(
        self,
        agent: AgentId,
        commands: Sequence[StoreCommand],
        *,
        request: CallInfo,
        atomic: bool = False,
        dry_run: bool = False,
        idempotency: Idempotency[Outcomes] = UNKEYED,
        check: Check = _check_nothing,
    ) -> Outcomes:
        """Stores facts in order, in one transaction, each with its own known time. One that cannot be stored fails alone,
        or with all others where `atomic` (BatchRefused). A dry run is not kept under its key. What `check` raises stops it all."""
        started = time.perf_counter()
        items: Sequence[ClassifiedItem] = await self._judging.classify_batch(agent, commands)
        async with self._engine.connect() as connection, connection.begin() as transaction:
            lock = await chains.lock_agent(connection, agent, encoder=self._embedder.name)
            await idempotency.check_replay(connection)
            await check(connection, lock)
            items = await without_erased(connection, agent, items, lock)
            mode = self._rules.policy.mode_of(lock.mode)
            drafts, picture = await self._plan_items(connection, agent, items, lock, mode)
            failed = {i: d for i, d in enumerate(drafts) if isinstance(d, PalimpsestError)}
            if failed and atomic:
                raise BatchRefused(failed)
            if mode is Mode.FROZEN:
                outcomes = await self._hold_for_review(
                    connection, agent, items, drafts, picture, dry_run=dry_run
                )
            else:
                request = replace(request, duration_ms=(time.perf_counter() - started) * 1e3)
                outcomes = await self._carry_out(
                    connection, agent, items, drafts, picture, request, dry_run=dry_run
                )
            if dry_run:
                await transaction.rollback()
            else:
                await idempotency.keep_result(connection, outcomes)
        if not dry_run:
            self._count_and_wake(agent, outcomes)
        return outcomes

    def _count_and_wake(self, agent: AgentId, outcomes: Outcomes) -> None:
        """Counts what was committed, and wakes a worker where it left something to do."""
        done = [outcome for outcome in outcomes if isinstance(outcome, Outcome)]
        plans = [outcome.plan for outcome in done if outcome.written]
        metrics.count_operations(plans)
        metrics.count_held(sum(outcome.waiting_review_id is not None for outcome in done))
        self._waking.wake_for_marks(agent, plans)

    async def _plan_items(
        self,
        connection: AsyncConnection,
        agent: AgentId,
        items: Sequence[ClassifiedItem],
        lock: LockedAgent,
        mode: Mode,
    ) -> tuple[list[Plan | PalimpsestError], Chains]:
        """Reads what the facts may touch, and plans each over what the ones before will have written."""
        last = lock.last_known_at
        named = {
            i
            for item in items
            for i in (*item.command.supersedes, *item.affected_ids, *item.overlapping_ids)
        }
        withdrawable = [i for item in items for i in item.command.supersedes]
        picture, clock = await chains.read_picture(
            connection,
            agent,
            facts=[item.fact for item in items],
            ids=named,
            withdrawable=withdrawable,
        )
        drafts: list[Plan | PalimpsestError] = []
        for item in items:
            now = chains.next_known_time(clock, last)
            try:
                plan = self._plan_one(item, picture, now)
                if (
                    mode is Mode.SHADOW and not item.command.settles
                ):  # what a person accepts is done
                    plan = plan_for_review(
                        plan, item.fact, picture, ReviewSource.SHADOW, new_id=item.new_id
                    )
            except PalimpsestError as problem:
                drafts.append(problem)
                continue
            if (
                mode is not Mode.FROZEN
            ):  # there the next one finds nothing of it: each waits for itself
                plan.absorb_into(picture)
            drafts.append(plan)
            last = now
        return drafts, picture

    async def _hold_for_review(
        self,
        connection: AsyncConnection,
        agent: AgentId,
        items: Sequence[ClassifiedItem],
        drafts: Sequence[Plan | PalimpsestError],
        picture: Chains,
        *,
        dry_run: bool,
    ) -> Outcomes:
        """Nothing is written to memories: each store waits for a person, with what it would do."""
        held: Outcomes = []
        for item, draft in zip(items, drafts, strict=True):
            if isinstance(draft, PalimpsestError):
                held.append(draft)
                continue
            review_id = None if dry_run else uuid7()
            if review_id:
                incoming = Incoming(
                    item.command.fact, item.command.supersedes, item.command.classify
                )
                review = review_from_plan(draft, picture, ReviewSource.FROZEN)
                await reviews.hold_store(
                    connection, agent, review_id, incoming, review, now=draft.now
                )
            held.append(Outcome(draft, None, None, frozen=True, waiting_review_id=review_id))
        return held

    async def _carry_out(
        self,
        connection: AsyncConnection,
        agent: AgentId,
        items: Sequence[ClassifiedItem],
        drafts: Sequence[Plan | PalimpsestError],
        picture: Chains,
        request: CallInfo,
        *,
        dry_run: bool,
    ) -> Outcomes:
        plans = [draft for draft in drafts if isinstance(draft, Plan)]
        hinted = await find_plan_hints(connection, agent, plans, picture)
        logged = await self._apply_plans(connection, agent, plans, items, request)
        written = iter(
            zip(
                logged,
                hinted,
                await relationships.find_made_stale(connection, agent, plans),
                strict=True,
            )
        )
        stored = await self._read_back(connection, agent, plans, picture, items)
        return [
            draft
            if isinstance(draft, PalimpsestError)
            else _build_outcome(draft, *next(written), item, stored, dry_run=dry_run)
            for draft, item in zip(drafts, items, strict=True)
        ]

    def _plan_one(self, item: ClassifiedItem, picture: Chains, now: datetime) -> Plan:
        fact, command, policy = item.fact, item.command, self._rules.policy
        if command.supersedes:
            plan = plan_supersede(
                fact, command.supersedes, picture, policy, now=now, new_id=item.new_id
            )
            return replace(plan, settled=command.settles)
        classify = item.tier is not Classify.OFF
        certain = rules.judge_fact(
            fact, picture, fact.valid_from or now, classify=classify, fuzzy=self._rules.fuzzy
        )
        moved = _find_moved(item, picture)
        said = [j for j in item.verdict.judgments if j.memory_id not in moved]
        plan = plan_store(
            fact,
            picture,
            [*certain, *said],
            policy,
            now=now,
            new_id=item.new_id,
            classify=classify,
            merged=item.merged,
            retracts=item.verdict.retracts,
        )
        look_again = MOVED if moved else item.verdict.look_again
        if self._is_left_open(item, picture):
            look_again = "stored without comparing it with its slot"
        asked, settles = item.verdict.model_cost, command.settles
        return mark_for_another_look(
            replace(plan, model_cost=asked, settled=settles) if asked or settles else plan,
            look_again,
            policy,
        )

    def _is_left_open(self, item: ClassifiedItem, picture: Chains) -> bool:
        """Whether a fact that nobody judges, because the settings say so, comes into a slot that holds something: then the sweep compares
        them, right after. Who says so in the call wants it left alone for now."""
        unjudged = (
            item.tier is Classify.OFF and item.command.classify is None and self._rules.looks_again
        )
        return unjudged and item.fact.one_value and bool(picture.find_value_chains(item.fact.slot))

    async def _apply_plans(
        self,
        connection: AsyncConnection,
        agent: AgentId,
        plans: Sequence[Plan],
        items: Sequence[ClassifiedItem],
        request: CallInfo,
    ) -> list[LoggedPlan]:
        vectors = {item.new_id: item.vector for item in items}
        vectors |= {
            item.merged.new_id: item.merged_vector
            for item in items
            if item.merged and item.merged_vector is not None
        }
        return await apply.apply_plans(
            connection,
            agent,
            plans,
            vectors=vectors,
            language=self._rules.language_oid,
            request=request,
        )

    async def _read_back(
        self,
        connection: AsyncConnection,
        agent: AgentId,
        plans: Sequence[Plan],
        picture: Chains,
        items: Sequence[ClassifiedItem],
    ) -> dict[UUID, Memory]:
        """The memories to answer with, and those judged without being neighbours. What was inserted is known without reading it."""
        inserted = list_inserted_memories(plans, picture)
        near = {hit.memory.id for item in items for hit in item.hits}
        wanted = {plan.target for plan in plans if plan.target} | {
            j.memory_id for plan in plans for j in plan.judgments
        } - near
        wanted -= inserted.keys()
        if not wanted:
            return inserted
        page = await memories.find_memories(connection, agent, list(wanted), Point())
        return inserted | {memory.id: memory for memory in page.memories}


def _get_single_outcome(outcomes: Outcomes) -> Outcome:
    [outcome] = outcomes
    if isinstance(outcome, PalimpsestError):
        raise outcome
    return outcome


def _find_moved(item: ClassifiedItem, picture: Chains) -> set[UUID]:
    """The memories that the judges' word may touch and that are no longer as they saw them."""
    seen = item.seen_revisions
    return {
        i
        for i in item.affected_ids
        if not picture.has_version(i) or picture.get_version(i).revision != seen.get(i)
    }


def _build_outcome(
    plan: Plan,
    written: LoggedPlan,
    hinted: tuple[Hint, ...],
    stale: tuple[StaleMemory, ...],
    item: ClassifiedItem,
    stored: Mapping[UUID, Memory],
    *,
    dry_run: bool,
) -> Outcome:
    judged = _pick_first_judgments(plan.judgments)
    near = [
        ComparedMemory(hit.memory, hit.scores.get("vector"), judged.pop(hit.memory.id, None))
        for hit in item.hits
    ]
    first = [
        ComparedMemory(stored[memory_id], None, judgment)
        for memory_id, judgment in judged.items()
        if memory_id in stored
    ]
    memory = stored[plan.target] if plan.target else None
    return Outcome(plan, None if dry_run else written, memory, (*first, *near), hinted, stale=stale)


def _pick_first_judgments(judgments: Iterable[Judgment]) -> dict[UUID, Judgment]:
    """What is told of each candidate: the first judgment on it, rules before signals before the model."""
    told: dict[UUID, Judgment] = {}
    for judgment in judgments:
        told.setdefault(judgment.memory_id, judgment)
    return told
