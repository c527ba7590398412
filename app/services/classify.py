"""What a fact is compared with and what the judges say of it, before anything is locked: encode, snapshot, judge."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from uuid_utils.compat import uuid7

from app.classification.cascade import MAX_READ, Cascade, Verdict, should_consider
from app.classification.merge_text import find_merge_loss, join_texts
from app.classification.signals import derive_fact_slot, prepare_text
from app.domain.agent import AgentId
from app.domain.decide import decide_operation
from app.domain.fact import Fact, StoredFact, merge_facts
from app.domain.policy import Policy
from app.domain.relation import Classify, Operation, Relation
from app.domain.version import Belief, Memory
from app.embedding import Embedder
from app.planning.classified import MAX_LINKS, PreparedMerge
from app.planning.plan import ReviewDecision
from app.store import erasures, memories, search
from app.store.chains import LockedAgent
from app.store.search import ComparisonOptions, Hit

MAX_MERGED = 16_000
MOVED = "memories moved while it was judged"
ENCODED_AT_ONCE = 256
COMPARED_AT_ONCE = 32  # their candidates are taken in without a pause for others
JUDGED_AT_ONCE = 8
NEAR_IN_BATCH = 5
Item = TypeVar("Item")
_SOME_TIME = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class StoreCommand:
    """One fact to store. `supersedes` names what it replaces; `classify` says which judges are asked (None = as configured);
    `settles` is the review that held it back until now."""

    fact: Fact
    supersedes: tuple[UUID, ...] = ()
    classify: Classify | None = None
    settles: ReviewDecision | None = None


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """The settings that storing depends on. `looks_again`: a store marks what it leaves open, so that it is looked at again."""

    policy: Policy
    classify: Classify
    fuzzy: bool
    max_candidates: int
    min_importance: float
    similarity_floor: float
    language: str
    looks_again: bool


@dataclass(frozen=True, slots=True)
class ClassifiedItem:
    """A command on its way: what it was compared with, as known at `seen_at`, what the judges said, and the merge it may lead to."""

    command: StoreCommand
    fact: Fact
    tier: Classify
    new_id: UUID
    vector: NDArray[np.float32]
    hits: tuple[Hit, ...] = ()
    seen_at: datetime | None = None
    verdict: Verdict = field(default_factory=Verdict)
    merged: PreparedMerge | None = None
    merged_vector: NDArray[np.float32] | None = None

    @property
    def affected_ids(self) -> set[UUID]:
        """The stored memories that the judges' word may touch."""
        return {
            j.memory_id
            for j in self.verdict.judgments
            if j.relation not in (Relation.NONE, Relation.OVERLAP)
        }

    @property
    def overlapping_ids(self) -> list[UUID]:
        """The nearest of the stored memories that it overlaps."""
        return [j.memory_id for j in self.verdict.judgments if j.relation is Relation.OVERLAP][
            :MAX_LINKS
        ]

    @property
    def seen_revisions(self) -> dict[UUID, int]:
        """The revisions that the judges saw."""
        return {hit.memory.id: hit.memory.revision for hit in self.hits}

    def drop_erased(self, erased: AbstractSet[UUID]) -> "ClassifiedItem":
        """The item where some of what it was compared with is gone: whatever was said may quote that, so the rules alone decide."""
        if not any(hit.memory.id in erased for hit in self.hits):
            return self
        left = tuple(hit for hit in self.hits if hit.memory.id not in erased)
        verdict = Verdict(look_again="memories were erased while it was judged")
        return replace(self, hits=left, verdict=verdict, merged=None, merged_vector=None)


class BatchNeighbours:
    """The facts of a batch so far, each as the memory that it will be if it is inserted."""

    def __init__(self) -> None:
        self._memories: list[Memory] = []
        self._vectors: list[NDArray[np.float32]] = []

    def add_and_compare(
        self, memories: Sequence[Memory], vectors: Sequence[NDArray[np.float32]]
    ) -> list[list[Hit]]:
        """Add memories, and return for each the nearest few of those before it, nearest first."""
        first = len(self._memories)
        self._memories += memories
        self._vectors += vectors
        similarities = np.stack(vectors) @ np.stack(self._vectors).T
        return [self._find_nearest(row[:place]) for place, row in enumerate(similarities, first)]

    def _find_nearest(self, similarities: NDArray[np.float32]) -> list[Hit]:
        places = list(range(len(similarities)))
        if len(places) > NEAR_IN_BATCH:
            places = np.argpartition(-similarities, NEAR_IN_BATCH)[:NEAR_IN_BATCH].tolist()
        places.sort(key=lambda place: (-similarities[place], place))
        hits: list[Hit] = []
        for place in places:
            scores = {"vector": float(similarities[place])}
            hits.append(Hit(self._memories[place], 0.0, scores))
        return hits


