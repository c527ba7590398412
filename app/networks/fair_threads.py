"""Threads that work for agents in turns, so that nobody's work stands before all others'."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeVar

from app.networks.requester import Requester, get_requester

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
    """Threads that take one step of each waiting agent in turn, and an agent's steps in order.

    Long work should come in short steps, one after the other. No agent has more than `threads` at a
    time, and there is one more, so that whoever comes meanwhile seldom waits. Steps of a caller who
    hung up are dropped.
    """

    def __init__(self, threads: int, name: str) -> None:
        self._executor = ThreadPoolExecutor(threads + 1, thread_name_prefix=name)
        self._most = threads
        self._lock = Lock()
        self._waiting: dict[str, deque[_Step]] = {}  # in the order of the agents' turns
        self._running: Counter[str] = Counter()

    def close(self) -> None:
        """Wait for the steps that are under way or wait, and end the threads."""
        self._executor.shutdown()

    async def run(self, work: Callable[[], Result]) -> Result:
        """Return what `work` returns in a thread.

        Raises CallerLeft if the caller hung up before its turn, and RuntimeError after `close`.
        """
        step = _Step(work, get_requester())
        with self._lock:
            self._waiting.setdefault(step.requester.agent, deque()).append(step)
            self._executor.submit(self._run_waiting)
        result: Result = await asyncio.wrap_future(step.outcome)
        return result

    def _run_waiting(self) -> None:
        """Run steps until none waits that may run now."""
        while step := self._take_next():
            step.run()
            self._note_end(step.requester.agent)

    def _note_end(self, agent: str) -> None:
        with self._lock:
            self._running[agent] -= 1
            if not self._running[agent]:
                del self._running[agent]

    def _take_next(self) -> _Step | None:
        """Return the next step of the agent whose turn it is, and let the others come first.

        Return None if every agent that waits has as many threads as it may have.
        """
        with self._lock:
            agent = self._find_next_agent()
            if agent is None:
                return None
            steps = self._waiting.pop(agent)
            step = steps.popleft()
            if steps:
                self._waiting[agent] = steps
            self._running[agent] += 1
            return step

    def _find_next_agent(self) -> str | None:
        for agent in self._waiting:
            if self._running[agent] < self._most:
                return agent
        return None
