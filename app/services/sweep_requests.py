"""Asking for sweeps: start one, cancel one, and wake a worker without making the caller wait."""

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine
from uuid_utils.compat import uuid7

from app.domain.agent import AgentId
from app.domain.errors import SweepsOff, UnknownSweep
from app.services.agent_write import Call, agent_write
from app.store.sweeps import runs as sweep_runs
from app.store.sweeps.queue import Queue
from app.store.sweeps.runs import Origin, SweepScope

logger = logging.getLogger(__name__)

SweepRow = Mapping[str, Any]


class SweepRequests:
    """Takes requests for sweeps and wakes workers in the background.

    If waking fails, workers find what there is to do within minutes by themselves.
    """

    def __init__(self, engine: AsyncEngine, queue: Queue, *, looks_again: bool) -> None:
        self._engine = engine
        self._queue = queue
        self._looks_again = looks_again
        self._under_way: set[asyncio.Task[None]] = set()

    async def start(self, call: Call[SweepRow], scope: SweepScope) -> SweepRow:
        """Ask for a sweep. Raises SweepsOff if the settings switch sweeps off."""
        if not self._looks_again:
            raise SweepsOff
        async with agent_write(self._engine, call, refuse_frozen=False) as write:
            row = await sweep_runs.create_sweep(
                write.connection, call.agent, uuid7(), scope, Origin.REQUEST
            )
            await write.keep(row)
        self._start_waking(self._queue.defer_sweep(call.agent, row["id"]))
        return row

    async def cancel(self, call: Call[SweepRow], sweep_id: UUID) -> SweepRow:
        """Cancel a sweep that is not over. Raises UnknownSweep."""
        async with agent_write(self._engine, call, refuse_frozen=False) as write:
            row = await sweep_runs.cancel_open_sweep(write.connection, call.agent, sweep_id)
            if row is None:
                raise UnknownSweep(sweep_id)
            await write.keep(row)
        return row

    def wake_for_marks(self, agent: AgentId) -> None:
        """Have the agent's marked memories looked at again."""
        if self._looks_again:
            self._start_waking(self._queue.defer_look_again(agent))

    async def wait_until_idle(self) -> None:
        """Wait until every wakeup under way has been sent."""
        await asyncio.gather(*self._under_way)

    def _start_waking(self, waking: Coroutine[Any, Any, None]) -> None:
        async def wake() -> None:
            try:
                await waking
            except Exception as problem:
                # The call is over, and a worker will come by.
                logger.warning("No worker could be woken: %s", type(problem).__name__)

        task = asyncio.create_task(wake())
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
