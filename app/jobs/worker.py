"""A worker process: procrastinate's worker over the services."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress

from procrastinate.exceptions import ConnectorException

from app.domain.errors import PalimpsestError
from app.jobs.tasks import STALLED_AFTER, Jobs
from app.settings import Settings
from app.store.engine import is_behind_pooler
from app.wiring import Process, open_services

# Jobs that one worker carries out at a time. One sweep leaves a processor core free for those who
# wait for answers; whoever wants more done starts more workers.
CONCURRENT_JOBS = 1
# Seconds that running jobs may take to end. Another worker continues what is broken off.
SHUTDOWN_GRACE = 10.0


class WorkerCutOff(PalimpsestError):
    """The worker ended without being asked to."""


async def run_worker(
    settings: Settings, *, until_idle: bool = False, parent_pid: int | None = None
) -> None:
    """Carry out jobs until SIGTERM or SIGINT arrives.

    With `until_idle` the worker also ends when no job is left. With `parent_pid`, the process id
    of the parent, the worker also ends when its parent has ended. Raise WorkerCutOff if the worker
    ends for any other reason.
    """
    async with (
        open_jobs(settings) as jobs,
        nullcontext() if until_idle else jobs.services.capture_runner.read_in_background(),
        jobs.services.index_keeper.keep_in_background(),
        nullcontext() if until_idle else jobs.services.turn_embedder.embed_in_background(),
    ):
        clock = settings.supersession_sweep_enabled and not until_idle
        jobs.register_jobs(sweeps_at=settings.supersession_cron if clock else None)
        await jobs.pick_up(0)
        if jobs.services.sweeps.is_on:
            await jobs.look_at_marks(0)
        working = asyncio.create_task(_run_jobs(jobs, until_idle=until_idle))
        # The variable keeps the task alive: the event loop itself holds tasks weakly.
        watching = None
        if parent_pid is not None:
            watching = asyncio.create_task(_wait_for_parent_end(parent_pid))
            watching.add_done_callback(lambda _: working.cancel())
        if not until_idle:
            _cancel_on_signals(working)
        with suppress(asyncio.CancelledError, ConnectorException):
            await working
            if until_idle:
                return
        # procrastinate stops by itself if it can no longer listen for jobs. It logs the reason, and
        # returns as if it had been asked to stop, or raises if it cannot sign off either.
        if not working.cancelling():
            raise WorkerCutOff("The worker lost its database and ended. Start it again.")


def _cancel_on_signals(working: asyncio.Task[None]) -> None:
    """Cancel the task at the first SIGTERM or SIGINT. A second one ends the process at once."""
    loop = asyncio.get_running_loop()
    signals = (signal.SIGTERM, signal.SIGINT)

    def cancel() -> None:
        for number in signals:
            loop.remove_signal_handler(number)
        working.cancel()

    for number in signals:
        loop.add_signal_handler(number, cancel)


async def _run_jobs(jobs: Jobs, *, until_idle: bool) -> None:
    while True:
        if until_idle:
            await jobs.services.capture_runner.read_waiting()
            await jobs.services.turn_embedder.embed_waiting()
        await jobs.services.queue.app.run_worker_async(
            concurrency=CONCURRENT_JOBS,
            wait=not until_idle,
            # Behind a pooler, the session that listens is not the one that is told.
            listen_notify=not is_behind_pooler(jobs.services.engine),
            delete_jobs="always",
            shutdown_graceful_timeout=SHUTDOWN_GRACE,
            update_heartbeat_interval=STALLED_AFTER / 3,
            stalled_worker_timeout=STALLED_AFTER,
            install_signal_handlers=False,
        )
        # With wait=False the worker stops at the first empty fetch, although a running job may
        # have enqueued more.
        if not (until_idle and await jobs.has_waiting_work()):
            return
        await jobs.pick_up(0)
        await asyncio.sleep(0.05)


@asynccontextmanager
async def open_jobs(settings: Settings) -> AsyncIterator[Jobs]:
    """Open the jobs over the database of the settings, which must be migrated."""
    async with open_services(settings, Process.WORKER) as services:
        yield Jobs(services)


async def _wait_for_parent_end(parent_pid: int) -> None:
    while os.getppid() == parent_pid:  # noqa: ASYNC110 - the system sends no event for this
        await asyncio.sleep(1)
