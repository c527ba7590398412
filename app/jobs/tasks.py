"""The jobs of a worker: sweeps, looks at marked memories, abandoned work, retention."""

import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from uuid import UUID

from procrastinate.jobs import Status
from uuid_utils.compat import uuid7

from app.advice import advise_operator
from app.domain.agent import AgentId
from app.domain.errors import ArchivesUnavailable, LogDamaged
from app.store.engine import begin_as_operator, begin_for_agent
from app.store.sweeps import queue as queues
from app.store.sweeps import runs as sweep_runs
from app.store.sweeps import work as sweep_work
from app.store.sweeps.runs import Origin, SweepScope
from app.wiring import Services

logger = logging.getLogger(__name__)

STALLED_AFTER = sweep_runs.LEASE.total_seconds()  # without a heartbeat of its worker


@dataclass(frozen=True, slots=True)
class Jobs:
    """The jobs of a worker, over the services."""

    services: Services

    def register_jobs(self, *, sweeps_at: str | None) -> None:
        """Register the jobs with the queue.

        `sweeps_at` is a cron expression for when every agent is swept; None is never.
        """
        app = self.services.queue.app
        app.task(name=queues.SWEEP)(self.carry_out_sweep)
        app.task(name=queues.LOOK)(self.look_again)
        self._register_periodic_job("pick_up", self.pick_up, "* * * * *")
        self._register_periodic_job("retain", self.retain_every_agent, "43 4 * * *")
        if self.services.sweeps.is_on:
            self._register_periodic_job("look_at_marks", self.look_at_marks, "*/10 * * * *")
            if sweeps_at:
                self._register_periodic_job("start_sweeps", self.start_sweeps, sweeps_at)

    def _register_periodic_job(
        self, name: str, job: Callable[[int], Awaitable[None]], cron: str
    ) -> None:
        app = self.services.queue.app
        task = app.task(name=name, queueing_lock=name, priority=queues.SOON)(job)
        app.periodic(cron=cron)(task)

    async def carry_out_sweep(self, agent: str, sweep_id: str) -> None:
        """Carry out a sweep, and enqueue those of its agent that had to wait for this one."""
        did_run = await self.services.sweeps.run(AgentId(agent), UUID(sweep_id))
        # On False another sweep of this agent is running; its worker enqueues the next.
        if did_run:
            await self._enqueue_waiting_sweeps(AgentId(agent))

    async def look_again(self, agent: str) -> None:
        """Look again at the marked memories of an agent."""
        did_run = await self.services.sweeps.sweep_marked(AgentId(agent))
        if did_run:
            await self._enqueue_waiting_sweeps(AgentId(agent))

    async def start_sweeps(self, timestamp: int) -> None:
        """Start a sweep for each agent with news since its last one."""
        async with begin_as_operator(self.services.engine) as connection:
            due_agents = await sweep_runs.list_due_agents(connection)
        for agent, since in due_agents:
            scope, sweep_id = SweepScope(since=since), uuid7()
            # One agent's failure does not keep the sweeps of the other agents from starting.
            try:
                # A transaction for each sweep: it waits for the agent's writes, and they wait for
                # it.
                async with begin_for_agent(self.services.engine, agent) as connection:
                    await sweep_runs.create_sweep(
                        connection, agent, sweep_id, scope, Origin.SCHEDULE
                    )
                await self.services.queue.defer_sweep(agent, sweep_id)
            except Exception as problem:
                kind = type(problem).__name__
                logger.warning("A sweep that is due could not be started: %s", kind)

    async def pick_up(self, timestamp: int) -> None:
        """Enqueue every unfinished sweep that no living worker has."""
        # No work is lost with the jobs that workers had when they died, because what is to be done
        # stands in columns of its own.
        manager = self.services.queue.app.job_manager
        await manager.prune_stalled_workers(STALLED_AFTER)
        for job in await manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_AFTER):
            if job.id is not None:
                await manager.finish_job_by_id_async(job.id, Status.FAILED, delete_job=True)
        await self._enqueue_waiting_sweeps(None)

    async def has_waiting_work(self) -> bool:
        """Return whether a sweep may be carried out and no living worker has it."""
        if not self.services.sweeps.is_on:
            return False
        async with begin_as_operator(self.services.engine) as connection:
            return bool(await sweep_runs.list_waiting_sweeps(connection))

    async def _enqueue_waiting_sweeps(self, agent: AgentId | None) -> None:
        """Enqueue the waiting sweeps of one agent, or of all agents for None."""
        async with begin_as_operator(self.services.engine) as connection:
            waiting_sweeps = await sweep_runs.list_waiting_sweeps(connection, agent)
        for owner, sweep_id in waiting_sweeps:
            await self.services.queue.defer_sweep(owner, sweep_id)

    async def look_at_marks(self, timestamp: int) -> None:
        """Enqueue a look at each agent that still has marks.

        A mark stays if the model was down, or if no worker was woken for it.
        """
        async with begin_as_operator(self.services.engine) as connection:
            agents = await sweep_work.list_agents_with_marks(connection)
        for agent in agents:
            await self.services.queue.defer_look_again(agent)

    async def retain_every_agent(self, timestamp: int) -> None:
        """Apply retention to every agent. A failure is logged, and the next agent follows."""
        async with aclosing(self.services.doctor.iterate_agents()) as agents:
            async for agent in agents:
                try:
                    await self.services.retention.retain_agent(agent)
                except (LogDamaged, ArchivesUnavailable) as problem:
                    logger.warning("Retention of agent %s: %s", agent, advise_operator(problem))
