"""Counting uses of memories, and how often questions were shown.

They are noted in memory with each answer, and written a few seconds later.

A process that is killed loses what it has noted and not written. These are counters, nothing else.
"""

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

import psycopg
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.agent import AgentId
from app.services.background_tasks import flush_in_background
from app.store import usage
from app.store.engine import begin_for_agent, read_clock

# Memories noted between two flushes, about 10 MB. Uses of further memories are not counted.
MOST_NOTED = 50_000

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Noted:
    """What is noted of one agent.

    `uses` holds the time of each memory's last use, on the monotonic clock of this process.
    `shown` counts how often each review was shown.
    """

    uses: dict[UUID, float] = field(default_factory=dict)
    shown: Counter[UUID] = field(default_factory=Counter)


class UsageCounter:
    """Notes uses and writes them every `every` seconds. With 0, nothing is counted."""

    def __init__(self, engine: AsyncEngine, *, every: float) -> None:
        self._engine = engine
        self._every = every
        self._noted: dict[AgentId, _Noted] = defaultdict(_Noted)
        self._room = MOST_NOTED

    def note_uses(self, agent: AgentId, ids: Iterable[UUID]) -> None:
        """Note that these memories were answered just now."""
        used = dict.fromkeys(ids, time.monotonic())
        if self._every and used:
            self._add(agent, _Noted(uses=used))

    def note_shown(self, agent: AgentId, review_ids: Sequence[UUID]) -> None:
        """Note that a context showed the questions of these reviews."""
        if self._every and review_ids:
            self._add(agent, _Noted(shown=Counter(review_ids)))

    def _add(self, agent: AgentId, more: _Noted) -> None:
        noted = self._noted[agent]
        for memory_id, at in more.uses.items():
            if memory_id in noted.uses:
                noted.uses[memory_id] = max(at, noted.uses[memory_id])
            elif self._room:
                noted.uses[memory_id] = at
                self._room -= 1
        for review_id, times in more.shown.items():
            if review_id in noted.shown or self._room:
                self._room -= review_id not in noted.shown
                noted.shown[review_id] += times

    def flush_in_background(self) -> AbstractAsyncContextManager[None]:
        """Write what is noted every few seconds during the block, and at its end."""
        return flush_in_background(self.flush, self._every or None)

    async def flush(self) -> None:
        """Write what is noted, agent by agent. What cannot be written now stays noted."""
        noted = self._noted
        self._noted = defaultdict(_Noted)
        self._room = MOST_NOTED
        while noted:
            agent, counted = noted.popitem()
            try:
                await self._write(agent, counted)
            except psycopg.errors.LockNotAvailable:
                self._add(agent, counted)
            except (SQLAlchemyError, psycopg.Error, OSError) as problem:
                logger.warning("uses are not counted for now: %s", type(problem).__name__)
                noted[agent] = counted
                for unwritten_agent, unwritten in noted.items():
                    self._add(unwritten_agent, unwritten)
                return

    async def _write(self, agent: AgentId, noted: _Noted) -> None:
        async with begin_for_agent(self._engine, agent) as connection:
            now, here = await read_clock(connection), time.monotonic()
            times = {key: now - timedelta(seconds=here - at) for key, at in noted.uses.items()}
            if times:
                await usage.count_uses(connection, agent, times)
            if noted.shown:
                await usage.count_shown(connection, agent, noted.shown)
