"""The queue that wakes workers: procrastinate's tables, in a schema of their own in the same database.

What is to be done stands in columns that are written with what makes it necessary. A job only says where to look, so one that is lost
costs a minute and no work, and one too many finds nothing.
"""

from contextlib import suppress
from uuid import UUID

import psycopg
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued

from app.domain.agent import AgentId

SWEEP = "sweep"
LOOK = "look_again"
SOON = 10  # priority of what is short, above sweeps that wait


class Queue:
    """Jobs that tell workers where to look. `app` is procrastinate's; it must be open."""

    def __init__(self, url: str) -> None:
        connector = PsycopgConnector(
            conninfo=url, min_size=0, max_size=3, timeout=10, configure=_in_schema_of_jobs
        )
        self.app = App(connector=connector)

    async def defer_sweep(self, agent: AgentId, sweep_id: UUID) -> None:
        await self._defer_job(SWEEP, agent, f"{SWEEP}:{sweep_id}", 0, sweep_id=str(sweep_id))

    async def defer_look_again(self, agent: AgentId) -> None:
        await self._defer_job(LOOK, agent, f"{LOOK}:{agent}", SOON)

    async def _defer_job(
        self, task: str, agent: AgentId, once: str, priority: int, **arguments: str
    ) -> None:
        job = self.app.configure_task(task, queueing_lock=once, priority=priority)
        with suppress(AlreadyEnqueued):
            await job.defer_async(agent=agent, **arguments)


async def _in_schema_of_jobs(connection: psycopg.AsyncConnection[object]) -> None:
    await connection.execute("SET search_path TO jobs, public")
    await connection.commit()
