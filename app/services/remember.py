"""Storing facts: date, judge, then plan and apply under the lock of the agent, commit, answer."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from app.classification import rules
from app.domain.agent import Mode
from app.domain.chains import Chains
from app.domain.errors import NoModel, PalimpsestError
from app.domain.relation import Classify, Judge, Judgment, Operation
from app.domain.version import Memory
from app.extraction.fact_splitter import FactSplitter
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
from app.services.parts import TextOutcome, TextOutcomes, join_parts, split_command
from app.services.repetitions import RepeatedFacts
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
Result = TypeVar("Result")

# A condition of the caller's that has to hold under the agent's lock. It raises if it does not.
Check = Callable[[AgentWrite[Outcomes]], Awaitable[None]]

# Whatever a caller writes about the outcomes, in the transaction of the facts.
Record = Callable[[AgentWrite[Outcomes], Outcomes], Awaitable[None]]


class BatchRefused(PalimpsestError):
    """Nothing of an atomic batch was stored, because an item of it cannot be stored."""

    def __init__(self, problems: Mapping[int, PalimpsestError]) -> None:
        super().__init__("The batch is atomic, so nothing was stored.")
        self.problems = problems


class Remember:
    """Stores texts, whole or as their parts, and facts.

    No connection is held while the encoder or a model runs.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        splitter: FactSplitter,
        dater: FactDater,
        classifier: Classifier,
        settings: StoreSettings,
        setup: WriteSetup,
    ) -> None:
        self._engine = engine
        self._splitter = splitter
        self._dater = dater
        self._classifier = classifier
        self._settings = settings
        self._setup = setup

    async def store_text(
        self, call: Call[TextOutcome], command: StoreCommand, *, dry_run: bool = False
    ) -> TextOutcome:
        """Store a text, all of its parts or none. Raises what planning a part raises."""
        try:
            outcomes = await self.store_texts(
                call.with_conversion(_get_single), [command], atomic=True, dry_run=dry_run
            )
        except BatchRefused as refused:
            raise refused.problems[0] from None
        return _get_single(outcomes)

    async def store_texts(
        self,
        call: Call[TextOutcomes],
        commands: Sequence[StoreCommand],
        *,
        atomic: bool = False,
        dry_run: bool = False,
        is_history: bool = False,
    ) -> TextOutcomes:
        """Store texts in order, in one transaction, as `store_facts` stores facts.

        A text of which no part can be stored is answered with its error. BatchRefused names texts
        by their place.
        """
        texts = await asyncio.gather(*(split_command(each, self._splitter) for each in commands))

        def join_outcomes(outcomes: Outcomes) -> TextOutcomes:
            return join_parts(texts, outcomes)

        try:
            outcomes = await self.store_facts(
                call.with_conversion(join_outcomes),
                [part.command for parts in texts for part in parts],
                atomic=atomic,
                dry_run=dry_run,
                is_history=is_history,
            )
        except BatchRefused as refused:
            text_places = [place for place, parts in enumerate(texts) for _ in parts]
            problems: dict[int, PalimpsestError] = {}
            for part_place, problem in refused.problems.items():
                problems.setdefault(text_places[part_place], problem)
            raise BatchRefused(problems) from None
        return join_outcomes(outcomes)

    async def store_fact(
        self,
        call: Call[Outcome],
        command: StoreCommand,
        *,
        dry_run: bool = False,
        check: Check | None = None,
    ) -> Outcome:
        """Store one fact. Raises what planning the fact raises."""
        outcomes = await self.store_facts(
            call.with_conversion(_get_single), [command], dry_run=dry_run, check=check
        )
        return _get_single(outcomes)

    async def store_facts(
        self,
        call: Call[Outcomes],
        commands: Sequence[StoreCommand],
        *,
        atomic: bool = False,
        dry_run: bool = False,
        is_history: bool = False,
        check: Check | None = None,
        record: Record | None = None,
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
        dated = await self._dater.date_commands(call.agent, commands)
        items = await self._classifier.classify_batch(payer, dated)
        for looks_left in reversed(range(MOST_LOOKS)):
            # A frozen agent is not refused: each of its stores waits as a review.
            async with agent_write(
                self._engine,
                call,
                refuse_frozen=False,
                setup=self._setup,
                encoder=self._classifier.encoder,
                dry_run=dry_run,
            ) as write:
                if check:
                    await check(write)
                items = await without_erased(write, items)
                with_news = await find_items_with_news(write, items, self._settings.max_candidates)
                if not with_news or not looks_left:
                    # A sweep will look again at those that missed a near fact.
                    for place in with_news:
                        items[place] = items[place].with_another_look(MET)
                    duration_ms = (time.perf_counter() - started) * 1e3
                    info = replace(call.info, duration_ms=duration_ms)
                    if is_history:
                        write.lift_closure_cap()
                    outcomes = await self._write_items(
                        write, items, info, atomic=atomic, dry_run=dry_run
                    )
                    if is_history:
                        await write.restart_closure_count()
                    if record:
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
        failed = {i: draft for i, draft in enumerate(drafts) if isinstance(draft, PalimpsestError)}
        if atomic and failed:
            raise BatchRefused(failed)
        if write.mode is Mode.FROZEN:
            return await self._hold_for_review(write, items, drafts, info, dry_run=dry_run)
        texts = {hit.memory.id: hit.memory.fact.content for item in items for hit in item.hits}
        await write.apply(collect_vectors(items), info=info, texts=texts)
        return await _read_outcomes(write, items, drafts)

    async def _plan_items(
        self, write: AgentWrite[Outcomes], items: Sequence[ClassifiedItem]
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
        """Note in the plan what the rules and the judges proposed and the plan does not do."""
        verdict = item.verdict
        by_rules = [each for each in plan.judgments if each.decided_by is Judge.RULE]
        judging = Judging(
            judgments=(*by_rules, *verdict.judgments),
            moved=_find_moved(item, chains),
            gate_closed=verdict.gate_closed,
            failure=verdict.look_again,
            compared=item.tier not in (Classify.OFF, Classify.RULES) or item.fact.one_value,
        )
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
            source = ReviewSource.SHADOW
        elif write.mode is Mode.LIVE and await write.exceeds_closures(plan):
            source = ReviewSource.CAP
        else:
            return plan
        question = plan_for_review(plan, item.fact, write.chains, source, new_id=item.new_id)
        if source is ReviewSource.CAP:
            return question.with_reasoning(f"{TOO_MANY_CLOSURES} {question.decision.reasoning}")
        return question

    def _plan_one(self, item: ClassifiedItem, chains: Chains, now: datetime) -> Plan:
        fact, command, policy = item.fact, item.command, self._settings.policy
        if command.supersedes:
            incoming = IncomingFact(fact, item.new_id, corrects=item.corrects)
            plan = plan_supersede(incoming, command.supersedes, chains, policy, now=now)
            return plan.with_settled_review(command.settles)
        classify = item.tier is not Classify.OFF
        start = choose_start(fact, now)
        certain = rules.judge_fact(
            fact, chains, start, classify=classify, fuzzy=self._settings.fuzzy
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
                written, command = next(logged), item.command
                assert written.review_id is not None, "a store of a frozen agent leaves a review"
                incoming = Incoming(
                    command.fact, command.supersedes, command.classify, command.is_episode
                )
                await reviews.hold_store(write.connection, write.agent, written.review_id, incoming)
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


async def _read_outcomes(
    write: AgentWrite[Outcomes], items: Sequence[ClassifiedItem], drafts: Drafts
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
    hints = find_date_hints(item.command.left_open)
    if plan.operation is Operation.ADD and not item.verdict.knows_language:
        hints.append(build_language_hint())
    return hints


def _add_candidates(
    outcome: Outcome, item: ClassifiedItem, stored: Mapping[UUID, Memory]
) -> Outcome:
    """Add what the fact was compared with: what the rules found first, then its neighbours."""
    # The first judgment on each candidate counts: rules come before signals and the model.
    judged: dict[UUID, Judgment] = {}
    for judgment in outcome.plan.judgments:
        judged.setdefault(judgment.memory_id, judgment)
    near: list[ComparedMemory] = []
    for hit in item.hits:
        own = judged.pop(hit.memory.id, None)
        near.append(ComparedMemory(hit.memory, hit.scores.get("vector"), own))
    first: list[ComparedMemory] = []
    for memory_id, judgment in judged.items():
        if memory_id in stored:
            first.append(ComparedMemory(stored[memory_id], None, judgment))
    candidates = (*first, *near)
    return replace(outcome, candidates=candidates) if candidates else outcome


def _find_moved(item: ClassifiedItem, chains: Chains) -> set[UUID]:
    """Return the memories that the verdict may change and that changed since it was given."""
    present = filter(chains.has_version, item.affected_ids)
    return item.find_moved({i: chains.get_version(i).revision for i in present})


def _get_single(outcomes: list[Result | PalimpsestError]) -> Result:
    [outcome] = outcomes
    if isinstance(outcome, PalimpsestError):
        raise outcome
    return outcome
