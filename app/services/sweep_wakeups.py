"""Telling workers that there is something to look at, without holding up or failing the call that left it."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any
from uuid import UUID

from app.domain.agent import AgentId
from app.store.sweeps.queue import Queue

logger = logging.getLogger(__name__)


class SweepWaker:
    """Wakes workers in the background. Where that fails, they find what there is to do within minutes by themselves."""

    def __init__(self, queue: Queue, *, looks_again: bool) -> None:
        self._queue = queue
        self._looks_again = looks_again
        self._under_way: set[asyncio.Task[None]] = set()

    def wake_for_marks(self, agent: AgentId) -> None:
        """Have the agent's marked memories looked at again."""
        if self._looks_again:
            self._start_waking(self._queue.defer_look_again(agent))

    def wake_for_sweep(self, agent: AgentId, sweep_id: UUID) -> None:
        """Has a committed sweep carried out."""
        self._start_waking(self._queue.defer_sweep(agent, sweep_id))

    async def wait_until_idle(self) -> None:
        """Waits for what is under way."""
        await asyncio.gather(*self._under_way)

    def _start_waking(self, waking: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(_log_failure(waking))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)


async def _log_failure(waking: Coroutine[Any, Any, None]) -> None:
    """Whatever goes wrong, the call is over and a worker will come by."""
    try:
        await waking
    except Exception as problem:
        logger.warning("No worker could be woken: %s", type(problem).__name__)
