"""Composing a context for a prompt, within a budget of tokens."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId, Mode
from app.domain.context import (
    Context,
    ContextItem,
    ContextQuestion,
    compose_context,
    render_memory_text,
    render_said_line,
    score_usefulness,
)
from app.domain.fact import Kind
from app.domain.policy import Policy
from app.domain.strength import HalfLives, compute_strength
from app.domain.talk import Role
from app.domain.version import Memory, Moment
from app.planning import hints
from app.planning.agent_questions import SHOWN_AT_MOST
from app.planning.hints import Hint, PlacedStep
from app.services.agent_indexes import AgentIndexDirectory
from app.services.search import Question, Searcher
from app.services.usage import UsageCounter
from app.store import memories as memory_store
from app.store.columns import Filters
from app.store.memories import Point, Ranked, Ranking
from app.store.reads import Reads
from app.store.reviews import agent_questions
from app.store.reviews.reviews import find_waiting_reviews
from app.store.search import Hits
from app.store.value_lines import list_value_lines
from app.store.walks import find_few

NEAREST = 100
MOST_ROWS = 2_000
# In focus, what answers the query with a smaller chance is left out. On the training split of
# StateBench, nine in ten of the words that an answer needs stay, and half of the lines.
FOCUS = 0.015
# If nothing answers with such a chance, the query is about nothing that is stored.
ANSWERS = 0.05
# So much talk stands in a context, of which each line answers the query with such a chance.
MOST_SAID = 3
LEAST_CHANCE = 0.1
# More questions than a context shows, because some are for a person.
MOST_READ = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """What a context is about, at which point, and how many tokens it may take.

    With `focus`, of what hardly answers the query only constraints and core memories stay, unless
    nothing answers it. If it `asks`, a context of the present has questions about what it shows. It
    ends `with_talk` that is about the query and became no fact.
    """

    query: str | None
    budget: int
    filters: Filters
    point: Point
    asks: bool
    with_talk: bool
    focus: bool


@dataclass(frozen=True, slots=True)
class _Nearest:
    """What the query finds. `is_focused`: what hardly answers it is left out."""

    hits: Hits
    is_focused: bool
    talk: Sequence[str]


@dataclass(frozen=True, slots=True)
class ComposedContext:
    """A context as of a moment, and the hints of its items that have any."""

    moment: Moment
    context: Context
    hints: Mapping[UUID, Sequence[Hint]] = field(default_factory=dict)


class ContextComposer:
    """Composes contexts. No connection is held while the encoder runs."""

    def __init__(
        self,
        reads: Reads,
        searcher: Searcher,
        usage: UsageCounter,
        indexes: AgentIndexDirectory,
        policy: Policy,
        half_lives: HalfLives,
        max_answer_bytes: int,
    ) -> None:
        self._reads = reads
        self._searcher = searcher
        self._usage = usage
        self._indexes = indexes
        self._policy = policy
        self._half_lives = half_lives
        self._max_answer_bytes = max_answer_bytes

    async def compose(self, agent: AgentId, request: ContextRequest) -> ComposedContext:
        """Return what holds at the point, most useful first, in at most `budget` tokens.

        The strongest memories compete with those nearest to the query. Those in the context count
        as used.
        """
        point = request.point
        question = None
        if request.query:
            question = Question(request.query, "hybrid", NEAREST)
            question = await self._searcher.read(agent, question, point)
        is_large = await self._indexes.find_index(agent) is not None

        async def read(connection: AsyncConnection) -> tuple[Moment, Context, Sequence[PlacedStep]]:
            nearest = None
            if question is not None:
                nearest = await self._find_by_query(connection, agent, request, question)
            moment, context = await self._choose(
                connection, agent, request, nearest, is_large=is_large
            )
            return moment, context, await _list_lines(connection, agent, context, moment)

        moment, context, lines = await self._reads.run(agent, read, known_at=point.known_at)
        shown = [item.memory for item in context.items]
        self._usage.note_shown(agent, [question.review_id for question in context.questions])
        self._usage.note_uses(agent, [memory.id for memory in shown])
        if not lines:
            return ComposedContext(moment, context)
        at = min(moment.as_of, point.known_at or moment.as_of)
        # In a thread: a slot of thousands of values takes 50 ms.
        hints_by_id = await asyncio.to_thread(hints.find_memory_hints, shown, lines, at)
        return ComposedContext(moment, context, hints_by_id)

    async def _find_by_query(
        self,
        connection: AsyncConnection,
        agent: AgentId,
        request: ContextRequest,
        question: Question,
    ) -> _Nearest:
        """Return what the query finds; in focus, without what hardly answers it.

        A query that nothing answers is about nothing that is stored: nothing is left out then.
        """
        filters, point = request.filters, request.point
        is_focused = request.focus
        if is_focused:
            focused = replace(question, min_score=FOCUS)
            hits = await self._searcher.find_nearest(connection, agent, focused, filters, point)
            is_focused = bool(hits.hits) and hits.hits[0].score >= ANSWERS
        if not is_focused:
            hits = await self._searcher.find_nearest(connection, agent, question, filters, point)
        talk: list[str] = []
        if request.with_talk:
            talk_question = replace(question, limit=MOST_SAID, min_score=LEAST_CHANCE)
            turns = await self._searcher.find_turns(
                connection, agent, talk_question, filters, point, is_unread=True
            )
            talk = [
                render_said_line(turn.said_at, turn.name or turn.role, turn.content)
                for turn in turns
                if turn.role in (Role.USER, Role.ASSISTANT)
            ]
        return _Nearest(hits, is_focused, talk)

    async def _choose(
        self,
        connection: AsyncConnection,
        agent: AgentId,
        request: ContextRequest,
        nearest: _Nearest | None,
        *,
        is_large: bool,
    ) -> tuple[Moment, Context]:
        """Return the context of the strongest memories and of what the query finds.

        In focus, the strongest are those that a prompt needs whatever it is about.
        """
        budget, point = request.budget, request.point
        ranking = Ranking(
            self._half_lives,
            _choose_row_limit(budget),
            self._max_answer_bytes,
            first=Kind.CONSTRAINT,
            only_first=nearest is not None and nearest.is_focused,
        )
        strong = await _list_strongest(connection, agent, request, ranking, is_large=is_large)
        moment, memories = strong.moment, strong.memories
        ranks: dict[UUID, int] | None = None
        in_question: dict[UUID, Sequence[UUID]] = {}
        if point.known_at is None and (nearest is None or nearest.hits.has_waiting):
            ids = [memory.id for memory in memories]
            in_question |= await find_waiting_reviews(connection, agent, ids)
        talk: Sequence[str] = ()
        if nearest:
            # What became known after the first read would show another picture.
            moment, talk = nearest.hits.moment, nearest.talk
            memories = [each for each in memories if _get_known_since(each) <= moment.known_at]
            near = [hit.memory for hit in nearest.hits.hits]
            memories = list({memory.id: memory for memory in (*memories, *near)}.values())
            ranks = {memory.id: rank for rank, memory in enumerate(near)}
            in_question |= nearest.hits.in_question
        items = [
            self._build_item(memory, moment, ranks, in_question.get(memory.id, ()))
            for memory in memories
        ]
        context = compose_context(items, budget=budget, holding=strong.live, talk=talk)
        if request.asks and point.is_present:
            questions = await self._find_questions(connection, agent, context)
            if questions:
                context = compose_context(
                    items, budget=budget, holding=strong.live, questions=questions, talk=talk
                )
        return moment, context

    async def _find_questions(
        self, connection: AsyncConnection, agent: AgentId, context: Context
    ) -> list[ContextQuestion]:
        """Return the newest questions about what the context shows that a model may answer.

        One that was shown often enough rests.
        """
        review_ids = {review_id for item in context.items for review_id in item.in_question}
        if not review_ids:
            return []
        mode = await agent_questions.read_mode(connection, agent)
        if self._policy.mode_of(mode) is not Mode.LIVE:
            return []
        return await agent_questions.list_unanswered(
            connection, agent, list(review_ids), shown_below=SHOWN_AT_MOST, limit=MOST_READ
        )

    def _build_item(
        self,
        memory: Memory,
        moment: Moment,
        ranks: Mapping[UUID, int] | None,
        in_question: Sequence[UUID],
    ) -> ContextItem:
        usefulness = compute_strength(memory, moment.as_of, self._half_lives)
        if ranks is not None:
            usefulness = score_usefulness(usefulness, ranks.get(memory.id))
        text = render_memory_text(memory)
        return ContextItem(memory, text, usefulness, tuple(in_question))


async def _list_strongest(
    connection: AsyncConnection,
    agent: AgentId,
    request: ContextRequest,
    ranking: Ranking,
    *,
    is_large: bool,
) -> Ranked:
    """Return the strongest memories; of a large agent, those that probably are.

    All that pass the filters are read if an index says that these are few.
    """
    filters, point, few = request.filters, request.point, None
    if is_large:
        few = await find_few(connection, agent, filters, point)
        if few is None:
            ranked = await memory_store.list_probably_strongest(
                connection, agent, filters, point, ranking
            )
            if ranked is not None:
                return ranked
    return await memory_store.list_strongest(connection, agent, filters, point, ranking, few=few)


async def _list_lines(
    connection: AsyncConnection, agent: AgentId, context: Context, moment: Moment
) -> Sequence[PlacedStep]:
    """Return the lines of values of what the context shows, as known at the moment."""
    shown = [item.memory for item in context.items]
    if not shown:
        return []
    return await list_value_lines(
        connection,
        agent,
        chains={memory.chain_id for memory in shown},
        slots={memory.fact.slot.digest for memory in shown if memory.fact.one_value},
        known_at=moment.known_at,
        at_least=hints.MIN_STEPS,
    )


def _get_known_since(memory: Memory) -> datetime:
    """Return the known time of the memory's belief."""
    return memory.belief.known_from or memory.created_at


def _choose_row_limit(budget: int) -> int:
    """Return how many memories to choose from.

    They are more than fit into the budget, because a line takes a dozen tokens at least.
    """
    return max(100, min(MOST_ROWS, budget // 10))
