"""Following what happens to agents: pages of events, and waiting for more of them.

Who waits holds no database connection. One statement, a few times a second, looks whether any of
the agents that this process waits for was written to. That works on a standby and behind a pooler
too, where LISTEN does not, and costs a write nothing, which NOTIFY would.
"""

import asyncio
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.domain.agent import AgentId
from app.domain.errors import EventsArchived, UnknownLogEntry
from app.domain.events import BEGINNING, Event, Position
from app.store.engine import begin_as_operator, open_snapshot
from app.store.log import events
from app.store.log.events import Selection

LOOK_EVERY = 0.5  # seconds
# Pages read at once, however many readers one write wakes. Other calls need connections too.
PAGES_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class EventPage:
    """Events in their order, and the place to go on from.

    `archived_until` is the known time up to which operations left the log, if the page begins
    behind that time because its reader named no place.
    """

    events: list[Event]
    position: Position
    archived_until: datetime | None = None


# Done once the caller has left.
Leaving = asyncio.Future[None]
_Write = asyncio.Future[datetime | None]


class News:
    """Knows who waits for which agents, and looks for all of them at once."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._waiting: dict[AgentId, dict[_Write, datetime]] = defaultdict(dict)
        self._looking: asyncio.Task[None] | None = None
        self.is_over = False

    async def wait_for_write(
        self, agent: AgentId, since: datetime, seconds: float, leaving: Leaving
    ) -> datetime | None:
        """Return the known time of the agent's last write, once that is later than `since`.

        Return None after `seconds`, if the caller leaves, and if the process ends.
        """
        if self.is_over or seconds <= 0:
            return None
        write: _Write = asyncio.get_running_loop().create_future()
        self._waiting[agent][write] = since
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_while_any_waits())
        try:
            ends: set[asyncio.Future[Any]] = {write, leaving}
            first = asyncio.FIRST_COMPLETED
            await asyncio.wait(ends, timeout=seconds, return_when=first)
            return write.result() if write.done() else None
        finally:
            del self._waiting[agent][write]
            if not self._waiting[agent]:
                del self._waiting[agent]

    async def _look_while_any_waits(self) -> None:
        while self._waiting:
            try:
                await self._look()
            except Exception as problem:
                # Each caller answers for itself that the database cannot be reached.
                self._end_waits(problem)
            await asyncio.sleep(LOOK_EVERY)

    async def _look(self) -> None:
        async with begin_as_operator(self._engine) as connection:
            times = await events.read_last_known_times(connection, list(self._waiting))
        for agent, last in times.items():
            for write, since in self._waiting.get(agent, {}).items():
                if last > since and not write.done():
                    write.set_result(last)

    def stop(self) -> None:
        """Let everybody go on at once, now and from now on."""
        self.is_over = True
        self._end_waits()

    def _end_waits(self, problem: Exception | None = None) -> None:
        for write in chain.from_iterable(self._waiting.values()):
            if write.done():
                continue
            if problem is None:
                write.set_result(None)
            else:
                write.set_exception(problem)

    async def close(self) -> None:
        self.stop()
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking


class EventFeed:
    """Reads events, and waits for them."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._news = News(engine)
        self._reading = asyncio.Semaphore(PAGES_AT_ONCE)

    @property
    def is_over(self) -> bool:
        """True once the process is about to end: nobody waits for events any more."""
        return self._news.is_over

    def stop_waiting(self) -> None:
        """Let all who wait go on at once, so that the process can end."""
        self._news.stop()

    async def close(self) -> None:
        await self._news.close()

    async def read_from_beginning(self, agent: AgentId, selection: Selection) -> EventPage:
        """Return the first events. They begin behind the operations that left the log."""
        async with self._reading, open_snapshot(self._engine, agent) as connection:
            archived = await events.find_last_archived(connection, agent, BEGINNING)
            page = await _read_page(connection, agent, archived or BEGINNING, selection)
            return replace(page, archived_until=archived.at if archived else None)

    async def read_from_end(self, agent: AgentId) -> EventPage:
        """Return an empty page, behind the last operation."""
        async with self._reading, open_snapshot(self._engine, agent) as connection:
            return EventPage([], await events.get_last_position(connection, agent))

    async def read_after(self, agent: AgentId, log_id: UUID, selection: Selection) -> EventPage:
        """Return the events behind an operation. Raises UnknownLogEntry and EventsArchived."""
        async with self._reading, open_snapshot(self._engine, agent) as connection:
            after = await events.find_position(connection, agent, log_id)
            if after is None:
                raise UnknownLogEntry(log_id)
            return await _read_whole_page(connection, agent, after, selection)

    async def wait_for_events(
        self,
        agent: AgentId,
        page: EventPage,
        selection: Selection,
        *,
        seconds: float,
        leaving: Leaving,
    ) -> EventPage:
        """Return the page, or the first one behind it that has an event.

        Return an empty page after `seconds`, if the caller leaves (`leaving`), and if the process
        ends. No connection is held meanwhile.
        """
        deadline = time.monotonic() + seconds
        since = page.position.at
        while not page.events:
            left = deadline - time.monotonic()
            last = await self._news.wait_for_write(agent, since, left, leaving)
            if last is None:
                break
            # Not every write is an operation, and not every operation is selected.
            since = last
            page = await self.read_next(agent, page, selection)
        return page

    async def read_next(self, agent: AgentId, page: EventPage, selection: Selection) -> EventPage:
        """Return the page behind this one. Raises EventsArchived."""
        async with self._reading, open_snapshot(self._engine, agent) as connection:
            following = await _read_whole_page(connection, agent, page.position, selection)
            return replace(following, archived_until=page.archived_until)


async def _read_whole_page(
    connection: AsyncConnection, agent: AgentId, after: Position, selection: Selection
) -> EventPage:
    """Return the events behind a place. Raises EventsArchived if some of them left the log."""
    archived = await events.find_last_archived(connection, agent, after)
    if archived is not None:
        raise EventsArchived(archived.id, archived.at)
    return await _read_page(connection, agent, after, selection)


async def _read_page(
    connection: AsyncConnection, agent: AgentId, after: Position, selection: Selection
) -> EventPage:
    listed = await events.list_events(connection, agent, after, selection)
    if len(listed) == selection.limit:
        return EventPage(listed, listed[-1].position)
    # What is not selected up to the end of the log need not be read again.
    last = await events.get_last_position(connection, agent)
    return EventPage(listed, max(after, last))
