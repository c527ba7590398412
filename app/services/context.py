"""The current picture for a prompt: the strongest memories and those nearest to the query, composed within a budget of tokens."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.context import Context, Item, compose, text_of, usefulness
from app.domain.memory import AgentId, Kind, Memory, Moment
from app.domain.strength import HalfLives, strength
from app.services.recall import Recall
from app.store import reads
from app.store.reads import Filters, Point

NEAREST = 100
MOST_ROWS = 2_000


@dataclass(frozen=True, slots=True)
class Composed:
    """A context, and the moment whose picture it is."""

    moment: Moment
    context: Context


class Composing:
    """Composes contexts. No connection is held while the encoder runs."""

    def __init__(self, engine: AsyncEngine, recall: Recall, half_lives: HalfLives) -> None:
        self._engine = engine
        self._recall = recall
        self._half_lives = half_lives

    async def compose(self, agent: AgentId, query: str | None, *, budget: int, filters: Filters, point: Point) -> Composed:
        """What holds at the point, most useful first, in at most `budget` tokens."""
        async with reads.reading(self._engine) as connection:
            strong = await reads.strongest(connection, agent, filters, point, self._half_lives, limit=_rows(budget), first=Kind.CONSTRAINT)
        near = await self._near(agent, query, filters, point, strong.moment) if query else []
        memories = {memory.id: memory for memory in (*strong.memories, *near)}
        places = {memory.id: place for place, memory in enumerate(near)} if query else None
        items = [self._item(memory, strong.moment, places) for memory in memories.values()]
        return Composed(strong.moment, compose(items, budget=budget, holding=strong.live))

    async def _near(self, agent: AgentId, query: str, filters: Filters, point: Point, moment: Moment) -> list[Memory]:
        """The nearest to the query, nearest first. What came to be believed after the moment is left out: both reads show one picture."""
        point = Point(moment.as_of, point.known_at)
        found = await self._recall.search(agent, query, mode="hybrid", limit=NEAREST, min_score=None, filters=filters, point=point)
        return [memory for memory in (hit.memory for hit in found.hits) if _known(memory) <= moment.known_at]

    def _item(self, memory: Memory, moment: Moment, places: Mapping[UUID, int] | None) -> Item:
        strong = strength(memory, moment.as_of, self._half_lives)
        return Item(memory, text_of(memory), strong if places is None else usefulness(strong, places.get(memory.id)))


def _known(memory: Memory) -> datetime:
    """Since when its belief is held."""
    return memory.belief.known_from or memory.created_at


def _rows(budget: int) -> int:
    """How many memories to choose from: more than fit, as a line takes a dozen tokens at least."""
    return max(100, min(MOST_ROWS, budget // 10))
