"""The current picture for a prompt: the strongest memories and those nearest to the query, composed within a budget of tokens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.agent import AgentId
from app.domain.context import (
    Context,
    ContextItem,
    compose_context,
    render_memory_text,
    score_usefulness,
)
from app.domain.fact import Kind
from app.domain.strength import HalfLives, compute_strength
from app.domain.version import Memory, Moment
from app.planning import hints
from app.planning.hints import Hint
from app.services.search import Searcher
from app.store import memories as memory_store
from app.store.columns import Filters
from app.store.memories import Point
from app.store.value_lines import list_value_lines

NEAREST = 100
MOST_ROWS = 2_000


@dataclass(frozen=True, slots=True)
class ComposedContext:
    """A context, the moment whose picture it is, and the hints of the items that have any."""

    moment: Moment
    context: Context
    hints: Mapping[UUID, Sequence[Hint]] = field(default_factory=dict)


class ContextComposer:
    """Composes contexts. No connection is held while the encoder runs."""

    def __init__(self, engine: AsyncEngine, recall: Searcher, half_lives: HalfLives) -> None:
        self._engine = engine
        self._recall = recall
        self._half_lives = half_lives

    async def compose(
        self, agent: AgentId, query: str | None, *, budget: int, filters: Filters, point: Point
    ) -> ComposedContext:
        """What holds at the point, most useful first, in at most `budget` tokens."""
        async with memory_store.open_read_connection(self._engine) as connection:
            strong = await memory_store.list_strongest(
                connection,
                agent,
                filters,
                point,
                self._half_lives,
                limit=_choose_row_limit(budget),
                first=Kind.CONSTRAINT,
            )
        near = (
            await self._find_nearest(agent, query, filters, point, strong.moment) if query else []
        )
        memories = {memory.id: memory for memory in (*strong.memories, *near)}
        places = {memory.id: place for place, memory in enumerate(near)} if query else None
        items = [
            self._item_from_memory(memory, strong.moment, places) for memory in memories.values()
        ]
        context = compose_context(items, budget=budget, holding=strong.live)
        return ComposedContext(
            strong.moment, context, await self._find_hints(agent, context, point, strong.moment)
        )

    async def _find_hints(
        self, agent: AgentId, context: Context, point: Point, moment: Moment
    ) -> dict[UUID, list[Hint]]:
        """What keeps changing among the items, looked at from the moment, or from the earlier known time asked for."""
        shown = [item.memory for item in context.items]
        if not shown:
            return {}
        at = min(moment.as_of, point.known_at or moment.as_of)
        async with memory_store.open_read_connection(self._engine) as connection:
            others = await list_value_lines(
                connection,
                agent,
                chains={memory.chain_id for memory in shown},
                slots={memory.fact.slot.digest for memory in shown if memory.fact.one_value},
                known_at=moment.known_at,
                at_least=hints.MIN_STEPS,
            )
        return hints.find_memory_hints(shown, others, at)

    async def _find_nearest(
        self, agent: AgentId, query: str, filters: Filters, point: Point, moment: Moment
    ) -> list[Memory]:
        """The nearest to the query, nearest first. What came to be believed after the moment is left out: both reads show one picture."""
        point = Point(moment.as_of, point.known_at)
        found = await self._recall.search(
            agent, query, mode="hybrid", limit=NEAREST, min_score=None, filters=filters, point=point
        )
        return [
            memory
            for memory in (hit.memory for hit in found.hits)
            if _get_known_since(memory) <= moment.known_at
        ]

    def _item_from_memory(
        self, memory: Memory, moment: Moment, places: Mapping[UUID, int] | None
    ) -> ContextItem:
        strong = compute_strength(memory, moment.as_of, self._half_lives)
        return ContextItem(
            memory,
            render_memory_text(memory),
            strong if places is None else score_usefulness(strong, places.get(memory.id)),
        )


def _get_known_since(memory: Memory) -> datetime:
    """Since when its belief is held."""
    return memory.belief.known_from or memory.created_at


def _choose_row_limit(budget: int) -> int:
    """How many memories to choose from: more than fit, as a line takes a dozen tokens at least."""
    return max(100, min(MOST_ROWS, budget // 10))
