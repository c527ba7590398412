"""Storing facts: date, judge, then plan and apply under the lock of the agent, commit, answer."""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from app.classification import rules
from app.domain.agent import Mode
from app.domain.chains import Chains
from app.domain.errors import NoModel, PalimpsestError
from app.domain.relation import Classify, Judge, Judgment, Operation
from app.domain.version import Memory
from app.embedding import Embedder
from app.planning.building_blocks import choose_start
from app.planning.explicit import plan_supersede
from app.planning.hints import Hint, build_language_hint, find_date_hints
from app.planning.not_done import Judging, explain_plan
from app.planning.plan import TOO_MANY_CLOSURES, IncomingFact, Plan, ReviewSource
from app.planning.questions import mark_for_another_look
from app.planning.reviews import hold_plan, plan_for_review
from app.planning.store import plan_store
from app.remote.budget import Payer
from app.services.agent_write import (
    AgentWrite,
    Call,
    ComparedMemory,
    Outcome,
    WriteSetup,
    agent_write,
)
from app.services.classify import (
    MET,
    MOVED,
    ClassifiedItem,
    Classifier,
    StoreCommand,
    StoreSettings,
    collect_vectors,
    find_items_with_news,
    without_erased,
)
from app.services.dating import FactDater
from app.services.repetitions import RepeatedFacts
from app.store.apply import LoggedPlan
from app.store.chains import list_starts
from app.store.log.state import Incoming
from app.store.reviews import reviews
from app.store.rows import CallInfo
from app.turns import iterate_in_turns

# Judges look at a fact so often while other facts that are near to it become known. After that the
# fact is stored, and a sweep looks at it again: a crowd of writers must not judge without end.
MOST_LOOKS = 4

# Larger batches read long chains whole. Each fact asks for parts that grow with the batch.
MAX_NEAR = 20

# Of a slot with many versions, a store looks at so many chains. A single-valued slot has more than
# one only if facts came unclassified or with falling trust.
MOST_CHAINS = 100

Outcomes = list[Outcome | PalimpsestError]
Drafts = list[Plan | PalimpsestError]

# A condition of the caller's that has to hold under the agent's lock. It raises if it does not.
Check = Callable[[AgentWrite[Outcomes]], Awaitable[None]]


async def _check_nothing(_write: AgentWrite[Outcomes]) -> None: ...


# Whatever a caller writes about the outcomes, in the transaction of the facts.
Record = Callable[[AgentWrite[Outcomes], Outcomes], Awaitable[None]]


async def record_nothing(_write: AgentWrite[Outcomes], _outcomes: Outcomes) -> None: ...


class BatchRefused(PalimpsestError):
    """Nothing of an atomic batch was stored, because an item of it cannot be stored."""

    def __init__(self, problems: Mapping[int, PalimpsestError]) -> None:
        super().__init__("The batch is atomic, so nothing was stored.")
        self.problems = problems


