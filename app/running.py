"""The commands that run the service: `palimpsest serve`, `mcp` and `worker`."""

import fcntl
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from app.commands.client.calling import drop_unset
from app.commands.maintenance.opening import (
    explain_errors,
    get_owner_url,
    get_url,
    load_settings,
    load_settings_of_command,
    open_database,
)
from app.commands.parameters import Option

if TYPE_CHECKING:
    from app.settings import Settings

logger = logging.getLogger(__name__)

METRICS_PREFIX = "palimpsest-metrics-"
WORKER_PAUSE = 2.0  # seconds before another worker takes the place of one that died
WORKER_PATIENCE = 15.0  # seconds for a worker to end; another one continues its work


def serve(
    host: Annotated[str | None, Option(help="Address to listen on [PALIMPSEST_HOST].")] = None,
    port: Annotated[int | None, Option(help="Port to listen on [PALIMPSEST_PORT].")] = None,
    workers: Annotated[int | None, Option(help="Processes [PALIMPSEST_WORKERS].")] = None,
    migrate: Annotated[
        bool, Option("--migrate", help="Migrate an external database first.")
    ] = False,
) -> None:
    """Serve over the database of the settings or an embedded Postgres.

    Without PALIMPSEST_DATABASE_URL the embedded Postgres is in the data folder, and it is migrated
    by itself.
    """
    from app.listening import announce_readiness, check_port, end_on_hangup
    from app.network_files import check_files
    from app.networks.many_languages import find_many_languages
    from app.settings import describe_unknown_variables

    settings = load_settings(**drop_unset(host=host, port=port, workers=workers))
    log_config = _configure_logging(settings)
    for sentence in describe_unknown_variables():
        logger.warning(sentence)
    # uvicorn raises a caught SIGTERM again after it has shut down. As an exit, the signal lets the
    # embedded Postgres be stopped too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    end_on_hangup()
    is_embedded = settings.database_url is None
    with explain_errors():
        # Before a Postgres is made and migrated for nothing.
        check_port(settings)
        check_files()
        if settings.languages == "many":
            check_files(find_many_languages().folder)
        with open_database(settings) as opened:
            _prepare_database(opened, migrate=migrate or is_embedded)
            # The processes of uvicorn cannot find these in their environment yet.
            os.environ["PALIMPSEST_DATABASE_URL"] = get_url(opened)
            os.environ["PALIMPSEST_HOST"] = opened.host
            if settings.embedding_base_url is None or settings.local_judge:
                logger.info("Loading the local networks: encoder and judge.")
            with (
                _share_metrics(settings),
                _run_worker_alongside(settings),
                announce_readiness(settings),
            ):
                _run_uvicorn(settings, log_config)


def _configure_logging(settings: "Settings") -> dict[str, Any]:
    import logging.config

    from app import logs

    log_config = logs.build_log_config(settings)
    logging.config.dictConfig(log_config)
    return log_config


def _prepare_database(settings: "Settings", *, migrate: bool) -> None:
    """Migrate on request, and check that the database can be served.

    A problem is one line here. In a process of uvicorn the same problem would be a traceback.
    """
    from app.embedding.choice import encoder_of
    from app.store import schema

    url = get_url(settings)
    if migrate:
        logger.info("Migrating the database.")
        schema.migrate_database(get_owner_url(settings), url)
    schema.check_schema(url)
    schema.claim_encoder(url, *encoder_of(settings))
    schema.get_language_oid(url, settings.text_language)


def _run_uvicorn(settings: "Settings", log_config: dict[str, Any]) -> None:
    import uvicorn

    uvicorn.run(
        "app.serving:served_app",
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        http="app.connections:BoundedConnection",
        ws="none",
        log_config=log_config,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=settings.shutdown_timeout,
        # A worker that is still starting answers no pings. On a busy machine that takes a while.
        timeout_worker_healthcheck=60,
    )


def mcp(
    url: Annotated[
        str | None,
        Option(
            envvar="PALIMPSEST_URL",
            help="Address of the running service. Default: an embedded one is started.",
        ),
    ] = None,
    agent: Annotated[str | None, Option(envvar="PALIMPSEST_AGENT", help="Whose memory.")] = None,
    api_key: Annotated[
        str | None, Option(envvar="PALIMPSEST_API_KEY", help="Key of the service.")
    ] = None,
) -> None:
    """Speak MCP over standard input and output for a local host."""
    from app.commands.mcp import serve_stdio

    serve_stdio(url, agent, api_key)


def worker(
    parent: Annotated[
        int | None, Option(hidden=True, help="End with this process, which started this one.")
    ] = None,
) -> None:
    """Work in the background: sweeps and retention.

    `serve` with the embedded Postgres runs a worker itself.
    """
    import asyncio

    from app.embedding.choice import encoder_of
    from app.jobs.worker import run_worker
    from app.store import schema
    from app.wiring import NICENESS

    settings = load_settings_of_command()
    _configure_logging(settings)
    with explain_errors():
        if settings.database_url is not None:
            schema.check_schema(settings.database_url)
            schema.claim_encoder(settings.database_url, *encoder_of(settings))
        os.nice(NICENESS)
        asyncio.run(run_worker(settings, parent_pid=parent))


@contextmanager
def _run_worker_alongside(settings: "Settings") -> Iterator[None]:
    """Run a worker process as long as the service runs, if the Postgres is embedded.

    Nobody else runs a worker over an embedded Postgres.
    """
    if settings.database_url is not None:
        yield
        return
    ended = threading.Event()
    thread = threading.Thread(target=_keep_worker_running, args=(ended,))
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _keep_worker_running(ended: threading.Event) -> None:
    """Run a worker process until the end, and start another one after each that died."""
    command = [sys.executable, "-m", "app.cli", "worker", "--parent", str(os.getpid())]
    while True:
        process = subprocess.Popen(command)  # noqa: S603 - the command is our own
        while not ended.wait(0.5) and process.poll() is None:
            pass
        if ended.is_set():
            break
        logger.warning(
            "The worker ended with status %d; another one takes its place.", process.returncode
        )
        ended.wait(WORKER_PAUSE)
    process.terminate()
    try:
        process.wait(WORKER_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()


@contextmanager
def _share_metrics(settings: "Settings") -> Iterator[None]:
    """Open a folder in which processes write their counts, unless there is one already.

    If there is a single process, it answers /metrics itself, and needs no folder.
    """
    is_alone = settings.workers == 1 and settings.database_url is not None
    if is_alone or "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        yield
        return
    # Services that were killed have left their folders, without a lock.
    for path in Path(tempfile.gettempdir()).glob(f"{METRICS_PREFIX}*/lock"):
        with suppress(OSError), path.open(encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path.parent)
    with (
        tempfile.TemporaryDirectory(prefix=METRICS_PREFIX) as folder,
        open(Path(folder) / "lock", "w", encoding="ascii") as lock,
    ):
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        yield
