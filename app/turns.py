"""Long work lets other requests have their turns."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

# Seconds of work after which others have a turn. A search waits for its turn several times.
TURN = 0.002
# Seconds of a turn of a transfer, which a search should hardly feel.
TURN_OF_TRANSFER = 0.001
# A transfer pauses after each turn until no short request is under way, so often at most. So short
# requests have nineteen twentieths of the time.
MOST_PAUSES = 20
# Seconds of each pause.
PAUSE = 0.001
# Seconds for which a request counts as short. A longer one may be waiting for a model.
SHORT = 1.0
# Work on so few versions or pairs takes a few milliseconds, and is not worth a thread.
FEW = 200

# Whether the work of this task belongs to a transfer.
_rests: ContextVar[bool] = ContextVar("rests", default=False)
# When each short request under way in this process began.
_begun: list[float] = []


@contextmanager
def serve_short_request() -> Iterator[None]:
    """Let transfers rest meanwhile."""
    begun = time.perf_counter()
    _begun.append(begun)
    try:
        yield
    finally:
        _begun.remove(begun)


@contextmanager
def serve_transfer() -> Iterator[None]:
    """Rest after each turn of work while short requests are under way."""
    token = _rests.set(True)
    try:
        yield
    finally:
        _rests.reset(token)


class Turn:
    """A turn of work. It begins when it is made, and anew whenever others had theirs."""

    def __init__(self) -> None:
        self._length = TURN_OF_TRANSFER if _rests.get() else TURN
        self._started = time.perf_counter()

    async def pass_on(self) -> None:
        """Let other tasks run if this turn is over."""
        if time.perf_counter() - self._started > self._length:
            await asyncio.sleep(0)
            await rest()
            self._started = time.perf_counter()


async def rest() -> None:
    """Rest while short requests are under way, if this task belongs to a transfer."""
    if not _rests.get():
        return
    for _ in range(MOST_PAUSES):
        now = time.perf_counter()
        if not any(now - begun < SHORT for begun in _begun):
            return
        await asyncio.sleep(PAUSE)


async def iterate_in_turns(items: Iterable[Item]) -> AsyncIterator[Item]:
    """Yield the items, and let other tasks run whenever a turn of work is over."""
    turn = Turn()
    for item in items:
        yield item
        await turn.pass_on()


async def collect_in_turns(items: Iterable[Item]) -> list[Item]:
    """Return the items, and let other tasks run whenever a turn of making them is over."""
    return [item async for item in iterate_in_turns(items)]


async def compute_in_thread(work: Callable[[], Result], *, size: int) -> Result:
    """Return what `work` on `size` versions or pairs returns, from a thread if they are many."""
    return work() if size <= FEW else await asyncio.to_thread(work)
