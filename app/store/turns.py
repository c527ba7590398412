"""Long work on the event loop lets other requests have their turns."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

# Seconds of work after which others have a turn.
TURN = 0.01
# Work on so few versions or pairs takes less than a turn, and is not worth a thread.
FEW = 200


async def iterate_in_turns(items: Iterable[Item]) -> AsyncIterator[Item]:
    """Yield the items, and let other tasks run whenever a turn of work is over."""
    started = time.perf_counter()
    for item in items:
        yield item
        if time.perf_counter() - started > TURN:
            await asyncio.sleep(0)
            started = time.perf_counter()


async def compute_in_thread(work: Callable[[], Result], *, size: int) -> Result:
    """Return what `work` on `size` versions or pairs returns, from a thread if they are many."""
    return work() if size <= FEW else await asyncio.to_thread(work)
