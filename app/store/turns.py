"""Long work on the event loop lets other requests have their turns."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

Item = TypeVar("Item")

# Seconds of work after which others have a turn.
TURN = 0.01


async def iterate_in_turns(items: Iterable[Item]) -> AsyncIterator[Item]:
    """Yield the items, and let other tasks run whenever a turn of work is over."""
    started = time.perf_counter()
    for item in items:
        yield item
        if time.perf_counter() - started > TURN:
            await asyncio.sleep(0)
            started = time.perf_counter()
