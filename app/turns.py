"""Long work lets other requests have their turns."""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

# Seconds of work after which others have a turn. A search waits for its turn several times.
TURN = 0.002
# Seconds of a turn of long work, which a search should hardly feel.
LONG_TURN = 0.001
# Long work pauses after each turn until no short request is under way, so often at most. So short
# requests have nineteen twentieths of the time.
MOST_PAUSES = 20
# Seconds of each pause.
PAUSE = 0.001
# Seconds for which a request counts as short. A longer one may be waiting for a model.
SHORT = 1.0
# Seconds after which half of what a key used is forgotten.
HALF_LIFE = 10.0
# Work on so few versions or pairs takes a few milliseconds, and is not worth a thread.
FEW = 200
# To read texts of so many characters in all takes a millisecond or two.
FEW_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True, eq=False)
class _Request:
    """A request that is worked on: for which key, since when, and whether it is short so far."""

    key: str
    begun: float
    may_be_short: bool

    @property
    def is_short(self) -> bool:
        return self.may_be_short and time.perf_counter() - self.begun < SHORT


_own: ContextVar[_Request | None] = ContextVar("own", default=None)
_under_way: set[_Request] = set()
# Seconds of work for each key lately.
_used: defaultdict[str, float] = defaultdict(float)
_halved_at = 0.0


@contextmanager
def serve_request(key: str, *, is_short: bool) -> Iterator[None]:
    """Work for a key during the block, in turns with requests for others.

    A request that has lasted for a second rests after each turn of its work while short requests
    are under way for keys that used the service less lately. A transfer is never short, and rests
    for short requests of its own key too.
    """
    request = _Request(key, time.perf_counter(), is_short)
    token = _own.set(request)
    _under_way.add(request)
    try:
        yield
    finally:
        _under_way.remove(request)
        _own.reset(token)
        _forget_old_use()
        _used[key] += time.perf_counter() - request.begun


def _forget_old_use() -> None:
    global _halved_at  # noqa: PLW0603 - the use of this process
    now = time.perf_counter()
    if now > _halved_at + HALF_LIFE:
        _halved_at = now
        for key in list(_used):
            _used[key] /= 2
            if _used[key] < PAUSE:
                del _used[key]


class Turn:
    """A turn of work. It begins when it is made, and anew whenever others had theirs."""

    def __init__(self) -> None:
        own = _own.get()
        self._length = TURN if own is None or own.is_short else LONG_TURN
        self._started = time.perf_counter()

    async def pass_on(self) -> None:
        """Let other tasks run if this turn is over."""
        if time.perf_counter() - self._started > self._length:
            await asyncio.sleep(0)
            await rest()
            self._started = time.perf_counter()


async def rest() -> None:
    """Rest while short requests are under way that go first, if this task works for a long one."""
    own = _own.get()
    if own is None or own.is_short:
        return
    for _ in range(MOST_PAUSES):
        if not any(_goes_first(other, own) for other in _under_way):
            return
        await asyncio.sleep(PAUSE)


def _goes_first(other: _Request, own: _Request) -> bool:
    if not other.is_short:
        return False
    if other.key == own.key:
        return not own.may_be_short
    return _get_use(other) < _get_use(own)


def _get_use(request: _Request) -> float:
    return _used[request.key] + time.perf_counter() - request.begun


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


async def read_in_thread(work: Callable[[], Result], texts: Iterable[str]) -> Result:
    """Return what `work` reads of the texts, from a thread if they are long."""
    is_short = sum(map(len, texts)) <= FEW_CHARACTERS
    return work() if is_short else await asyncio.to_thread(work)
