"""Long work on the event loop lets other requests have their turns."""

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
# While short requests are under way, a transfer rests after each turn: it looks whether they are
# done so many times, after so many seconds each. So they have nine tenths of the time.
LOOKS = 20
PAUSE = 0.001
# Seconds after which no transfer rests for a request: it may wait for a model.
SHORT = 1.0
# Work on so few versions or pairs takes a few milliseconds, and is not worth a thread.
FEW = 200

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
        self._started = time.perf_counter()

    async def pass_on(self) -> None:
        """Let other tasks run if this turn is over."""
        if time.perf_counter() - self._started > TURN:
            await asyncio.sleep(0)
            if _rests.get():
                await _rest()
            self._started = time.perf_counter()


async def _rest() -> None:
    for _ in range(LOOKS):
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


async def compute_in_thread(work: Callable[[], Result], *, size: int) -> Result:
    """Return what `work` on `size` versions or pairs returns, from a thread if they are many."""
    return work() if size <= FEW else await asyncio.to_thread(work)