class Remember:
    """Stores facts. No connection is held while the encoder or a model runs."""

    def __init__(
        self,
        engine: AsyncEngine,
        embedder: Embedder,
        dater: FactDater,
        classifier: Classifier,
        settings: StoreSettings,
        setup: WriteSetup,
    ) -> None:
        self._engine = engine
        self._embedder = embedder
        self._dater = dater
        self._classifier = classifier
        self._settings = settings
        self._setup = setup

    async def store(
        self,
        call: Call[Outcome],
        command: StoreCommand,
        *,
        dry_run: bool = False,
        check: Check = _check_nothing,
    ) -> Outcome:
        """Store one fact. Raises what planning the fact raises."""
        outcomes = await self.store_all(
            call.with_conversion(_get_single_outcome),
            [command],
            dry_run=dry_run,
            check=check,
        )
        return _get_single_outcome(outcomes)

    async def store_all(
        self,
        call: Call[Outcomes],
        commands: Sequence[StoreCommand],
        *,
        atomic: bool = False,
        dry_run: bool = False,
        is_history: bool = False,
        check: Check = _check_nothing,
        record: Record = record_nothing,
    ) -> Outcomes:
        """Store facts in order, in one transaction, each with its own known time.

        A fact that cannot be stored is answered with its error, and the others are stored. If the
        batch is `atomic`, BatchRefused is raised instead. Judges may end as many memories as they
        find if the facts are a history that the caller vouches for. `check` may raise, and stops
        all of it. `record` writes about the outcomes before the transaction ends. Raises NoModel.
        """
        started = time.perf_counter()
        self._check_tiers(commands)
        payer = Payer(call.agent, call.info.actor)
        items: Sequence[ClassifiedItem]
        dated = await self._dater.date_commands(call.agent, commands)
        items = await self._classifier.classify_batch(payer, dated)
        for looks_left in reversed(range(MOST_LOOKS)):
            # A frozen agent is not refused: each of its stores waits as a review.
            async with agent_write(
                self._engine,
                call,
                refuse_frozen=False,
                setup=self._setup,
                encoder=self._embedder.name,
                dry_run=dry_run,
            ) as write:
                await check(write)
                items = await without_erased(write.connection, call.agent, items, write.locked)
                with_news = await find_items_with_news(
                    write.connection,
                    call.agent,
                    items,
                    write.locked,
                    self._settings.max_candidates,
                )
                if not with_news or not looks_left:
                    items = _mark_items_with_news(items, with_news)
                    duration_ms = (time.perf_counter() - started) * 1e3
                    info = replace(call.info, duration_ms=duration_ms)
                    if is_history:
                        write.lift_closure_cap()
                    outcomes = await self._write_items(
                        write, items, info, atomic=atomic, dry_run=dry_run
                    )
                    if is_history:
                        await write.restart_closure_count()
                    await record(write, outcomes)
                    await write.keep(outcomes)
                    break
            # Nothing is locked while the judges are asked again.
            items = await self._classifier.judge_again(payer, items, with_news)
        return outcomes

    def _check_tiers(self, commands: Sequence[StoreCommand]) -> None:
        """Raise NoModel if a caller insists on a model that is not there.

        A fact that waited in a review is stored all the same, and a sweep looks at it again.
        """
        if self._settings.has_model:
            return
        if any(each.classify is Classify.MODEL and not each.settles for each in commands):
            raise NoModel

    async def _write_items(
        self,
        write: AgentWrite[Outcomes],
        items: Sequence[ClassifiedItem],
        info: CallInfo,
        *,
        atomic: bool,
        dry_run: bool,
    ) -> Outcomes:
        drafts = await self._plan_items(write, items)
        _refuse_batch(drafts, atomic=atomic)
        if write.mode is Mode.FROZEN:
            return await self._hold_for_review(write, items, drafts, info, dry_run=dry_run)
        await write.apply(collect_vectors(items), info=info, texts=_list_texts(items))
        return await _read_outcomes(write, items, drafts)

    async def _plan_items(
        self,
        write: AgentWrite[Outcomes],
        items: Sequence[ClassifiedItem],
    ) -> Drafts:
        """Plan each fact over what the facts before it will have written."""
        withdrawable: list[UUID] = []
        named: set[UUID] = set()
        for item in items:
            withdrawable += item.command.supersedes
            named.update(item.command.supersedes, item.affected_ids, item.overlapping_ids)
        facts = [item.fact for item in items]
        # A date in words may lie far back, and everything told since then matters.
        is_dated = any(fact.dated_by for fact in facts)
        if withdrawable or is_dated or len(items) > MAX_NEAR:
            await write.read_chains(facts=facts, ids=list(named), withdrawable=withdrawable)
        else:
            await write.read_near_chains(
                [starting for fact in facts for starting in list_starts(fact)],
                ids=list(named),
                compared=True,
                reach=len(facts) + 1,
                most_chains=MOST_CHAINS,
            )
        drafts: Drafts = []
        repeated = RepeatedFacts(write)
        async for item in iterate_in_turns(items):
            try:
                plan = self._plan_one(item, write.chains, write.next_known_time())
                plan = await self._plan_in_mode(await repeated.join(plan, item.fact), item, write)
                plan = self._explain(plan, item, write.chains)
            except PalimpsestError as problem:
                drafts.append(problem)
                continue
            drafts.append(plan)
            if write.mode is Mode.FROZEN:
                # Each store waits for itself: the next one must not rely on this one.
                write.use_known_time(plan.now)
            else:
                write.add_plan(plan)
                repeated.note_plan(plan)
        return drafts

    def _explain(self, plan: Plan, item: ClassifiedItem, chains: Chains) -> Plan:
        """Note in the plan what judges proposed and the plan does not do."""
        judging = _collect_judging(item, plan, chains)
        return explain_plan(plan, judging, chains, self._settings.policy)

    async def _plan_in_mode(
        self, plan: Plan, item: ClassifiedItem, write: AgentWrite[Outcomes]
    ) -> Plan:
        """Return the plan as the agent's mode allows it.

        A change becomes a review in shadow mode, and if judges have ended too many memories,
        unless a person accepted it.
        """
        if item.command.settles:
            return plan
        if write.mode is Mode.SHADOW:
            return _ask_instead(plan, item, write, ReviewSource.SHADOW)
        if write.mode is Mode.LIVE and await write.exceeds_closures(plan):
            question = _ask_instead(plan, item, write, ReviewSource.CAP)
            return question.with_reasoning(f"{TOO_MANY_CLOSURES} {question.decision.reasoning}")
        return plan

    def _plan_one(
        self,
        item: ClassifiedItem,
        chains: Chains,
        now: datetime,
    ) -> Plan:
        fact, command, policy = item.fact, item.command, self._settings.policy
        if command.supersedes:
            incoming = IncomingFact(fact, item.new_id, corrects=item.corrects)
            plan = plan_supersede(
                incoming,
                command.supersedes,
                chains,
                policy,
                now=now,
            )
            return plan.with_settled_review(command.settles)
        classify = item.tier is not Classify.OFF
        start = choose_start(fact, now)
        certain = rules.judge_fact(
            fact,
            chains,
            start,
            classify=classify,
            fuzzy=self._settings.fuzzy,
        )
        moved = _find_moved(item, chains)
        judged = [j for j in item.verdict.judgments if j.memory_id not in moved]
        incoming = IncomingFact(
            fact=fact,
            new_id=item.new_id,
            judgments=(*certain, *judged),
            classify=classify,
            merged=item.merged,
            rewritten=item.rewritten,
            retracts=item.verdict.retracts,
            corrects=item.corrects,
            same_dates=item.same_dates,
            is_episode=command.is_episode,
            may_end_stated=command.may_end_stated,
            forgets=item.command_to_forget is not None,
        )
        plan = plan_store(incoming, chains, policy, now=now)
        plan = plan.with_model_cost(item.verdict.model_cost).with_settled_review(command.settles)
        look_again = MOVED if moved else item.verdict.look_again
        if self._is_left_open(item, chains):
            look_again = "stored without comparing it with its slot"
        return mark_for_another_look(plan, look_again, policy)

    async def _hold_for_review(
        self,
        write: AgentWrite[Outcomes],
        items: Sequence[ClassifiedItem],
        drafts: Drafts,
        info: CallInfo,
        *,
        dry_run: bool,
    ) -> Outcomes:
        """Make each store a review with what it would do. No memory is written, only the log."""
        for item, draft in zip(items, drafts, strict=True):
            if isinstance(draft, Plan):
                hold = hold_plan(draft, item.fact, write.chains)
                write.add_plan(self._explain(hold, item, write.chains))
        logged = iter(await write.apply(info=info))
        outcomes: Outcomes = []
        for item, draft in zip(items, drafts, strict=True):
            if isinstance(draft, PalimpsestError):
                outcomes.append(draft)
                continue
            outcome = Outcome(draft, None, None, frozen=True)
            if not dry_run:
                written = next(logged)
                await _hold_store(write, item.command, written)
                outcome = replace(outcome, written=written, waiting_review_id=written.review_id)
            outcomes.append(outcome.with_hints(_find_hints(item, draft)))
        return outcomes

    def _is_left_open(self, item: ClassifiedItem, chains: Chains) -> bool:
        """Return True if nobody judged the fact and its slot already holds something.

        The sweep then compares them. A caller's own `classify: false` is respected; only a fact
        left unjudged by settings is swept.
        """
        left_by_settings = item.tier is Classify.OFF and item.command.classify is None
        if not (left_by_settings and self._settings.looks_again and item.fact.one_value):
            return False
        return bool(chains.find_value_chains(item.fact.slot))


