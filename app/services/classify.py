"""Classifying facts before anything is locked: encode them, read what is near, ask the judges."""

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncEngine
from uuid_utils.compat import uuid7

from app.classification.cascade import Cascade, ReadFact
from app.classification.local_judges import MAX_READ, should_consider
from app.classification.merge_text import find_merge_loss, join_texts
from app.classification.signals import derive_fact_slot, find_speech, prepare_text
from app.classification.verdict import Candidate, Verdict
from app.domain.agent import AgentId
from app.domain.corrections import is_correction
from app.domain.fact import Fact, StoredFact, merge_facts
from app.domain.forgetting import read_command_to_forget
from app.domain.policy import Policy
from app.domain.relation import (
    Classify,
    ModelCost,
    Operation,
    Relation,
    decide_operation,
)
from app.domain.text import fold
from app.domain.version import Belief, Memory
from app.embedding import Embedder, Vector
from app.networks import get_requester
from app.planning.plan import PreparedMerge, ReviewDecision
from app.planning.questions import MAX_LINKS
from app.remote.budget import Payer
from app.services.agent_indexes import AgentIndexDirectory
from app.services.agent_write import AgentWrite
from app.store import comparison, erasures
from app.store.comparison import ComparisonOptions, JudgedFact
from app.store.engine import connect_for_agent
from app.store.fragments import NEVER
from app.store.ranking import Hit
from app.turns import compute_in_thread, iterate_in_turns, read_in_thread

# "In office until 2027" names the date of "the term ends in 2027".
_UNTIL = re.compile(r"^(?:until|till|through|thru)\s+", re.IGNORECASE)
MAX_MERGED = 16_000
MOVED = "memories moved while it was judged"
MET = "other facts became known while it was judged"
ENCODED_AT_ONCE = 256
# What a fact ends is among the ten nearest in .96 of changes (corpus/lives), and among twenty in
# .98. Only a model sees it there.
WIDER_FOR_MODEL = 2
# The candidates of so many facts are read without letting other tasks run.
COMPARED_AT_ONCE = 32
JUDGED_AT_ONCE = 8
NEAR_IN_BATCH = 5
# The cosine from which what became known meanwhile is worth judging again.
LEAST_NEWS = 0.3
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class StoreCommand:
    """One fact to store.

    `supersedes` names the memories that it replaces. `classify` chooses the judges; None means as
    the settings say. `settles` is the review in which the fact waited until now. If `reads_dates`,
    the words of the fact are read for dates; `left_open` are those of them that stay in doubt.
    `zone` is the one in which they were spoken, if the caller said so.
    `is_episode` is True if the words say that the fact is over. If it `splits`, a text of several
    facts is to be stored as its parts. `may_end_stated` is said of `IncomingFact`.
    """

    fact: Fact
    supersedes: tuple[UUID, ...] = ()
    classify: Classify | None = None
    settles: ReviewDecision | None = None
    reads_dates: bool = False
    zone: tzinfo | None = None
    left_open: tuple[str, ...] = ()
    is_episode: bool = False
    splits: bool = False
    may_end_stated: bool = False


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """The settings that storing depends on.

    Only if there is a model, `has_model`, may a store ask for `Classify.MODEL`. If `looks_again`, a
    store marks what it leaves open, and a sweep looks at it again.
    """

    policy: Policy
    classify: Classify
    has_model: bool
    fuzzy: bool
    max_candidates: int
    min_importance: float
    similarity_floor: float
    language: str
    looks_again: bool


