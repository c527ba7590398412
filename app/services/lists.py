"""Listing memories, page by page, newest known or strongest first."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.strength import HalfLives
from app.domain.version import Memory, Moment
from app.services.agent_indexes import AgentIndexDirectory
from app.store import memories, walks
from app.store.columns import Filters
from app.store.counted_strengths import find_counted_strengths
from app.store.memories import After, Page, Point, Ranking
from app.store.reads import Reads
from app.store.walks import Walk


@dataclass(frozen=True, slots=True)
class ListQuestion:
    """Which memories a page shows: those after the position `after`, `limit` at most.

    `exact`: the page looks at every memory, even if the agent has an index.
    """

    filters: Filters
    point: Point
    limit: int
    after: After | None = None
    by_strength: bool = False
    exact: bool = False


@dataclass(frozen=True, slots=True)
class ListPage:
    """A page of a list. `next` is the position of the next page; None: this is the last.

    The order is that of the strengths at `strength_as_of`. None means those of the moment, or
    another order.
    """

    moment: Moment
    memories: Sequence[Memory]
    next: After | None
    strength_as_of: datetime | None = None


class MemoryLister:
    """Lists memories. A page of a large agent looks at a bounded number of them."""

    def __init__(
        self,
        reads: Reads,
        indexes: AgentIndexDirectory,
        half_lives: HalfLives,
        max_answer_bytes: int,
    ) -> None:
        self._reads = reads
        self._indexes = indexes
        self._half_lives = half_lives
        self._max_answer_bytes = max_answer_bytes

    async def list_page(self, agent: AgentId, question: ListQuestion) -> ListPage:
        is_bounded = not question.exact and await self._indexes.find_index(agent) is not None

        async def read(connection: AsyncConnection) -> ListPage:
            if question.by_strength:
                return await self._list_strongest(connection, agent, question, is_bounded)
            list_memories = walks.walk_newest if is_bounded else memories.list_memories
            page = await list_memories(
                connection,
                agent,
                question.filters,
                question.point,
                limit=question.limit + 1,
                max_bytes=self._max_answer_bytes,
                after=question.after,
            )
            return _end_page(page, question.limit)

        return await self._reads.run(agent, read, known_at=question.point.known_at)

    async def _list_strongest(
        self, connection: AsyncConnection, agent: AgentId, question: ListQuestion, is_bounded: bool
    ) -> ListPage:
        """Return a page by the strengths that a worker counted, or else by those of the moment.

        All pages of a list go by the strengths of the first.
        """
        after = question.after
        filters, point = question.filters, question.point
        ranking = Ranking(self._half_lives, question.limit + 1, self._max_answer_bytes, after=after)
        strength_as_of = after.strength_as_of if after else None
        few = None
        if is_bounded and strength_as_of is None:
            # The later pages of a list are of the past, and read the same memories as the first.
            of_any_time = replace(point, include_superseded=True)
            few = await walks.find_few(connection, agent, filters, of_any_time)
        if is_bounded and few is None and (after is None or strength_as_of is not None):
            counted = await find_counted_strengths(connection, agent, strength_as_of)
            if counted is not None:
                walk = await walks.walk_strongest(
                    connection, agent, filters, point, ranking, counted
                )
                return _end_page(walk, question.limit, walk.strengths, counted.as_of)
        ranked = await memories.list_strongest(connection, agent, filters, point, ranking, few=few)
        return _end_page(ranked, question.limit, ranked.strengths, strength_as_of)


def _end_page(
    page: Page,
    limit: int,
    strengths: Sequence[float] | None = None,
    strength_as_of: datetime | None = None,
) -> ListPage:
    """Return the page, of which one memory more was read than it shows if there are more."""
    shown = page.memories[:limit]
    position = page.examined_until if isinstance(page, Walk) else None
    if page.is_cut or len(page.memories) > limit:
        strength = strengths[len(shown) - 1] if strengths else None
        position = After(shown[-1].created_at, shown[-1].id, strength)
    if position is not None:
        position = replace(position, strength_as_of=strength_as_of)
    return ListPage(page.moment, shown, position, strength_as_of)
