"""Threads that work for requesters in turns, so that nobody's work keeps all others waiting."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic
from typing import Any, Final, TypeVar

from app.networks.requester import Requester, get_requester

# Threads count as shared for so long after two requesters wanted them at the same time.
SHARED_SECONDS: Final = 5.0

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class _Step:
    """A step of somebody's work that waits for its turn."""

    work: Callable[[], Any]
    requester: Requester
    outcome: Future[Any] = field(default_factory=Future)

    def run(self) -> None:
        """Do the step, unless nobody waits for it any more."""
        if not self.outcome.set_running_or_notify_cancel():
            return
        try:
            self.requester.check_presence()
            self.outcome.set_result(self.work())
        except BaseException as problem:
            self.outcome.set_exception(problem)


class FairThreads:
    """Threads that take one step of each requester in turn, and the steps of each in order.

    Long work should come in short steps, one after the other. Nobody has more than `count` threads
    at a time, and there is one more, so that whoever comes meanwhile seldom waits. While requesters
    share the threads, each has one fewer, so that a core is left for the rest of what their calls
    do. Everybody has at least one. Steps of a caller who hung up are dropped.
    """

    def __init__(self, count: int) -> None:
        self.count: Final = count
        self._executor = ThreadPoolExecutor(count + 1, thread_name_prefix="networks")
        self._lock = Lock()
        self._waiting: dict[str, deque[_Step]] = {}  # in the order of their turns
        self._running: Counter[str] = Counter()
        self._last_shared: float | None = None  # by the clock of `monotonic`

    def close(self) -> None:
        """Wait for the steps that are under way or wait, and end the threads."""
        self._executor.shutdown()

    async def run(self, work: Callable[[], Result]) -> Result:
        """Return what `work` returns in a thread.

        Raises CallerLeft if the caller hung up before its turn, and RuntimeError after `close`.
        """
        step = _Step(work, get_requester())
        with self._lock:
            self._waiting.setdefault(step.requester.name, deque()).append(step)
            self._executor.submit(self._run_waiting)
        result: Result = await asyncio.wrap_future(step.outcome)
        return result

    def _run_waiting(self) -> None:
        """Run steps until none waits that may run now."""
        while step := self._take_next():
            step.run()
            name = step.requester.name
            with self._lock:
                self._running[name] -= 1
                if not self._running[name]:
                    del self._running[name]

    def _take_next(self) -> _Step | None:
        """Return the next step of the requester whose turn it is, and let the others come first.

        Return None if all that wait have as many threads as they may have.
        """
        with self._lock:
            last = self._last_shared
            is_shared = last is not None and monotonic() - last < SHARED_SECONDS
            most = max(1, self.count - 1) if is_shared else self.count
            name = next((name for name in self._waiting if self._running[name] < most), None)
            if name is None:
                return None
            steps = self._waiting.pop(name)
            step = steps.popleft()
            if steps:
                self._waiting[name] = steps
            self._running[name] += 1
            if self._running.keys() | self._waiting.keys() != {name}:
                self._last_shared = monotonic()
            return step