@dataclass(frozen=True, slots=True)
class ClassifiedItem:
    """A command, what it was compared with, and what the judges said.

    `hits` are memories as known at `seen_at`, and facts of the same batch. `merged` is the merge
    that the verdict may lead to, `rewritten` are the texts of memories of which a part changes, and
    `made_vectors` are the embeddings of all of these by their new ids.
    """

    command: StoreCommand
    fact: Fact
    tier: Classify
    new_id: UUID
    vector: Vector
    hits: tuple[Hit, ...] = ()
    seen_at: datetime | None = None
    verdict: Verdict = field(default_factory=Verdict)
    merged: PreparedMerge | None = None
    rewritten: tuple[PreparedMerge, ...] = ()
    made_vectors: Mapping[UUID, Vector] = field(default_factory=dict)

    @property
    def asks_judges(self) -> bool:
        """Return True unless rules alone decide about the fact."""
        is_decided = self.fact.one_value or bool(self.command.supersedes)
        return self.tier not in (Classify.OFF, Classify.RULES) and not is_decided

    @property
    def affected_ids(self) -> set[UUID]:
        """The stored memories that the verdict may change."""
        judgments = self.verdict.judgments
        return {j.memory_id for j in judgments if j.relation.effect.changes_stored}

    @property
    def corrects(self) -> bool:
        """Return True if the text says of itself that it corrects another."""
        return is_correction(self.fact.content)

    @property
    def command_to_forget(self) -> str | None:
        """The command to forget that the text is, in one form, if somebody is to read it."""
        return None if self.tier is Classify.OFF else read_command_to_forget(self.fact.content)

    @property
    def same_dates(self) -> frozenset[UUID]:
        """The compared memories whose words name the date that the words of the fact name."""
        dated_by = self.fact.dated_by
        if dated_by is None:
            return frozenset()
        words = fold(_UNTIL.sub("", dated_by.text))
        return frozenset(h.memory.id for h in self.hits if words in fold(h.memory.fact.content))

    @property
    def overlapping_ids(self) -> list[UUID]:
        """The nearest of the stored memories that the fact overlaps."""
        judgments = self.verdict.judgments
        overlapping = [j.memory_id for j in judgments if j.relation is Relation.OVERLAP]
        return overlapping[:MAX_LINKS]

    def find_moved(self, revisions: Mapping[UUID, int]) -> set[UUID]:
        """Return the memories that the verdict may change and that changed since it was given.

        `revisions` are those of the stored memories now.
        """
        seen = {hit.memory.id: hit.memory.revision for hit in self.hits}
        return {i for i in self.affected_ids if i not in revisions or revisions[i] != seen.get(i)}

    def with_earlier_cost(self, cost: ModelCost | None) -> "ClassifiedItem":
        """Return the item with the cost of a question that was asked about it before."""
        if cost is None:
            return self
        whole = cost.with_later(self.verdict.model_cost) if self.verdict.model_cost else cost
        return replace(self, verdict=replace(self.verdict, model_cost=whole))

    def with_another_look(self, reason: str) -> "ClassifiedItem":
        """Return the item that a sweep will look at again for this reason."""
        return replace(self, verdict=replace(self.verdict, look_again=reason))

    def drop_erased(self, erased: AbstractSet[UUID]) -> "ClassifiedItem":
        """Return the item without erased memories.

        If there are any, the verdict is dropped too, because it may quote them.
        """
        left = tuple(hit for hit in self.hits if hit.memory.id not in erased)
        if len(left) == len(self.hits):
            return self
        verdict = Verdict(look_again="memories were erased while it was judged")
        return replace(self.without_verdict(), hits=left, verdict=verdict)

    def without_verdict(self) -> "ClassifiedItem":
        """Return the item as it was before it was judged."""
        return replace(self, verdict=Verdict(), merged=None, rewritten=(), made_vectors={})


