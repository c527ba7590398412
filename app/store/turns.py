"""Long work on the event loop lets other requests have their turns."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

# Seconds of work after which others have a turn. A search waits for its turn several times.
TURN = 0.002
# Work on so few versions or pairs takes a few milliseconds, and is not worth a thread.
FEW = 200


class Turn:
    """A turn of work. It begins when it is made, and anew whenever others had theirs."""

    def __init__(self) -> None:
        self._started = time.perf_counter()

    async def pass_on(self) -> None:
        """Let other tasks run if this turn is over."""
        if time.perf_counter() - self._started > TURN:
            await asyncio.sleep(0)
            self._started = time.perf_counter()


async def iterate_in_turns(items: Iterable[Item]) -> AsyncIterator[Item]:
    """Yield the items, and let other tasks run whenever a turn of work is over."""
    turn = Turn()
    for item in items:
        yield item
        await turn.pass_on()


async def compute_in_thread(work: Callable[[], Result], *, size: int) -> Result:
    """Return what `work` on `size` versions or pairs returns, from a thread if they are many."""
    return work() if size <= FEW else await asyncio.to_thread(work)
