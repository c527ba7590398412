"""Tasks in the background, one for each name at a time."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Generic, TypeVar

Name = TypeVar("Name")


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
        task.add_done_callback(partial(self._forget, name))

    def _forget(self, name: Name, _: asyncio.Task[None]) -> None:
        del self._tasks[name]

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