class BatchNeighbours:
    """The facts of a batch so far, each as the memory that it will be if it is inserted."""

    def __init__(self) -> None:
        self._memories: list[Memory] = []
        self._vectors: list[Vector] = []

    def add_and_compare(
        self, memories: Sequence[Memory], vectors: Sequence[Vector]
    ) -> list[list[Hit]]:
        """Add memories, and return for each the nearest few of those before it, nearest first."""
        first = len(self._memories)
        self._memories += memories
        self._vectors += vectors
        similarities = np.stack(vectors) @ np.stack(self._vectors).T
        nearest: list[list[Hit]] = []
        for place, row in enumerate(similarities, first):
            nearest.append(self._find_nearest(row[:place]))
        return nearest

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
    """Encodes facts, reads what is near them and asks the judges.

    No connection is held while the encoder or a model runs.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        embedder: Embedder,
        cascade: Cascade,
        settings: StoreSettings,
        indexes: AgentIndexDirectory,
    ) -> None:
        self.encoder = embedder.name
        self._engine = engine
        self._embedder = embedder
        self._cascade = cascade
        self._settings = settings
        self._indexes = indexes

    async def classify_batch(
        self, payer: Payer, commands: Sequence[StoreCommand]
    ) -> list[ClassifiedItem]:
        """Judge each fact against what is stored and what the batch before it will write.

        While some facts are judged, the next ones are encoded.
        """
        judged: list[ClassifiedItem] = []
        neighbours = BatchNeighbours()
        async with aclosing(self._encode_ahead(commands)) as chunks:
            async for items in chunks:
                undecided = [item for item in items if item.tier is not Classify.OFF]
                if not undecided:
                    judged += items
                    continue
                expected = [_build_expected_memory(i) async for i in iterate_in_turns(undecided)]
                near = await compute_in_thread(
                    partial(neighbours.add_and_compare, expected, [i.vector for i in undecided]),
                    size=len(expected) ** 2,
                )
                compared = await self._read_candidates(payer.agent, undecided)
                by_id = {item.new_id: item for item in await self.judge_all(payer, compared, near)}
                judged += [by_id.get(item.new_id, item) for item in items]
        return judged

    async def _encode_ahead(
        self, commands: Sequence[StoreCommand]
    ) -> AsyncGenerator[list[ClassifiedItem], None]:
        """Yield facts with vectors and derived slots, some at a time, one chunk ahead."""
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
        """Encode facts and derive their slots.

        The encoder runs in a thread of its own, so the texts can be read meanwhile.
        """
        texts = [command.fact.content for command in commands]
        encoding = asyncio.ensure_future(self._embedder.encode(texts))
        try:
            derived = await self._derive_slots(commands, encoding)
            vectors = await encoding
        finally:
            encoding.cancel()
        items: list[ClassifiedItem] = []
        for command, (fact, tier), vector in zip(commands, derived, vectors, strict=True):
            items.append(ClassifiedItem(command, fact, tier, uuid7(), vector))
        return items

    async def _derive_slots(
        self,
        commands: Sequence[StoreCommand],
        encoding: "asyncio.Future[NDArray[np.float32]]",
    ) -> list[tuple[Fact, Classify]]:
        """Return each fact with its derived slot, and the tier of judges that it goes to.

        A fact that no judge sees is prepared too, if signals are on and the encoder is still busy:
        it will soon be a candidate, and what was read of a text is cached.
        """
        signals_on = self._settings.classify.reads_signals
        facts: list[tuple[Fact, Classify]] = []
        async for command in iterate_in_turns(commands):
            fact = command.fact
            tier = command.classify or self._settings.classify
            wanted = tier.reads_signals or (signals_on and not encoding.done())
            if wanted and len(fact.content) <= MAX_READ:
                get_requester().check_presence()
                # Reading a text of the greatest length may take 20 ms.
                text = fact.undated_text
                await read_in_thread(partial(prepare_text, text), [text])
                if tier.reads_signals:
                    fact = _read_signals(fact)
            # The hash of a long text takes 2 ms; it stays with the fact until it is looked up.
            _ = fact.fuzzy_hash
            facts.append((fact, tier))
        return facts

    async def judge_all(
        self,
        payer: Payer,
        items: Sequence[ClassifiedItem],
        neighbours: Sequence[Sequence[Hit]] | None = None,
    ) -> list[ClassifiedItem]:
        """Judge items against their hits and their neighbours from the batch.

        The local judges read some at a time, and the model is asked about several in one call.
        """
        places = asyncio.Semaphore(JUDGED_AT_ONCE)

        async def read_in_turn(item: ClassifiedItem) -> ReadFact | None:
            async with places:
                # Let other tasks run between two facts.
                await asyncio.sleep(0)
                get_requester().check_presence()
                return await self._read_item(item)

        if neighbours is not None:
            pairs = zip(items, neighbours, strict=True)
            items = [replace(item, hits=(*item.hits, *hits)) for item, hits in pairs]
        read = await asyncio.gather(*map(read_in_turn, items))
        verdicts = iter(await self._cascade.decide(payer, [each for each in read if each]))
        judged: list[ClassifiedItem] = []
        for item, by_local in zip(items, read, strict=True):
            if by_local is None:
                judged.append(item)
            else:
                judged.append(await self._prepare_texts(replace(item, verdict=next(verdicts))))
        return judged

    async def _read_candidates(
        self, agent: AgentId, items: Sequence[ClassifiedItem]
    ) -> Sequence[ClassifiedItem]:
        """Add the nearest current memories of each fact, its category and its derived slot."""
        settings = self._settings
        if not settings.max_candidates:
            return items
        limit = settings.max_candidates
        if any(self._cascade.may_ask_model(item.tier) for item in items):
            limit *= WIDER_FOR_MODEL
        options = ComparisonOptions(self.encoder, settings.language, limit)
        compared: list[ClassifiedItem] = []
        index = await self._indexes.find_index(agent)
        async with connect_for_agent(self._engine, agent) as connection:
            for chunk in _split_chunks(items, COMPARED_AT_ONCE):
                facts = [item.fact for item in chunk]
                vectors = [item.vector for item in chunk]
                moment, near = await comparison.find_candidates(
                    connection, agent, facts, vectors, options, index=index
                )
                for item, hits in zip(chunk, near, strict=True):
                    # An agent without a row has no last known time: the moment is then the clock,
                    # and a first write under way may be known earlier, although nobody sees it.
                    seen_at = moment.known_at if hits else NEVER
                    compared.append(replace(item, hits=tuple(hits), seen_at=seen_at))
        return compared

    async def judge_again(
        self, payer: Payer, items: Sequence[ClassifiedItem], places: AbstractSet[int]
    ) -> list[ClassifiedItem]:
        """Return the items, those at these places compared and judged once more."""
        batch = {item.new_id for item in items}
        order = sorted(places)
        with_news = [items[place] for place in order]
        neighbours = [[hit for hit in item.hits if hit.memory.id in batch] for item in with_news]
        unjudged = [item.without_verdict() for item in with_news]
        compared = await self._read_candidates(payer.agent, unjudged)
        again = await self.judge_all(payer, compared, neighbours)
        judged = list(items)
        for place, before, after in zip(order, with_news, again, strict=True):
            judged[place] = after.with_earlier_cost(before.verdict.model_cost)
        return judged

    async def _read_item(self, item: ClassifiedItem) -> ReadFact | None:
        """Return what the local judges read of the item; None if rules decide about it."""
        if not item.asks_judges:
            return None
        hits = [hit for hit in item.hits if self._should_consider(item.fact, hit)]
        if any(hit.memory.fact.content_hash == item.fact.content_hash for hit in hits):
            # The rules decide about an equal text.
            return None
        candidates = [Candidate(hit.memory, hit.scores.get("vector")) for hit in hits]
        read = item.fact
        if command := item.command_to_forget:
            read = replace(read, content=command, dated_by=None)
        return await self._cascade.read(read, candidates, item.tier)

    def _should_consider(self, fact: Fact, hit: Hit) -> bool:
        stored = hit.memory.fact
        # What one sentence says holds together, and was split because it is not one fact.
        if fact.said_in is not None and stored.said_in == fact.said_in:
            return False
        differs_in_spelling = (
            not self._settings.fuzzy
            and stored.fuzzy_hash == fact.fuzzy_hash
            and stored.content_hash != fact.content_hash
        )
        if differs_in_spelling:
            return False
        return should_consider(
            hit.memory,
            hit.scores.get("vector"),
            min_importance=self._settings.min_importance,
            similarity_floor=self._settings.similarity_floor,
        )

    async def _prepare_texts(self, item: ClassifiedItem) -> ClassifiedItem:
        """Add the texts and their vectors that stored facts are to read from now on, if any.

        They are made before the lock, because encoding takes time.
        """
        choice = decide_operation(item.verdict.judgments, self._settings.policy.is_sure)
        merges = choice.operation is Operation.MERGE
        if merges and not self._settings.policy.may_merge:
            return item
        stored = {hit.memory.id: hit.memory for hit in item.hits}
        prepared: list[PreparedMerge] = []
        for judgment in choice.acts_on:
            if merges or judgment.new_text:
                memory, incoming = stored[judgment.memory_id], StoredFact.from_fact(item.fact)
                made = prepare_merge(memory, item.new_id, incoming, judgment.new_text)
                if len(made.fact.content) <= MAX_MERGED:
                    prepared.append(made)
        if not prepared:
            return item
        vectors = await self._embedder.encode([each.fact.content for each in prepared])
        made_vectors = {each.new_id: vector for each, vector in zip(prepared, vectors, strict=True)}
        if merges:
            return replace(item, merged=prepared[0], made_vectors=made_vectors)
        return replace(item, rewritten=tuple(prepared), made_vectors=made_vectors)


def prepare_merge(
    stored: Memory, new_id: UUID, fact: StoredFact, text: str | None
) -> PreparedMerge:
    """Return the stored memory united with the fact `new_id`: as this text, or as both texts."""
    text = text or join_texts(stored.fact.content, fact.content)
    united = merge_facts(stored.fact, fact, text)
    united = replace(united, merged_from=(stored.id, new_id), derived=None)
    tells_all = find_merge_loss(text, fact.content, fact.content) is None
    return PreparedMerge(stored.id, united, uuid7(), tells_all)


async def without_erased(
    write: AgentWrite[Any], items: list[ClassifiedItem]
) -> list[ClassifiedItem]:
    """Return the items without what was erased since they were compared.

    What was erased must neither lead to anything nor be shown.
    """
    erased_at = write.locked.last_erased_at
    if erased_at is None:
        return items
    seen_times = [item.seen_at for item in items if item.seen_at]
    if all(seen_at >= erased_at for seen_at in seen_times):
        return items
    near = {hit.memory.id for item in items for hit in item.hits}
    erased = await erasures.find_erased_ids(write.connection, write.agent, list(near))
    return [item.drop_erased(erased) for item in items]


async def find_items_with_news(
    write: AgentWrite[Any], items: Sequence[ClassifiedItem], most_candidates: int
) -> set[int]:
    """Return the places of the items whose judges missed a near fact that became known meanwhile.

    What would not be among the candidates of an item is not worth another look, nor what is
    farther away than the local judge reads.
    """
    last_known_at = write.locked.last_known_at
    if last_known_at is None:
        return set()
    batch = {item.new_id for item in items}
    places: list[int] = []
    judged: list[JudgedFact] = []
    for place, item in enumerate(items):
        if item.asks_judges and item.seen_at and item.seen_at < last_known_at:
            stored = [hit.scores for hit in item.hits if hit.memory.id not in batch]
            similarities = sorted(scores["vector"] for scores in stored if "vector" in scores)
            least = LEAST_NEWS
            if len(similarities) >= most_candidates:
                least = max(least, similarities[-most_candidates])
            places.append(place)
            judged.append(JudgedFact(item.fact, item.vector, item.seen_at, least))
    if not places:
        return set()
    near = await comparison.find_near_news(
        write.connection, write.agent, judged, last_known_at=last_known_at
    )
    return {places[place] for place in near}


def collect_vectors(items: Sequence[ClassifiedItem]) -> dict[UUID, Vector]:
    """Return the embeddings of the facts and of the texts that they may lead to, by new id."""
    vectors = {item.new_id: item.vector for item in items}
    for item in items:
        vectors |= item.made_vectors
    return vectors


def _split_chunks(sequence: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    for start in range(0, len(sequence), size):
        yield sequence[start : start + size]


def _read_signals(fact: Fact) -> Fact:
    """Return the fact with its derived slot, and a question or a quotation with its tag."""
    if derived := derive_fact_slot(fact):
        fact = replace(fact, derived=derived)
    speech = find_speech(fact.content)
    if speech is None or speech in fact.tags:
        return fact
    return replace(fact, tags=(*fact.tags, speech.value))


def _build_expected_memory(item: ClassifiedItem) -> Memory:
    """Build the memory that a fact of the batch will be if it is inserted.

    Its known time is only a placeholder: the real one is made under the lock.
    """
    fact = StoredFact.from_fact(item.fact)
    told_at = fact.said_at or datetime.now(UTC)
    return Memory(
        item.new_id,
        fact,
        Belief(item.new_id, fact.valid_from or told_at, told_at),
        told_at,
        1,
        None,
    )