def _mark_items_with_news(
    items: Sequence[ClassifiedItem], with_news: AbstractSet[int]
) -> Sequence[ClassifiedItem]:
    """Return the items; a sweep will look again at those that missed a near fact."""
    return [
        item.with_another_look(MET) if place in with_news else item
        for place, item in enumerate(items)
    ]


def _collect_judging(item: ClassifiedItem, plan: Plan, chains: Chains) -> Judging:
    """Return how the item was judged: by the rules, under the lock, and by judges before it."""
    verdict = item.verdict
    by_rules = [each for each in plan.judgments if each.decided_by is Judge.RULE]
    is_compared = item.tier not in (Classify.OFF, Classify.RULES) or item.fact.one_value
    return Judging(
        judgments=(*by_rules, *verdict.judgments),
        moved=_find_moved(item, chains),
        gate_closed=verdict.gate_closed,
        failure=verdict.look_again,
        compared=is_compared,
    )


def _ask_instead(
    plan: Plan, item: ClassifiedItem, write: AgentWrite[Outcomes], source: ReviewSource
) -> Plan:
    """Return the plan that stores the fact apart and asks a person about the changes."""
    return plan_for_review(plan, item.fact, write.chains, source, new_id=item.new_id)


async def _hold_store(
    write: AgentWrite[Outcomes], command: StoreCommand, written: LoggedPlan
) -> None:
    assert written.review_id is not None, "a store of a frozen agent leaves a review"
    incoming = Incoming(command.fact, command.supersedes, command.classify, command.is_episode)
    await reviews.hold_store(write.connection, write.agent, written.review_id, incoming)


