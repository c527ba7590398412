"""The command line: run the service, migrate its database, and talk to a running one."""

import asyncio
import logging.config
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Annotated, NoReturn

import typer
from typer._click.exceptions import (
    NoArgsIsHelpError,
    UsageError,
)  # typer has no public name for them

from app import __version__
from app.commands.client import changing, control, lifespans, reading, relationships, transfer
from app.commands.client.calling import AsJson, Failure
from app.commands.client.insights import insights
from app.commands.client.sweeps import sweep
from app.commands.client.why import why
from app.settings import InvalidSettings, Settings, load_settings

cli = typer.Typer(
    help="The memory service for agents that knows when facts change.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

logger = logging.getLogger(__name__)

WORKER_PAUSE = 2.0  # seconds before a worker that died is followed by another
WORKER_PATIENCE = 15.0  # seconds for a worker to end; what it leaves undone, another goes on with


def main() -> None:
    """Runs the command line; a failure is one line on standard error and exit status 1, or 2 where the call itself is wrong."""
    try:
        sys.exit(cli(standalone_mode=False))
    except NoArgsIsHelpError as asked:
        asked.show()
        sys.exit(asked.exit_code)
    except UsageError as wrong:
        where = f" See `{wrong.ctx.command_path} --help`." if wrong.ctx else ""
        _exit_with_error(wrong.format_message().rstrip(".") + "." + where, wrong.exit_code)
    except typer.Abort:
        _exit_with_error("stopped.")
    except (Failure, InvalidSettings) as problem:
        _exit_with_error(str(problem))


def _exit_with_error(message: str, status: int = 1) -> NoReturn:
    print(f"palimpsest: {message}", file=sys.stderr)
    sys.exit(status)


# --- running the service -----------------------------------------------------------------------------------------------


@cli.command()
def serve(
    host: Annotated[
        str | None, typer.Option(help="Address to listen on [PALIMPSEST_HOST].", show_default=False)
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="Port to listen on [PALIMPSEST_PORT].", show_default=False)
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes [PALIMPSEST_WORKERS].", show_default=False)
    ] = None,
    migrate: Annotated[
        bool, typer.Option("--migrate", help="Migrate an external database first.")
    ] = False,
) -> None:
    """Serve. Without PALIMPSEST_DATABASE_URL, over an embedded Postgres in the data folder, migrated by itself."""
    import uvicorn

    from app import logs
    from app.embedding.choice import encoder_of
    from app.store import schema

    given = {"host": host, "port": port, "workers": workers}
    settings = load_settings(**{name: value for name, value in given.items() if value is not None})
    log_config = logs.build_log_config(settings)
    logging.config.dictConfig(log_config)
    # uvicorn raises a caught SIGTERM again when it has shut down; as an exit, it lets the embedded Postgres be stopped too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with _explain_errors(), _open_database(settings) as url:
        if migrate or settings.database_url is None:
            schema.migrate_database(url)
        schema.check_schema(url)
        schema.claim_encoder(
            url, *encoder_of(settings)
        )  # told here in a line; a worker would tell it in a trace
        schema.get_language_oid(url, settings.text_language)
        os.environ["PALIMPSEST_DATABASE_URL"] = (
            url  # the workers' settings are read from the environment
        )
        os.environ["PALIMPSEST_HOST"] = settings.host
        logger.info("Swagger UI: http://%s:%d/docs", settings.host, settings.port)
        alone = settings.workers == 1 and settings.database_url is not None
        with nullcontext() if alone else _shared_metrics(), _run_worker_alongside(settings):
            uvicorn.run(
                "app.serving:served_app",
                factory=True,
                host=settings.host,
                port=settings.port,
                workers=settings.workers,
                log_config=log_config,
                access_log=False,
                timeout_graceful_shutdown=settings.shutdown_timeout,
            )


@cli.command()
def worker(
    beside: Annotated[
        int | None, typer.Option(hidden=True, help="End with this process, which started this one.")
    ] = None,
) -> None:
    """Work in the background: sweeps, on call and by the clock, and retention. `serve` with the embedded Postgres runs a worker itself."""
    from app import logs
    from app.embedding.choice import encoder_of
    from app.jobs.worker import run_worker
    from app.store import schema
    from app.wiring import NICENESS

    settings = _settings_without_listening()
    logging.config.dictConfig(logs.build_log_config(settings))
    with _explain_errors():
        if settings.database_url is not None:
            schema.check_schema(settings.database_url)
            schema.claim_encoder(settings.database_url, *encoder_of(settings))
        os.nice(NICENESS)  # whoever waits for an answer goes first
        asyncio.run(run_worker(settings, parent_pid=beside))


