"""A worker process: everything that jobs need, built here, and procrastinate's worker over it."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import httpx
import sqlalchemy as sa
from sqlalchemy.engine.interfaces import DBAPIConnection

from app.classification.cascade import Cascade
from app.embedding.deferred import DeferredEmbedder
from app.jobs.tasks import STALLED_AFTER, Jobs
from app.services.agent_write import WriteSetup
from app.services.classify import Classifier
from app.services.sweeps import Sweeper
from app.settings import InvalidSettings, Settings
from app.store import schema
from app.store.engine import create_engine
from app.store.sweeps.queue import Queue
from app.wiring import (
    build_model_judge,
    build_patience,
    build_policy,
    build_retention,
    build_store_settings,
)

AT_ONCE = 1  # jobs: beside one sweep a core stays free for those who wait for answers; more workers do more
CONNECTIONS = 4
NICENESS = 10
GRACE = 10.0  # seconds that jobs under way may take to end; another worker goes on with what is broken off


async def run_worker(
    settings: Settings, *, until_idle: bool = False, parent_pid: int | None = None
) -> None:
    """Works until it is told to stop (SIGTERM, SIGINT); `until_idle`: until no job is left; `beside`: until that process,
    its parent, is gone."""
    async with open_jobs(settings) as jobs:
        clock = settings.supersession_sweep_enabled and not until_idle
        jobs.register_jobs(sweeps_at=settings.supersession_cron if clock else None)
        await jobs.pick_up(0)
        if jobs.sweeping.is_on:
            await jobs.look_at_marks(0)
        watching = asyncio.create_task(_wait_for_parent_end(parent_pid)) if parent_pid else None
        working = asyncio.create_task(_run_jobs(jobs, until_idle=until_idle))
        if watching:
            watching.add_done_callback(lambda _: working.cancel())
        with suppress(asyncio.CancelledError):
            await working


async def _run_jobs(jobs: Jobs, *, until_idle: bool) -> None:
    while True:
        await jobs.queue.app.run_worker_async(
            concurrency=AT_ONCE,
            wait=not until_idle,
            delete_jobs="always",
            shutdown_graceful_timeout=GRACE,
            update_heartbeat_interval=STALLED_AFTER / 3,
            stalled_worker_timeout=STALLED_AFTER,
            install_signal_handlers=not until_idle,
        )
        # A worker that does not wait fetches nothing more once it found nothing, though what it still did may have woken for more.
        if not (until_idle and await jobs.anything_waits()):
            return
        await jobs.pick_up(0)
        await asyncio.sleep(0.05)


@asynccontextmanager
async def open_jobs(settings: Settings) -> AsyncIterator[Jobs]:
    """The jobs over the database of the settings, which must be migrated."""
    if settings.database_url is None:
        raise InvalidSettings(
            "PALIMPSEST_DATABASE_URL: not set. With the embedded Postgres, `palimpsest serve` runs a worker by itself."
        )
    engine = create_engine(
        settings.database_url, pool_size=CONNECTIONS, patience=build_patience(settings)
    )
    sa.event.listen(engine.sync_engine, "connect", _give_way)
    queue = Queue(settings.database_url)
    try:
        async with AsyncExitStack() as opened:
            http = await opened.enter_async_context(httpx.AsyncClient())
            await opened.enter_async_context(queue.app.open_async())
            embedder = DeferredEmbedder(settings, opened)
            language_oid = await asyncio.to_thread(
                schema.get_language_oid, settings.database_url, settings.text_language
            )
            policy = build_policy(settings)
            rules = build_store_settings(settings, policy)
            judging = Classifier(
                engine, embedder, Cascade(policy, build_model_judge(settings, http)), rules
            )
            batch = settings.supersession_batch
            setup = WriteSetup(policy, language_oid)
            sweeping = Sweeper(engine, judging, rules, setup, encoder=embedder.name, batch=batch)
            yield Jobs(engine, queue, sweeping, build_retention(engine, settings))
    finally:
        await engine.dispose()


def _give_way(dbapi_connection: DBAPIConnection, _record: object) -> None:
    """Where Postgres runs on this machine and we may, its process for this connection gives way as the worker does: to whoever waits."""
    told = dbapi_connection.driver_connection.info
    if told.host.startswith("/"):  # a socket: it is here
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, told.backend_pid, NICENESS)


async def _wait_for_parent_end(parent: int) -> None:
    """Returns when the process that started this one is gone, however it went."""
    while os.getppid() == parent:  # noqa: ASYNC110 - no event tells of it
        await asyncio.sleep(1)