def _list_texts(items: Iterable[ClassifiedItem]) -> dict[UUID, str]:
    """Return the texts of the stored memories that the items were compared with."""
    return {hit.memory.id: hit.memory.fact.content for item in items for hit in item.hits}


def _refuse_batch(drafts: Drafts, *, atomic: bool) -> None:
    """Raise BatchRefused if an item of an atomic batch cannot be stored."""
    if not atomic:
        return
    failed = {i: draft for i, draft in enumerate(drafts) if isinstance(draft, PalimpsestError)}
    if failed:
        raise BatchRefused(failed)


async def _read_outcomes(
    write: AgentWrite[Outcomes],
    items: Sequence[ClassifiedItem],
    drafts: Drafts,
) -> Outcomes:
    near = {hit.memory.id for item in items for hit in item.hits}
    judged: set[UUID] = set()
    for draft in drafts:
        if isinstance(draft, Plan):
            judged.update(judgment.memory_id for judgment in draft.judgments)
    stored = await write.read_back(judged - near)
    written = iter(await write.read_outcomes(hinted=True, stored=stored))
    outcomes: Outcomes = []
    for item, draft in zip(items, drafts, strict=True):
        if isinstance(draft, PalimpsestError):
            outcomes.append(draft)
        else:
            outcome = _add_candidates(next(written), item, stored)
            outcomes.append(outcome.with_hints(_find_hints(item, draft)))
    return outcomes


def _find_hints(item: ClassifiedItem, plan: Plan) -> list[Hint]:
    """Return what the caller should know about the words of the fact."""
    hints = find_date_hints(item.command.left_open)
    if plan.operation is Operation.ADD and not item.verdict.knows_language:
        hints.append(build_language_hint())
    return hints


def _add_candidates(
    outcome: Outcome,
    item: ClassifiedItem,
    stored: Mapping[UUID, Memory],
) -> Outcome:
    """Add what the fact was compared with: what the rules found first, then its neighbours."""
    judged = _pick_first_judgments(outcome.plan.judgments)
    near: list[ComparedMemory] = []
    for hit in item.hits:
        judgment = judged.pop(hit.memory.id, None)
        near.append(ComparedMemory(hit.memory, hit.scores.get("vector"), judgment))
    first: list[ComparedMemory] = []
    for memory_id, judgment in judged.items():
        if memory_id in stored:
            first.append(ComparedMemory(stored[memory_id], None, judgment))
    candidates = (*first, *near)
    return replace(outcome, candidates=candidates) if candidates else outcome


def _pick_first_judgments(judgments: Iterable[Judgment]) -> dict[UUID, Judgment]:
    """Return the first judgment on each candidate: rules come before signals and the model."""
    first: dict[UUID, Judgment] = {}
    for judgment in judgments:
        first.setdefault(judgment.memory_id, judgment)
    return first


def _get_single_outcome(outcomes: Outcomes) -> Outcome:
    [outcome] = outcomes
    if isinstance(outcome, PalimpsestError):
        raise outcome
    return outcome


def _find_moved(item: ClassifiedItem, chains: Chains) -> set[UUID]:
    """Return the memories that the judges' word may touch and that changed since they saw them."""
    seen = item.seen_revisions
    moved: set[UUID] = set()
    for memory_id in item.affected_ids:
        if not chains.has_version(memory_id) or chains.get_version(memory_id).revision != seen.get(
            memory_id
        ):
            moved.add(memory_id)
    return moved