@contextmanager
def _run_worker_alongside(settings: Settings) -> Iterator[None]:
    """A worker process for as long as the service runs, where nobody else runs one: over the embedded Postgres."""
    if settings.database_url is not None:
        yield
        return
    ended = threading.Event()
    keeper = threading.Thread(target=_keep_worker, args=(ended,))
    keeper.start()
    try:
        yield
    finally:
        ended.set()
        keeper.join()


def _keep_worker(ended: threading.Event) -> None:
    """Runs a worker process until the end; one that died is followed by another."""
    command = [sys.executable, "-m", "app.cli", "worker", "--beside", str(os.getpid())]
    while True:
        process = subprocess.Popen(command)  # noqa: S603 - our own
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
def _shared_metrics() -> Iterator[None]:
    """A folder through which processes tell each other what they counted, unless there is one already."""
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="palimpsest-metrics-") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        yield


@cli.command()
def migrate() -> None:
    """Bring the database to the schema of this version."""
    from app.store import schema

    settings = _settings_without_listening()
    with _explain_errors(), _open_database(settings) as url:
        schema.migrate_database(url)
    print("The database is at the schema of this version.")


@cli.command()
def reembed() -> None:
    """Make every vector anew with the embedding model of the settings. Running services keep the old one until the end."""
    from app.commands.maintenance.reembed import reembed_database
    from app.store import schema

    settings = _settings_without_listening()
    with _explain_errors(), _open_database(settings) as url:
        schema.check_schema(url)
        reembed_database(_with_database(settings, url))


@cli.command()
def doctor(
    agent: Annotated[
        str | None, typer.Option(help="Examine this agent alone.", show_default=False)
    ] = None,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Put right what can be computed from what else is stored."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Examine the database: whether everything that must hold of it holds. Exit status 1 where something does not."""
    from app.commands.maintenance.doctor import doctor_database
    from app.store import schema

    settings = _settings_without_listening()
    with _explain_errors(), _open_database(settings) as url:
        schema.check_schema(url)
        healthy = doctor_database(
            _with_database(settings, url), agent=agent, repair=repair, as_json=as_json
        )
    if not healthy:
        raise typer.Exit(1)


@cli.command()
def retain(
    agent: Annotated[str | None, typer.Option(help="This agent alone.", show_default=False)] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be done.")
    ] = False,
    forget: Annotated[
        str | None,
        typer.Option(
            help="Give up this archive of the agent, lost or damaged.", show_default=False
        ),
    ] = None,
) -> None:
    """Cool what ended long ago, and move old operations from the log to archives, as the settings say. Services may run meanwhile."""
    from app.commands.maintenance.retention import retain_database
    from app.store import schema

    if forget and agent is None:
        raise Failure("--forget needs --agent.")
    settings = _settings_without_listening()
    with _explain_errors(), _open_database(settings) as url:
        schema.check_schema(url)
        sound = retain_database(
            _with_database(settings, url), agent=agent, dry_run=dry_run, forget=forget
        )
    if not sound:
        raise typer.Exit(1)


def _settings_without_listening() -> Settings:
    """The settings of a command that listens nowhere, so that it needs no key, wherever a service beside it would listen."""
    return load_settings(host="127.0.0.1")


@contextmanager
def _open_database(settings: Settings) -> Iterator[str]:
    """The configured database, or the embedded one for as long as it is needed."""
    from app.store.embedded import embedded_postgres

    with (
        nullcontext(settings.database_url)
        if settings.database_url
        else embedded_postgres(settings.data_dir) as url
    ):
        yield url


def _with_database(settings: Settings, url: str) -> Settings:
    return settings.model_copy(update={"database_url": url})


@contextmanager
def _explain_errors() -> Iterator[None]:
    from app.advice import advise_operator
    from app.domain.errors import PalimpsestError
    from app.store.unfit import UnfitDatabase

    try:
        yield
    except (UnfitDatabase, PalimpsestError) as problem:
        raise Failure(advise_operator(problem)) from None


@cli.command()
def version() -> None:
    """Print the version."""
    print(__version__)


# --- talking to it -----------------------------------------------------------------------------------------------------

cli.add_typer(control.reviews, name="reviews")
for command in (
    changing.store,
    reading.search,
    reading.history,
    changing.supersede,
    changing.retract,
    reading.context,
    reading.log,
    reading.agents,
    relationships.link,
    relationships.links,
    why,
    sweep,
    insights,
    *control.COMMANDS,
    *lifespans.COMMANDS,
):
    cli.command()(command)
cli.command("export")(transfer.export_agent)
cli.command("import")(transfer.import_file)


if __name__ == "__main__":
    main()
