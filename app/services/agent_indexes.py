"""Indexes of large agents: which agents have one, and the worker that looks after them."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta

import psycopg
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.agent import AgentId
from app.domain.strength import HalfLives
from app.store import agent_indexes
from app.store.counted_strengths import refresh_strengths
from app.store.engine import begin_as_operator, begin_for_agent
from app.store.index_scope import AgentIndex
from app.store.insights import refresh_insights
from app.store.stats import refresh_stats

logger = logging.getLogger(__name__)

# Seconds for which a process believes what it read of the indexes. An index that is gone meanwhile
# finds nothing, and the search is exact.
BELIEVED_FOR = 10.0

# Seconds between two rounds of the worker. What was stored meanwhile is read exactly.
PAUSE = 20.0
# Memories added in one transaction, which locks them for about half a second.
APPENDED_AT_ONCE = 100
COUNTED_EVERY = timedelta(hours=1)


class AgentIndexDirectory:
    """Knows which agents have an index. They are few, so a process knows all of them."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._indexes: dict[AgentId, AgentIndex] = {}
        self._read_at: float | None = None
        self._reading: asyncio.Lock | None = None

    async def find_index(self, agent: AgentId) -> AgentIndex | None:
        """Return the index of the agent, if it has one."""
        if self._is_old():
            self._reading = self._reading or asyncio.Lock()
            async with self._reading:
                if self._is_old():
                    await self._read()
        return self._indexes.get(agent)

    def forget(self) -> None:
        """Read the indexes anew the next time."""
        self._read_at = None

    def _is_old(self) -> bool:
        return self._read_at is None or time.monotonic() - self._read_at > BELIEVED_FOR

    async def _read(self) -> None:
        async with begin_as_operator(self._engine) as connection:
            indexes = await agent_indexes.list_indexes(connection)
        self._indexes = {index.agent: index for index in indexes}
        self._read_at = time.monotonic()


class AgentIndexKeeper:
    """Builds the index of an agent that became large, keeps it up to date and drops it in time.

    An agent with `from_live` memories gets an index; it loses it below half of that. There are at
    most `most` indexes; further large agents are searched exactly.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        half_lives: HalfLives,
        *,
        from_live: int,
        most: int,
        memory: str,
    ) -> None:
        self._engine = engine
        self._half_lives = half_lives
        self._from_live = from_live
        self._most = most
        self._memory = memory
        self._looked_at: datetime | None = None

    @asynccontextmanager
    async def keep_in_background(self) -> AsyncIterator[None]:
        """Look after the indexes for as long as the context is open."""
        keeping = asyncio.create_task(self._keep())
        try:
            yield
        finally:
            keeping.cancel()
            with suppress(asyncio.CancelledError):
                await keeping

    async def _keep(self) -> None:
        while True:
            try:
                await self.look_after_indexes()
            except (SQLAlchemyError, psycopg.Error, OSError) as problem:
                logger.warning("The indexes of agents: %s", type(problem).__name__)
            await asyncio.sleep(PAUSE)

    async def look_after_indexes(self) -> None:
        """Bring every index up to date, drop those of small agents, and build missing ones.

        Do nothing while another worker does so, and nothing on a cluster, which has no indexes.
        """
        async with agent_indexes.try_lock(self._engine) as may_look:
            if not may_look:
                return
            async with begin_as_operator(self._engine) as connection:
                indexes = await agent_indexes.list_indexes(connection)
            count = len(indexes)
            for index, counted_at in indexes.items():
                count -= await self._look_after_one(index, counted_at)
            if self._from_live:
                await self._build_missing(room=self._most - count)

    async def _look_after_one(self, index: AgentIndex, counted_at: datetime) -> bool:
        """Bring one index up to date. Return True if it was dropped."""
        is_behind = True
        while is_behind:
            async with begin_for_agent(self._engine, index.agent) as connection:
                is_behind = await agent_indexes.append_memories(
                    connection, index.agent, APPENDED_AT_ONCE
                )
        await self._refresh_counts(index.agent)
        if datetime.now(UTC) - counted_at < COUNTED_EVERY:
            return False
        counted = await self._count(index.agent)
        if counted is not None and self._from_live and counted.live * 2 >= self._from_live:
            return False
        async with begin_for_agent(self._engine, index.agent) as connection:
            await agent_indexes.drop_index(connection, index.agent)
        logger.info("The index of an agent was dropped, because the agent is small now.")
        return True

    async def _refresh_counts(self, agent: AgentId) -> None:
        """Count the stats, strengths and insights of a large agent anew if it is time."""
        async with begin_for_agent(self._engine, agent) as connection:
            await refresh_stats(connection, agent, self._half_lives)
        async with begin_for_agent(self._engine, agent) as connection:
            await refresh_strengths(connection, agent, self._half_lives)
        await refresh_insights(self._engine, agent)

    async def _count(self, agent: AgentId) -> AgentIndex | None:
        async with begin_for_agent(self._engine, agent) as connection:
            return await agent_indexes.count_index(connection, agent)

    async def _build_missing(self, room: int) -> None:
        since, self._looked_at = self._looked_at, datetime.now(UTC) - timedelta(minutes=1)
        async with begin_as_operator(self._engine) as connection:
            large = await agent_indexes.list_large_agents(
                connection, at_least=self._from_live, since=since
            )
        for agent in large[:room]:
            await self.build_index(agent)
        if len(large) > room:
            self._looked_at = None
            logger.warning(
                "%d large agents have no index, because the settings allow no more of them. They"
                " are searched exactly, which takes longer.",
                len(large) - max(room, 0),
            )

    async def build_index(self, agent: AgentId) -> None:
        """Build the index of an agent. Nobody waits for it, and it may take minutes."""
        started = time.monotonic()
        async with begin_for_agent(self._engine, agent) as connection:
            dimensions = await agent_indexes.read_dimensions(connection)
            if dimensions > agent_indexes.MOST_DIMENSIONS:
                return
            last = await agent_indexes.fill_table(connection, agent)
        async with begin_for_agent(self._engine, agent) as connection:
            await agent_indexes.build_indexes(connection, dimensions, self._memory)
        async with begin_for_agent(self._engine, agent) as connection:
            await agent_indexes.attach_table(connection, agent, last)
        counted = await self._count(agent)
        await self._refresh_counts(agent)
        seconds = round(time.monotonic() - started)
        memories = counted.memories if counted else 0
        logger.info("An agent of %d memories got an index in %d seconds.", memories, seconds)
