"""Storing facts: encode, snapshot, judge; then plan and apply under the agent's lock; commit; answer."""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from uuid_utils.compat import uuid7

from app.domain.decide import decide
from app.domain.errors import PalimpsestError
from app.domain.judged import MAX_LINKS, Merged, marked
from app.domain.memory import AgentId, Belief, Fact, Memory, Operation
from app.domain.merging import join, merge_guard
from app.domain.picture import Picture
from app.domain.plan import Plan, Policy, inserted_memories
from app.domain.relation import Classify, Judgment, Relation
from app.domain.signals import derive
from app.domain.storing import plan_store
from app.domain.verbs import plan_supersede
from app.embedding import Embedder
from app.judges import rules
from app.judges.cascade import MAX_READ, Cascade, Verdict, considered
from app.services import metrics
from app.store import reads, writes
from app.store.reads import Filters, Hit, Point, Query
from app.store.rows import Request
from app.store.writes import Written

MAX_MERGED = 16_000
JUDGED_AT_ONCE = 8
_SOME_TIME = datetime(1, 1, 1, tzinfo=UTC)
NEAR_IN_BATCH = 5


@dataclass(frozen=True, slots=True)
class Command:
    """One fact to store. `supersedes` names what it replaces; `classify` says which judges are asked (None = as configured)."""

    fact: Fact
    supersedes: tuple[UUID, ...] = ()
    classify: Classify | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stored memory the fact was compared with; `similarity` is the cosine, `judgment` what was said of it, where anything was."""

    memory: Memory
    similarity: float | None
    judgment: Judgment | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done: the plan, where it was logged (None on a dry run), the memory to answer with, what it was compared with."""

    plan: Plan
    written: Written | None
    memory: Memory | None
    candidates: tuple[Candidate, ...] = ()


class BatchRefused(PalimpsestError):
    """An atomic batch in which an item cannot be stored; nothing was."""

    def __init__(self, problems: Mapping[int, PalimpsestError]) -> None:
        first, problem = next(iter(problems.items()))
        super().__init__(f"Item {first}: {problem} The batch is atomic, so nothing was stored.")
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings that storing depends on."""

    policy: Policy
    classify: Classify
    fuzzy: bool
    max_candidates: int
    min_importance: float
    similarity_floor: float
    language: str
    language_oid: int


@dataclass(frozen=True, slots=True)
class _Item:
    """A command on its way: what it was compared with, what the judges said, and the merge it may lead to."""

    command: Command
    fact: Fact
    tier: Classify
    new_id: UUID
    vector: NDArray[np.float32]
    hits: tuple[Hit, ...] = ()
    verdict: Verdict = field(default_factory=Verdict)
    merged: Merged | None = None
    merged_vector: NDArray[np.float32] | None = None

    @property
    def acting(self) -> set[UUID]:
        """The stored memories that the judges' word may touch."""
        return {j.memory_id for j in self.verdict.judgments if j.relation not in (Relation.NONE, Relation.OVERLAP)}

    @property
    def linked(self) -> list[UUID]:
        """The nearest of the stored memories that it overlaps."""
        return [j.memory_id for j in self.verdict.judgments if j.relation is Relation.OVERLAP][:MAX_LINKS]

    @property
    def seen(self) -> dict[UUID, int]:
        """The revisions that the judges saw."""
        return {hit.memory.id: hit.memory.revision for hit in self.hits}


