"""Work in the background: tasks with names, and what is repeated during a block."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Generic, TypeVar

Name = TypeVar("Name")

# Seconds for the last call of work that is repeated.
PATIENCE = 5.0


@asynccontextmanager
async def renew_in_background(
    renew: Callable[[], Awaitable[None]], every: float
) -> AsyncIterator[None]:
    """Call `renew` each time so many seconds have passed during the block."""
    ended = asyncio.Event()

    async def keep_renewing() -> None:
        while not await _set_within(ended, every):
            await renew()

    renewing = asyncio.create_task(keep_renewing())
    try:
        yield
    finally:
        # The task is not cancelled: the driver may take a cancellation for the end of one
        # statement, and the renewals would go on.
        ended.set()
        await renewing


@asynccontextmanager
async def flush_in_background(
    flush: Callable[[], Awaitable[None]], every: float | None
) -> AsyncIterator[None]:
    """Call `flush` each time so many seconds have passed during the block, and at its end."""
    ended = asyncio.Event()

    async def keep_flushing() -> None:
        while not ended.is_set():
            await _set_within(ended, every)
            await flush()

    flushing = asyncio.create_task(keep_flushing())
    try:
        yield
    finally:
        ended.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await flushing


async def _set_within(event: asyncio.Event, seconds: float | None) -> bool:
    """Wait until the event is set, for so many seconds at most. Return True if it is set."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


class BackgroundTasks(Generic[Name]):
    """The tasks that are under way, by name."""

    def __init__(self) -> None:
        self._tasks: dict[Name, asyncio.Task[None]] = {}

    def __iter__(self) -> Iterator[Name]:
        return iter(self._tasks)

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, name: Name, work: Coroutine[Any, Any, None]) -> None:
        """Do the work in the background. No other task of that name may be under way."""
        task = asyncio.create_task(work)
        self._tasks[name] = task
        task.add_done_callback(lambda _: self._tasks.pop(name))

    @asynccontextmanager
    async def work_beside(self, work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
        """Do `work` too during the block. What is under way at its end is broken off."""
        task_beside = asyncio.create_task(work)
        try:
            yield
        finally:
            tasks = [task_beside, *self._tasks.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