class Classifier:
    """Encodes facts, reads what is near them and asks the judges. No connection is held while the encoder or a model runs."""

    def __init__(
        self, engine: AsyncEngine, embedder: Embedder, cascade: Cascade, rules: StoreSettings
    ) -> None:
        self._engine = engine
        self._embedder = embedder
        self._cascade = cascade
        self._rules = rules

    async def classify_batch(
        self, agent: AgentId, commands: Sequence[StoreCommand]
    ) -> list[ClassifiedItem]:
        """Each fact judged over what is stored and what the batch before it will write. While some facts are judged, the next ones
        are encoded."""
        judged: list[ClassifiedItem] = []
        mates = BatchNeighbours()
        async with aclosing(self._encode_ahead(commands)) as chunks:
            async for items in chunks:
                judged += await self._classify_some(agent, items, mates)
        return judged

    async def _encode_ahead(
        self, commands: Sequence[StoreCommand]
    ) -> AsyncGenerator[list[ClassifiedItem], None]:
        """The facts with vectors and readings, some at a time. The next ones are begun before these are given out."""
        chunks = _split_chunks(commands, ENCODED_AT_ONCE)
        ahead = asyncio.ensure_future(self._encode_and_derive(next(chunks)))
        try:
            for chunk in chunks:
                items = await ahead
                ahead = asyncio.ensure_future(self._encode_and_derive(chunk))
                yield items
            yield await ahead
        finally:
            ahead.cancel()

    async def _encode_and_derive(self, commands: Sequence[StoreCommand]) -> list[ClassifiedItem]:
        """Vectors and readings. The encoder's thread leaves this one idle, so the texts are read meanwhile."""
        encoding = asyncio.ensure_future(
            self._embedder.encode([command.fact.content for command in commands])
        )
        try:
            read = await self._derive_slots(commands, encoding)
            vectors = await encoding
        finally:
            encoding.cancel()
        return [
            ClassifiedItem(command, fact, tier, uuid7(), vector)
            for command, (fact, tier), vector in zip(commands, read, vectors, strict=True)
        ]

    async def _derive_slots(
        self, commands: Sequence[StoreCommand], encoding: "asyncio.Future[NDArray[np.float32]]"
    ) -> list[tuple[Fact, Classify]]:
        """Each fact with what it was read to be about, and who judges it. A fact that nobody judges is read too where signals
        are on and there is time: it is a candidate soon, and readings are kept."""
        read = []
        for command in commands:
            fact, tier = command.fact, command.classify or self._rules.classify
            ahead_of_time = self._rules.classify.reads_signals and not encoding.done()
            if (tier.reads_signals or ahead_of_time) and len(fact.content) <= MAX_READ:
                prepare_text(fact.content)
                if tier.reads_signals and (derived := derive_fact_slot(fact)):
                    fact = replace(fact, derived=derived)
                await asyncio.sleep(0)  # others get a turn
            read.append((fact, tier))
        return read

    async def _classify_some(
        self, agent: AgentId, items: Sequence[ClassifiedItem], mates: BatchNeighbours
    ) -> Sequence[ClassifiedItem]:
        """Those to be classified compared and judged, a few at a time, so that others get a turn."""
        undecided = [item for item in items if item.tier is not Classify.OFF]
        if not undecided:
            return items
        near = mates.add_and_compare(
            [_memory_from_item(item) for item in undecided], [item.vector for item in undecided]
        )
        places = asyncio.Semaphore(JUDGED_AT_ONCE)

        async def classify_in_turn(item: ClassifiedItem, mates: Sequence[Hit]) -> ClassifiedItem:
            async with places:
                await asyncio.sleep(0)
                return await self.classify_one(agent, item, mates)

        done = iter(
            await asyncio.gather(
                *map(classify_in_turn, await self._read_candidates(agent, undecided), near)
            )
        )
        return [item if item.tier is Classify.OFF else next(done) for item in items]

    async def _read_candidates(
        self, agent: AgentId, items: Sequence[ClassifiedItem]
    ) -> Sequence[ClassifiedItem]:
        """The nearest current memories of each fact, and those of its category and derived slot."""
        rules = self._rules
        if not rules.max_candidates:
            return items
        comparing = ComparisonOptions(self._embedder.name, rules.language, rules.max_candidates)
        compared: list[ClassifiedItem] = []
        async with memories.open_read_connection(self._engine) as connection:
            for some in _split_chunks(items, COMPARED_AT_ONCE):
                facts, vectors = [item.fact for item in some], [item.vector for item in some]
                moment, hits = await search.find_candidates(
                    connection, agent, facts, vectors, comparing
                )
                compared += [
                    replace(item, hits=tuple(near), seen_at=moment.known_at)
                    for item, near in zip(some, hits, strict=True)
                ]
        return compared

    async def classify_one(
        self, agent: AgentId, item: ClassifiedItem, mates: Sequence[Hit] = ()
    ) -> ClassifiedItem:
        """The item with the judges' word on what it was compared with, and on these others of its batch."""
        if (
            item.tier in (Classify.OFF, Classify.RULES)
            or item.fact.one_value
            or item.command.supersedes
        ):
            return item
        item = replace(item, hits=(*item.hits, *mates))
        settings = self._rules
        candidates = [
            hit.memory
            for hit in item.hits
            if should_consider(
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

    async def _prepare_merge(
        self, item: ClassifiedItem, candidates: Sequence[Memory]
    ) -> ClassifiedItem:
        """The merged text, guarded, and its vector: made before the lock, because encoding takes time."""
        choice = decide_operation(item.verdict.judgments, self._rules.policy.is_sure)
        if choice.operation is not Operation.MERGE or not self._rules.policy.may_merge:
            return item
        stored = next(memory for memory in candidates if memory.id == choice.acts_on[0].memory_id)
        text = _choose_merged_text(item.verdict.merged_text, stored.fact.content, item.fact.content)
        if len(text) > MAX_MERGED:
            return item
        united = replace(
            merge_facts(stored.fact, StoredFact.from_fact(item.fact), text),
            merged_from=(stored.id, item.new_id),
            derived=None,
        )
        [vector] = await self._embedder.encode([text])
        return replace(item, merged=PreparedMerge(stored.id, united, uuid7()), merged_vector=vector)


async def without_erased(
    connection: AsyncConnection, agent: AgentId, items: Sequence[ClassifiedItem], lock: LockedAgent
) -> Sequence[ClassifiedItem]:
    """The items without what was erased since their snapshot: it may be neither acted on nor told."""
    if lock.last_erased_at is None or all(
        item.seen_at is None or item.seen_at >= lock.last_erased_at for item in items
    ):
        return items
    near = {hit.memory.id for item in items for hit in item.hits}
    erased = await erasures.find_erased_ids(connection, agent, list(near))
    return [item.drop_erased(erased) for item in items]


def collect_vectors(items: Sequence[ClassifiedItem]) -> dict[UUID, NDArray[np.float32]]:
    """Return the embeddings of the facts and of the merges that they may lead to, by new id."""
    vectors = {item.new_id: item.vector for item in items}
    for item in items:
        if item.merged and item.merged_vector is not None:
            vectors[item.merged.new_id] = item.merged_vector
    return vectors


def _split_chunks(sequence: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    return (sequence[start : start + size] for start in range(0, len(sequence), size))


def _memory_from_item(item: ClassifiedItem) -> Memory:
    """A fact of the batch as the memory that it will be, if it is inserted; its dates are made under the lock."""
    fact = StoredFact.from_fact(item.fact)
    start = fact.valid_from or _SOME_TIME
    return Memory(item.new_id, item.new_id, fact, Belief(start, start), start, 1, None)


def _choose_merged_text(model_text: str | None, one: str, other: str) -> str:
    """The model's wording where it loses nothing, else both texts joined."""
    return (
        model_text
        if model_text and find_merge_loss(model_text, one, other) is None
        else join_texts(one, other)
    )