class Remember:
    """Stores facts. No connection is held while the encoder or a model runs."""

    def __init__(self, engine: AsyncEngine, embedder: Embedder, cascade: Cascade, settings: Rules) -> None:
        self._engine = engine
        self._embedder = embedder
        self._cascade = cascade
        self._rules = settings

    async def store(self, agent: AgentId, command: Command, *, request: Request, dry_run: bool = False) -> Outcome:
        """Stores one fact. Raises what planning it raises."""
        [outcome] = await self.store_all(agent, [command], request=request, dry_run=dry_run)
        if isinstance(outcome, PalimpsestError):
            raise outcome
        return outcome

    async def store_all(
        self, agent: AgentId, commands: Sequence[Command], *, request: Request, atomic: bool = False, dry_run: bool = False
    ) -> list[Outcome | PalimpsestError]:
        """Stores facts in order, in one transaction, each with its own known time. One that cannot be stored fails alone,
        or with all others where `atomic` (BatchRefused)."""
        started = time.perf_counter()
        items = await self._snapshot(agent, await self._encode(commands))
        items = await self._judge(agent, items)
        async with self._engine.connect() as connection, connection.begin() as transaction:
            drafts, picture = await self._plan(connection, agent, items)
            failed = {i: d for i, d in enumerate(drafts) if isinstance(d, PalimpsestError)}
            if failed and atomic:
                raise BatchRefused(failed)
            plans = [draft for draft in drafts if isinstance(draft, Plan)]
            request = replace(request, duration_ms=(time.perf_counter() - started) * 1e3)
            written = iter(await self._apply(connection, agent, plans, items, request))
            stored = await self._read_back(connection, agent, plans, picture, items)
            if dry_run:
                await transaction.rollback()
        metrics.count([] if dry_run else plans)
        return [
            draft if isinstance(draft, PalimpsestError) else _outcome(draft, next(written), item, stored, dry_run=dry_run)
            for draft, item in zip(drafts, items, strict=True)
        ]

    # --- encode, snapshot, judge: nothing is locked ---

    async def _encode(self, commands: Sequence[Command]) -> list[_Item]:
        """Vectors and readings. The encoder's thread leaves this one idle, so the texts are read meanwhile."""
        texts = [command.fact.content for command in commands]
        vectors, read = await asyncio.gather(self._embedder.encode(texts), self._read(commands))
        return [_Item(command, fact, tier, uuid7(), vector) for command, (fact, tier), vector in zip(commands, read, vectors, strict=True)]

    async def _read(self, commands: Sequence[Command]) -> list[tuple[Fact, Classify]]:
        """Each fact with what it was read to be about, and who judges it. A fact that nobody judges is read too where signals
        are on: it is a candidate soon, and readings are kept."""
        read = []
        for command in commands:
            tier = command.classify or self._rules.classify
            reads_it = tier.reads_signals or self._rules.classify.reads_signals
            derived = derive(command.fact) if reads_it and len(command.fact.content) <= MAX_READ else None
            read.append((replace(command.fact, derived=derived) if tier.reads_signals else command.fact, tier))
            await asyncio.sleep(0)  # others get a turn
        return read

    async def _snapshot(self, agent: AgentId, items: Sequence[_Item]) -> list[_Item]:
        """The nearest current memories of each fact to be classified, and those of its category and derived slot."""
        if not self._rules.max_candidates or all(item.tier is Classify.OFF for item in items):
            return list(items)
        async with reads.reading(self._engine) as connection:
            return [item if item.tier is Classify.OFF else replace(item, hits=await self._near(connection, agent, item)) for item in items]

    async def _near(self, connection: AsyncConnection, agent: AgentId, item: _Item) -> tuple[Hit, ...]:
        settings = self._rules
        query = Query(
            item.fact.content,
            item.vector,
            self._embedder.name,
            "hybrid",
            settings.language,
            settings.max_candidates,
            reads.ANY_SCORE,
        )
        hits = (await reads.search(connection, agent, query, Filters(), Point())).hits
        met = {hit.memory.fact.derived.digest for hit in hits if hit.memory.fact.derived}
        if item.fact.category or (item.fact.derived and item.fact.derived.digest not in met):
            known = {hit.memory.id for hit in hits}
            alike = await reads.of_slot_or_category(connection, agent, item.fact)
            hits += [Hit(memory, 0.0, {}) for memory in alike if memory.id not in known]
        return tuple(hits)

    async def _judge(self, agent: AgentId, items: Sequence[_Item]) -> list[_Item]:
        """Each fact judged over what is stored and what the batch before it will write; a few at a time, so that others get a turn."""
        places = asyncio.Semaphore(JUDGED_AT_ONCE)

        async def judged(place: int) -> _Item:
            async with places:
                await asyncio.sleep(0)
                return await self._judge_one(agent, items[place], _mates(items, place))

        return await asyncio.gather(*(judged(place) for place in range(len(items))))

    async def _judge_one(self, agent: AgentId, item: _Item, mates: Sequence[Hit]) -> _Item:
        if item.tier in (Classify.OFF, Classify.RULES) or item.fact.one_value or item.command.supersedes:
            return item
        item = replace(item, hits=(*item.hits, *mates))
        settings = self._rules
        candidates = [
            hit.memory
            for hit in item.hits
            if considered(
                hit.memory,
                hit.scores.get("vector"),
                min_importance=settings.min_importance,
                similarity_floor=settings.similarity_floor,
            )
        ]
        if any(memory.fact.content_hash == item.fact.content_hash for memory in candidates):
            return item  # an equal text is for the rules to decide
        verdict = await self._cascade.judge(agent, item.fact, candidates, item.tier)
        return await self._prepare_merge(replace(item, verdict=verdict), candidates)

    async def _prepare_merge(self, item: _Item, candidates: Sequence[Memory]) -> _Item:
        """The merged text, guarded, and its vector: made before the lock, because encoding takes time."""
        choice = decide(item.verdict.judgments, self._rules.policy.is_sure)
        if choice.operation is not Operation.MERGE or not self._rules.policy.may_merge:
            return item
        stored = next(memory for memory in candidates if memory.id == choice.acts_on[0].memory_id)
        text = _merged_text(item.verdict.merged_text, stored.fact.content, item.fact.content)
        if len(text) > MAX_MERGED:
            return item
        united = replace(stored.fact.united(item.fact, text), merged_from=(stored.id, item.new_id), derived=None)
        [vector] = await self._embedder.encode([text])
        return replace(item, merged=Merged(stored.id, united, uuid7()), merged_vector=vector)

    # --- plan and apply: under the agent's lock ---

    async def _plan(
        self, connection: AsyncConnection, agent: AgentId, items: Sequence[_Item]
    ) -> tuple[list[Plan | PalimpsestError], Picture]:
        """Takes the lock, reads what the facts may touch, and plans each over what the ones before will have written."""
        last = await writes.lock_agent(connection, agent, encoder=self._embedder.name)
        named = {i for item in items for i in (*item.command.supersedes, *item.acting, *item.linked)}
        withdrawable = [i for item in items for i in item.command.supersedes]
        picture, clock = await writes.read_picture(
            connection, agent, facts=[item.fact for item in items], ids=named, withdrawable=withdrawable
        )
        drafts: list[Plan | PalimpsestError] = []
        for item in items:
            now = writes.next_known(clock, last)
            try:
                plan = self._plan_one(item, picture, now)
            except PalimpsestError as problem:
                drafts.append(problem)
                continue
            picture.absorb(plan.versions)
            drafts.append(plan)
            last = now
        return drafts, picture

    def _plan_one(self, item: _Item, picture: Picture, now: datetime) -> Plan:
        fact, command, policy = item.fact, item.command, self._rules.policy
        if command.supersedes:
            return plan_supersede(fact, command.supersedes, picture, policy, now=now, new_id=item.new_id)
        classify = item.tier is not Classify.OFF
        certain = rules.judge(fact, picture, fact.valid_from or now, classify=classify, fuzzy=self._rules.fuzzy)
        moved = _moved(item, picture)
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
        look_again = "memories moved while it was judged" if moved else item.verdict.look_again
        return marked(replace(plan, asked=item.verdict.asked), look_again, policy)

    async def _apply(
        self, connection: AsyncConnection, agent: AgentId, plans: Sequence[Plan], items: Sequence[_Item], request: Request
    ) -> list[Written]:
        vectors = {item.new_id: item.vector for item in items}
        vectors |= {item.merged.new_id: item.merged_vector for item in items if item.merged and item.merged_vector is not None}
        return await writes.apply(connection, agent, plans, vectors=vectors, language=self._rules.language_oid, request=request)

    async def _read_back(
        self, connection: AsyncConnection, agent: AgentId, plans: Sequence[Plan], picture: Picture, items: Sequence[_Item]
    ) -> dict[UUID, Memory]:
        """The memories to answer with, and those judged without being neighbours. What was inserted is known without reading it."""
        inserted = inserted_memories(plans, picture)
        near = {hit.memory.id for item in items for hit in item.hits}
        wanted = {plan.target for plan in plans if plan.target} | {j.memory_id for plan in plans for j in plan.judgments} - near
        wanted -= inserted.keys()
        if not wanted:
            return inserted
        page = await reads.find_memories(connection, agent, list(wanted), Point())
        return inserted | {memory.id: memory for memory in page.memories}


