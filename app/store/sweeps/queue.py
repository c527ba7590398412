"""The queue that wakes workers: procrastinate's tables, in a schema of their own.

The work itself is recorded in columns, in the transaction that makes it necessary. A job only says
where to look: a lost job costs a minute and loses no work, and a superfluous job finds nothing.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any
from uuid import UUID

import psycopg
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued
from psycopg_pool import AsyncConnectionPool

from app.database_urls import split_options
from app.domain.agent import AgentId
from app.store.engine import PREPARED_AFTER, stop_preparing_behind_pooler
from app.store.installation import Installation, read_installation
from app.store.roles import Role

SWEEP = "sweep"
LOOK = "look_again"
SOON = 10  # the priority of short jobs, above that of sweeps


# Take on the role of the queue, and find its tables, for one transaction.
_BEGIN = "SELECT set_config('role', %s, true), set_config('search_path', %s, true)"


class _Pool(AsyncConnectionPool):
    """Connections whose every transaction runs in the role of the queue."""

    def __init__(self, *, installation: Installation, **options: Any) -> None:
        super().__init__(**options, configure=stop_preparing_behind_pooler)
        self._scope = [installation.name_role(Role.JOBS), installation.queue_schema]

    @asynccontextmanager
    async def connection(
        self,
        timeout: float | None = None,  # noqa: ASYNC109 - as psycopg has it
    ) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
        async with super().connection(timeout) as connection:
            await connection.execute(_BEGIN, self._scope)
            yield connection


class Queue:
    """Enqueues the jobs that wake workers. `app` is procrastinate's and must be open."""

    def __init__(self, url: str, *, behind_pooler: bool = False) -> None:
        plain_url, _ = split_options(url)
        connector = PsycopgConnector(
            pool_factory=partial(_Pool, installation=read_installation(url)),
            conninfo=plain_url,
            kwargs={"prepare_threshold": None if behind_pooler else PREPARED_AFTER},
            min_size=0,
            max_size=3,
            timeout=10,
        )
        self.app = App(connector=connector)

    async def defer_sweep(self, agent: AgentId, sweep_id: UUID) -> None:
        lock = f"{SWEEP}:{sweep_id}"
        await self._defer_job(SWEEP, agent, lock=lock, priority=0, sweep_id=str(sweep_id))

    async def defer_look_again(self, agent: AgentId) -> None:
        await self._defer_job(LOOK, agent, lock=f"{LOOK}:{agent}", priority=SOON)

    async def _defer_job(
        self,
        task: str,
        agent: AgentId,
        *,
        lock: str,
        priority: int,
        **arguments: str,
    ) -> None:
        """Enqueue a job, unless a job with the same lock waits already."""
        job = self.app.configure_task(task, queueing_lock=lock, priority=priority)
        with suppress(AlreadyEnqueued):
            await job.defer_async(agent=agent, **arguments)
