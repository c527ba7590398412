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
from app.domain.fact import Kind, Tier
from app.domain.policy import Policy
from app.domain.strength import HalfLives, compute_strength
from app.domain.talk import Role
from app.domain.version import Memory, Moment
from app.planning import hints
from app.planning.agent_questions import SHOWN_AT_MOST
from app.planning.hints import Hint
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
class _Choice:
    """The memories from which a context is composed, and the reviews that concern them.

    `ranks` are the places of those that the query finds; None without a query.
    """

    memories: Sequence[Memory]
    in_question: Mapping[UUID, Sequence[UUID]]
    ranks: Mapping[UUID, int] | None = None
    talk: Sequence[str] = ()


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
        filters, point, budget = request.filters, request.point, request.budget
        limit = _choose_row_limit(budget)
        ranking = Ranking(self._half_lives, limit, self._max_answer_bytes, first=Kind.CONSTRAINT)

        async def read_strongest(connection: AsyncConnection) -> tuple[Ranked, _Choice]:
            ranked = await self._list_strongest(connection, agent, filters, point, ranking)
            if point.known_at is not None:
                return ranked, _Choice(ranked.memories, {})
            ids = [memory.id for memory in ranked.memories]
            waiting = await find_waiting_reviews(connection, agent, ids)
            return ranked, _Choice(ranked.memories, waiting)

        strong, choice = await self._reads.run(agent, read_strongest, known_at=point.known_at)
        moment = strong.moment
        if request.query:
            choice = await self._add_nearest(agent, request.query, request, choice, moment)
        items = [
            self._build_item(memory, moment, choice.ranks, choice.in_question.get(memory.id, ()))
            for memory in choice.memories
        ]
        context = compose_context(items, budget=budget, holding=strong.live, talk=choice.talk)
        if request.asks and point.is_present:
            questions = await self._find_questions(agent, context)
            if questions:
                context = compose_context(
                    items, budget=budget, holding=strong.live, questions=questions, talk=choice.talk
                )
            self._usage.note_shown(agent, [question.review_id for question in context.questions])
        shown = [item.memory for item in context.items]
        self._usage.note_uses(agent, [memory.id for memory in shown])
        hints_by_id = await self._find_hints(agent, shown, point, moment) if shown else {}
        return ComposedContext(moment, context, hints_by_id)

    async def _add_nearest(
        self, agent: AgentId, query: str, request: ContextRequest, choice: _Choice, moment: Moment
    ) -> _Choice:
        """Return the choice with what the query finds; in focus, without what hardly answers."""
        point = request.point
        question = await self._searcher.read(agent, Question(query, "hybrid", NEAREST), point)
        nearest = await self._find_nearest(agent, question, request.filters, point, moment)
        hits, strongest = nearest.hits, choice.memories
        if request.focus and hits and hits[0].score >= ANSWERS:
            hits = [hit for hit in hits if hit.score >= FOCUS]
            strongest = list(filter(_stays_in_focus, strongest))
        talk: list[str] = []
        if request.with_talk:
            talk = await self._list_said(agent, question, request.filters, point)
        near = [hit.memory for hit in hits]
        memories = {memory.id: memory for memory in (*strongest, *near)}
        return _Choice(
            list(memories.values()),
            {**choice.in_question, **nearest.in_question},
            {memory.id: rank for rank, memory in enumerate(near)},
            talk,
        )

    async def _list_said(
        self, agent: AgentId, question: Question, filters: Filters, point: Point
    ) -> list[str]:
        """Return lines of what users and assistants said to the question and became no fact."""
        question = replace(question, limit=MOST_SAID, min_score=LEAST_CHANCE)
        turns = await self._searcher.find_turns(agent, question, filters, point, is_unread=True)
        return [
            render_said_line(turn.said_at, turn.name or turn.role, turn.content)
            for turn in turns
            if turn.role in (Role.USER, Role.ASSISTANT)
        ]

    async def _list_strongest(
        self,
        connection: AsyncConnection,
        agent: AgentId,
        filters: Filters,
        point: Point,
        ranking: Ranking,
    ) -> Ranked:
        """Return the strongest memories; of a large agent, those that probably are.

        All that pass the filters are read if an index says that these are few.
        """
        few = None
        if await self._indexes.find_index(agent):
            few = await find_few(connection, agent, filters, point)
            if few is None:
                ranked = await memory_store.list_probably_strongest(
                    connection, agent, filters, point, ranking
                )
                if ranked is not None:
                    return ranked
        return await memory_store.list_strongest(
            connection, agent, filters, point, ranking, few=few
        )

    async def _find_questions(self, agent: AgentId, context: Context) -> list[ContextQuestion]:
        """Return the newest questions about what the context shows that a model may answer.

        One that was shown often enough rests.
        """
        review_ids = {review_id for item in context.items for review_id in item.in_question}
        if not review_ids:
            return []

        async def read(connection: AsyncConnection) -> list[ContextQuestion]:
            mode = await agent_questions.read_mode(connection, agent)
            if self._policy.mode_of(mode) is not Mode.LIVE:
                return []
            return await agent_questions.list_unanswered(
                connection, agent, list(review_ids), shown_below=SHOWN_AT_MOST, limit=MOST_READ
            )

        return await self._reads.run(agent, read)

    async def _find_hints(
        self,
        agent: AgentId,
        shown: Sequence[Memory],
        point: Point,
        moment: Moment,
    ) -> dict[UUID, list[Hint]]:
        """Return what keeps changing among the items, as known at the point."""
        at = min(moment.as_of, point.known_at or moment.as_of)
        lines = await self._reads.run(
            agent,
            lambda connection: list_value_lines(
                connection,
                agent,
                chains={memory.chain_id for memory in shown},
                slots={memory.fact.slot.digest for memory in shown if memory.fact.one_value},
                known_at=moment.known_at,
                at_least=hints.MIN_STEPS,
            ),
            known_at=moment.known_at,
        )
        # In a thread: a slot of thousands of values takes 50 ms.
        return await asyncio.to_thread(hints.find_memory_hints, shown, lines, at)

    async def _find_nearest(
        self,
        agent: AgentId,
        question: Question,
        filters: Filters,
        point: Point,
        moment: Moment,
    ) -> Hits:
        """Return the memories nearest to the question, nearest first, and the reviews about them.

        Beliefs that are younger than the moment are left out, so that both reads show one picture.
        """
        nearest = await self._searcher.find_nearest(
            agent,
            question,
            filters,
            Point(moment.as_of, point.known_at),
        )
        known = [hit for hit in nearest.hits if _get_known_since(hit.memory) <= moment.known_at]
        return replace(nearest, hits=known)

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


def _stays_in_focus(memory: Memory) -> bool:
    """Return True for what a prompt needs whatever it is about."""
    return memory.fact.kind is Kind.CONSTRAINT or memory.belief.tier is Tier.CORE


def _get_known_since(memory: Memory) -> datetime:
    """Return the known time of the memory's belief."""
    return memory.belief.known_from or memory.created_at


def _choose_row_limit(budget: int) -> int:
    """Return how many memories to choose from.

    They are more than fit into the budget, because a line takes a dozen tokens at least.
    """
    return max(100, min(MOST_ROWS, budget // 10))
