"""Finding memories by meaning and words, by id, and by slot. What is found counts as used."""

from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.dates.window import Window
from app.domain.errors import NoPreference, UnknownMemory
from app.domain.fact import Kind, Slot
from app.domain.version import Memory, Moment
from app.embedding import Embedder, Vector
from app.services.agent_indexes import AgentIndexDirectory
from app.services.dating import FactDater
from app.services.usage import UsageCounter
from app.store import memories, search
from app.store.captures.search import FoundTurn, TurnQuery, search_turns
from app.store.columns import Filters
from app.store.index_scope import AgentIndex
from app.store.memories import Point
from app.store.reads import Reads
from app.store.reviews.reviews import find_waiting_reviews
from app.store.search import Hits, Query

# A focused search leaves out what answers with a smaller chance. Of ten results about four stay,
# and of ten answers eight or nine.
FOCUS = 0.03


@dataclass(frozen=True, slots=True)
class Question:
    """A text to search for. `mode` is hybrid, vector or text.

    There are `limit` results at most, each with a score of `min_score` or more: the chance that it
    answers, between 0 and 1. `exact`: every memory is looked at, even if the agent has an index.
    `focus`: what hardly answers is left out. `with_turns`: messages are searched, too. `vector` is
    the text's, `window` the time that it asks about if it `reads_dates`, and `index` that of the
    agent: `Searcher.read` sets them. Text mode has no vector.
    """

    text: str
    mode: str
    limit: int
    min_score: float = 0.0
    exact: bool = False
    focus: bool = False
    with_turns: bool = False
    reads_dates: bool = False
    vector: Vector | None = None
    window: Window | None = None
    index: AgentIndex | None = None

    @property
    def floor(self) -> float:
        """The lowest score of a result."""
        return max(self.min_score, FOCUS) if self.focus else self.min_score


class Searcher:
    """Finds memories. No connection is held while the encoder runs."""

    def __init__(
        self,
        reads: Reads,
        embedder: Embedder,
        dater: FactDater,
        usage: UsageCounter,
        indexes: AgentIndexDirectory,
        *,
        language: str,
        max_answer_bytes: int,
    ) -> None:
        self._reads = reads
        self._embedder = embedder
        self._dater = dater
        self._usage = usage
        self._indexes = indexes
        self._language = language
        self._max_answer_bytes = max_answer_bytes

    async def search(
        self,
        agent: AgentId,
        question: Question,
        filters: Filters,
        point: Point,
    ) -> Hits:
        """Return the nearest memories, best first, and count them as used."""
        question = await self.read(agent, question, point)

        async def read(connection: AsyncConnection) -> Hits:
            hits = await self.find_nearest(connection, agent, question, filters, point)
            if question.with_turns:
                turns = await self.find_turns(connection, agent, question, filters, point)
                hits = replace(hits, turns=turns)
            return hits

        hits = await self._reads.run(agent, read, known_at=point.known_at)
        if question.window:
            hits = replace(hits, window=question.window)
        self._usage.note_uses(agent, [hit.memory.id for hit in hits.hits])
        return hits

    async def read(self, agent: AgentId, question: Question, point: Point) -> Question:
        """Return the question with its vector, the time that it asks about, and the agent's index.

        Only a question about the present asks about another time: `as_of` and `known_at` say which
        one is meant.
        """
        window = None
        if question.reads_dates and point.is_present:
            window = await self._dater.read_window(agent, question.text)
        vector = None
        if question.mode != "text":
            [vector] = await self._embedder.encode([question.text])
        index = await self._indexes.find_index(agent)
        return replace(question, vector=vector, window=window, index=index)

    async def find_nearest(
        self,
        connection: AsyncConnection,
        agent: AgentId,
        question: Question,
        filters: Filters,
        point: Point,
    ) -> Hits:
        """Return the nearest memories, best first, for a caller who counts what it uses of them.

        What reviews ask is a matter of the present: reads of an earlier known time leave it out.
        """
        query = Query(
            question.text,
            question.vector,
            self._embedder.name,
            question.mode,
            self._language,
            question.limit,
            question.floor,
            self._max_answer_bytes,
            question.window,
        )
        hits = await search.search_memories(
            connection, agent, query, filters, point, index=question.index, exact=question.exact
        )
        if point.known_at is not None or not hits.has_waiting:
            return hits
        shown = [hit.memory.id for hit in hits.hits]
        return replace(hits, in_question=await find_waiting_reviews(connection, agent, shown))

    async def find_turns(
        self,
        connection: AsyncConnection,
        agent: AgentId,
        question: Question,
        filters: Filters,
        point: Point,
        *,
        is_unread: bool = False,
    ) -> list[FoundTurn]:
        """Return the messages that answer best. Of the filters, that of the session counts.

        If it `is_unread`, no fact was read from them.
        """
        query = TurnQuery(
            question.text,
            question.vector,
            self._embedder.name,
            question.mode,
            self._language,
            filters.session_id,
            question.limit,
            self._max_answer_bytes,
            is_unread,
            question.window,
        )
        turns = await search_turns(connection, agent, query, point)
        return [turn for turn in turns if turn.score >= question.floor]

    async def get_memory(
        self,
        agent: AgentId,
        memory_id: UUID,
        point: Point,
    ) -> tuple[Moment, Memory]:
        """Return one version at that point, and count it as used. Raises UnknownMemory."""
        moment, memory = await self._reads.run(
            agent,
            lambda connection: memories.find_memory(connection, agent, memory_id, point),
            known_at=point.known_at,
        )
        if memory is None:
            raise UnknownMemory(memory_id)
        self._usage.note_uses(agent, [memory_id])
        return moment, memory

    async def get_preference(
        self,
        agent: AgentId,
        entity: str,
        category: str,
        key: str,
        point: Point,
    ) -> tuple[Moment, Memory]:
        """Return the preference that holds at that point, and count it as used.

        Raises NoPreference.
        """
        slot = Slot.from_words(entity, category, key)
        page = await self._reads.run(
            agent,
            lambda connection: memories.find_holding_in_slot(
                connection, agent, slot, point, kind=Kind.PREFERENCE
            ),
            known_at=point.known_at,
        )
        if not page.memories:
            raise NoPreference(entity, category, key)
        memory = page.memories[0]
        self._usage.note_uses(agent, [memory.id])
        return page.moment, memory
