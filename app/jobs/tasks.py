"""The jobs that a worker knows: carry out a sweep, look again at what is marked, start what is due by the clock, pick up what was left."""

import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from uuid import UUID

from procrastinate.jobs import Status
from sqlalchemy.ext.asyncio import AsyncEngine
from uuid_utils.compat import uuid7

from app.domain.agent import AgentId
from app.domain.errors import ArchivesUnavailable, LogDamaged
from app.services.doctor import Doctor
from app.services.retention import Retention
from app.services.sweeps import Sweeper
from app.store.sweeps import queue as queues
from app.store.sweeps import runs as sweep_runs
from app.store.sweeps import work as sweep_work
from app.store.sweeps.queue import Queue
from app.store.sweeps.runs import Origin, SweepScope

logger = logging.getLogger(__name__)

STALLED_AFTER = sweep_runs.LEASE.total_seconds()  # without a sign of life from its worker


@dataclass(frozen=True, slots=True)
class Jobs:
    """What the jobs of a worker need."""

    engine: AsyncEngine
    queue: Queue
    sweeping: Sweeper
    retention: Retention

    def register_jobs(self, *, sweeps_at: str | None) -> None:
        """Makes the jobs known to the queue; `sweeps_at`: when sweeps of everything are due, as a cron expression, None = never."""
        app = self.queue.app
        app.task(name=queues.SWEEP)(self.carry_out_sweep)
        app.task(name=queues.LOOK)(self.look_again)
        self._by_the_clock("pick_up", self.pick_up, "* * * * *")
        self._by_the_clock("retain", self.retain_every_agent, "43 4 * * *")
        if self.sweeping.is_on:
            self._by_the_clock("look_at_marks", self.look_at_marks, "*/10 * * * *")
        if self.sweeping.is_on and sweeps_at:
            self._by_the_clock("start_sweeps", self.start_sweeps, sweeps_at)

    def _by_the_clock(self, name: str, job: Callable[[int], Awaitable[None]], cron: str) -> None:
        app = self.queue.app
        app.periodic(cron=cron)(app.task(name=name, queueing_lock=name, priority=queues.SOON)(job))

    async def carry_out_sweep(self, agent: str, sweep_id: str) -> None:
        """Carries a sweep out, and wakes for the next one of its agent, which had to wait for this one."""
        if await self.sweeping.run(
            AgentId(agent), UUID(sweep_id)
        ):  # else it is the one under way that wakes for this one
            await self._wake_for_waiting(AgentId(agent))

    async def look_again(self, agent: str) -> None:
        """Looks again at what is marked in an agent."""
        if await self.sweeping.sweep_marked(AgentId(agent)):
            await self._wake_for_waiting(AgentId(agent))

    async def start_sweeps(self, timestamp: int) -> None:
        """Starts a sweep for each agent with news since its last one."""
        async with self.engine.connect() as connection:
            due = await sweep_runs.list_due_agents(connection)
        for agent, since in due:
            try:
                async with (
                    self.engine.begin() as connection
                ):  # one each: it waits for the agent's writes, and they for it
                    sweep_id = uuid7()
                    await sweep_runs.create_sweep(
                        connection, agent, sweep_id, SweepScope(since=since), Origin.SCHEDULE
                    )
                await self.queue.defer_sweep(agent, sweep_id)
            except Exception as problem:  # the others are due all the same
                logger.warning(
                    "A sweep that is due could not be started: %s", type(problem).__name__
                )

    async def pick_up(self, timestamp: int) -> None:
        """Goes on with every sweep that is not at its end and that nobody works on: its worker died, or something went wrong."""
        await self._forget_dead_workers()
        await self._wake_for_waiting(None)

    async def anything_waits(self) -> bool:
        """Whether a sweep that may be carried out is not at its end and in no living worker's hands."""
        async with self.engine.connect() as connection:
            return self.sweeping.is_on and bool(await sweep_runs.list_waiting_sweeps(connection))

    async def _wake_for_waiting(self, agent: AgentId | None) -> None:
        async with self.engine.connect() as connection:
            waiting = await sweep_runs.list_waiting_sweeps(connection, agent)
        for owner, sweep_id in waiting:
            await self.queue.defer_sweep(owner, sweep_id)

    async def look_at_marks(self, timestamp: int) -> None:
        """Looks again where a memory is still marked: its model was down, or nobody was woken."""
        async with self.engine.connect() as connection:
            agents = await sweep_work.list_agents_with_marks(connection)
        for agent in agents:
            await self.queue.defer_look_again(agent)

    async def retain_every_agent(self, timestamp: int) -> None:
        """Retention for every agent; what stands in its way is told, and the others have their turn."""
        async with aclosing(Doctor(self.engine).iterate_agents()) as agents:
            async for agent in agents:
                try:
                    await self.retention.retain_agent(agent)
                except (LogDamaged, ArchivesUnavailable) as problem:
                    logger.warning("Retention of agent %s: %s", agent, problem)

    async def _forget_dead_workers(self) -> None:
        """Removes the jobs that workers had when they died; what they were about stands in columns."""
        manager = self.queue.app.job_manager
        await manager.prune_stalled_workers(STALLED_AFTER)
        for job in await manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_AFTER):
            if job.id is not None:
                await manager.finish_job_by_id_async(job.id, Status.FAILED, delete_job=True)