def _mates(items: Sequence[_Item], place: int) -> list[Hit]:
    """The nearest of the facts that the batch will have written before this one."""
    before = [item for item in items[:place] if item.tier is not Classify.OFF]
    if not before:
        return []
    similar = np.stack([item.vector for item in before]) @ items[place].vector
    nearest = np.argsort(-similar, kind="stable")[:NEAR_IN_BATCH]
    return [Hit(_as_memory(before[i]), 0.0, {"vector": float(similar[i])}) for i in nearest]


def _as_memory(item: _Item) -> Memory:
    """A fact of the batch as the memory that it will be, if it is inserted; its dates are made under the lock."""
    fact = item.fact.settled()
    start = fact.valid_from or _SOME_TIME
    return Memory(item.new_id, item.new_id, fact, Belief(start, start), start, 1, None)


def _moved(item: _Item, picture: Picture) -> set[UUID]:
    """The memories that the judges' word may touch and that are no longer as they saw them."""
    seen = item.seen
    return {i for i in item.acting if not picture.has(i) or picture.version(i).revision != seen.get(i)}


def _merged_text(said: str | None, one: str, other: str) -> str:
    """The model's wording where it loses nothing, else both texts joined."""
    return said if said and merge_guard(said, one, other) is None else join(one, other)


def _outcome(plan: Plan, written: Written, item: _Item, stored: Mapping[UUID, Memory], *, dry_run: bool) -> Outcome:
    judged = _strongest(plan.judgments)
    near = [Candidate(hit.memory, hit.scores.get("vector"), judged.pop(hit.memory.id, None)) for hit in item.hits]
    first = [Candidate(stored[memory_id], None, judgment) for memory_id, judgment in judged.items() if memory_id in stored]
    return Outcome(plan, None if dry_run else written, stored[plan.target] if plan.target else None, (*first, *near))


def _strongest(judgments: Iterable[Judgment]) -> dict[UUID, Judgment]:
    """What is told of each candidate: the first judgment on it, rules before signals before the model."""
    told: dict[UUID, Judgment] = {}
    for judgment in judgments:
        told.setdefault(judgment.memory_id, judgment)
    return told
