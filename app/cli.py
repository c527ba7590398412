"""The command line: run the service, maintain its database, and talk to a running service."""

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
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

# typer has no public name for these two.
from typer._click.exceptions import NoArgsIsHelpError, UsageError

from app.commands.client import changing, reading, reviews, transfer
from app.commands.client.calling import AsJson, Failure, drop_unset
from app.commands.client.captures import capture, captures
from app.commands.client.demo import demo
from app.commands.client.hooks import hook
from app.commands.client.insights import insights
from app.commands.client.sweeps import sweep
from app.commands.program import describe_version, find_foreign_command

if TYPE_CHECKING:
    from app.settings import Settings

cli = typer.Typer(
    help="The memory service for agents that knows when facts change.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

logger = logging.getLogger("app.cli")  # as a program, this module has another name


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        print(describe_version())
        raise typer.Exit


@cli.callback()
def _read_common_options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print name and version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    pass


METRICS_PREFIX = "palimpsest-metrics-"
WORKER_PAUSE = 2.0  # seconds before another worker takes the place of one that died
WORKER_PATIENCE = 15.0  # seconds for a worker to end; another one continues its work


def main() -> None:
    """Run the command line.

    A failure is one line on standard error. The exit status is then 1, or 2 for a wrong call.
    """
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8")
    if isinstance(sys.stdout, TextIOWrapper):
        # What it cannot show is escaped.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        sys.exit(cli(standalone_mode=False))
    except NoArgsIsHelpError as request:
        request.show()
        sys.exit(request.exit_code)
    except UsageError as problem:
        _exit_with_error(_describe_usage_error(problem), problem.exit_code)
    except typer.Abort:
        _exit_with_error("stopped.")
    except Failure as problem:
        _exit_with_error(str(problem))


def _describe_usage_error(problem: UsageError) -> str:
    advice = f" See `{problem.ctx.command_path} --help`." if problem.ctx else ""
    message = problem.format_message().rstrip(".")
    if message.startswith("Got unexpected extra argument"):
        advice = f" Put a text of several words in quotes.{advice}"
    return f"{message}.{advice}"


def _exit_with_error(message: str, status: int = 1) -> NoReturn:
    print(f"palimpsest: {message}", file=sys.stderr)
    sys.exit(status)


# --- running the service -------------------------------------------------------------------------


@cli.command()
def serve(
    host: Annotated[
        str | None, typer.Option(help="Address to listen on [PALIMPSEST_HOST].")
    ] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on [PALIMPSEST_PORT].")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes [PALIMPSEST_WORKERS].")] = None,
    migrate: Annotated[
        bool, typer.Option("--migrate", help="Migrate an external database first.")
    ] = False,
) -> None:
    """Serve over the database of the settings, or over an embedded Postgres.

    Without PALIMPSEST_DATABASE_URL the embedded Postgres is in the data folder, and it is migrated
    by itself.
    """
    from app.listening import announce_readiness, check_port, end_on_hangup
    from app.network_files import check_files
    from app.networks.many_languages import find_many_languages
    from app.settings import describe_unknown_variables

    settings = _load_settings(**drop_unset(host=host, port=port, workers=workers))
    log_config = _configure_logging(settings)
    for sentence in describe_unknown_variables():
        logger.warning(sentence)
    # uvicorn raises a caught SIGTERM again after it has shut down. As an exit, the signal lets the
    # embedded Postgres be stopped too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    end_on_hangup()
    is_embedded = settings.database_url is None
    with _explain_errors():
        # Before a Postgres is made and migrated for nothing.
        check_port(settings)
        check_files()
        if settings.languages == "many":
            check_files(find_many_languages().folder)
        with _open_database(settings) as opened:
            _prepare_database(opened, migrate=migrate or is_embedded)
            # The processes of uvicorn cannot find these in their environment yet.
            os.environ["PALIMPSEST_DATABASE_URL"] = _get_url(opened)
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

    url = _get_url(settings)
    if migrate:
        logger.info("Migrating the database.")
        schema.migrate_database(_get_owner_url(settings), url)
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


@cli.command()
def mcp(
    url: Annotated[
        str | None,
        typer.Option(
            envvar="PALIMPSEST_URL",
            help="Address of the running service. Default: an embedded one is started.",
        ),
    ] = None,
    agent: Annotated[
        str | None, typer.Option(envvar="PALIMPSEST_AGENT", help="Whose memory.")
    ] = None,
    api_key: Annotated[
        str | None, typer.Option(envvar="PALIMPSEST_API_KEY", help="Key of the service.")
    ] = None,
) -> None:
    """Speak MCP over standard input and output, for a host on this machine."""
    from app.commands.mcp import serve_stdio

    serve_stdio(url, agent, api_key)


@cli.command()
def worker(
    beside: Annotated[
        int | None, typer.Option(hidden=True, help="End with this process, which started this one.")
    ] = None,
) -> None:
    """Work in the background: sweeps, on call and by the clock, and retention.

    `serve` with the embedded Postgres runs a worker itself.
    """
    import asyncio

    from app.embedding.choice import encoder_of
    from app.jobs.worker import run_worker
    from app.store import schema
    from app.wiring import NICENESS

    settings = _load_settings_of_command()
    _configure_logging(settings)
    with _explain_errors():
        if settings.database_url is not None:
            schema.check_schema(settings.database_url)
            schema.claim_encoder(settings.database_url, *encoder_of(settings))
        os.nice(NICENESS)
        asyncio.run(run_worker(settings, parent_pid=beside))


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
    command = [sys.executable, "-m", "app.cli", "worker", "--beside", str(os.getpid())]
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


# --- maintaining the database --------------------------------------------------------------------


@cli.command()
def migrate() -> None:
    """Bring the database to the schema of this version."""
    from app.store import schema

    with _explain_errors(), _open_database(_load_settings_of_command()) as settings:
        schema.migrate_database(_get_owner_url(settings), _get_url(settings))
    print("The database is at the schema of this version.")


@cli.command()
def distribute(
    workers: Annotated[
        list[str] | None,
        typer.Option("--worker", help="A node, as host:port; may be repeated."),
    ] = None,
    coordinator: Annotated[
        str | None,
        typer.Option(
            help="This database's server, as host:port, as the workers reach it. Default: the "
            "address in the settings.",
        ),
    ] = None,
    shards: Annotated[
        int, typer.Option(min=1, max=1_000, help="Parts of each table; later it cannot change.")
    ] = 32,
) -> None:
    """Spread the tables of agents over the nodes of a Citus cluster (docs/operate/citus.md).

    Writes wait until it is done. What is spread already stays as it is.
    """
    from app.commands.maintenance.distribute import distribute_database

    with _explain_errors():
        settings = _load_settings_of_command()
        if settings.database_url is None:
            raise Failure("An embedded Postgres has no cluster: set PALIMPSEST_DATABASE_URL.")
        distribute_database(_get_owner_url(settings), coordinator, workers or [], shards)


@cli.command()
def reembed() -> None:
    """Make every vector anew with the embedding model of the settings.

    Running services keep the old one until the end.
    """
    import asyncio

    from app.commands.maintenance.reembed import reembed_database

    with _explain_errors(), _open_checked_database() as settings:
        # It changes the tables themselves.
        owned = settings.model_copy(update={"database_url": _get_owner_url(settings)})
        asyncio.run(reembed_database(owned))


@cli.command()
def vacuum() -> None:
    """Rewrite the files of the database, so that none holds a byte of what was erased.

    Tables are locked one by one meanwhile: run it in a quiet hour, with room for the largest one.
    """
    from app.store.vacuum import rewrite_files

    with _explain_errors(), _open_checked_database() as settings:
        is_log_rewritten = rewrite_files(_get_owner_url(settings))
    print("Every table was rewritten.")
    if is_log_rewritten:
        print("The write-ahead log was rewritten.")
    else:
        print(
            "The write-ahead log holds erased bytes until Postgres has reused its files: this "
            "login may not rewrite them. A superuser may."
        )


@cli.command()
def doctor(
    agent: Annotated[str | None, typer.Option(help="Examine this agent alone.")] = None,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Put right what can be computed from what else is stored."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Examine the database: whether everything that must hold of it holds.

    The exit status is 1 if something does not hold.
    """
    import asyncio

    from app.commands.maintenance.doctor import doctor_database

    with _explain_errors(), _open_checked_database() as settings:
        healthy = asyncio.run(
            doctor_database(settings, agent=agent, repair=repair, as_json=as_json)
        )
    if (foreign := find_foreign_command()) is not None:
        print(
            f"palimpsest: the command on this path, {foreign}, is another program. Hooks and hosts "
            "of MCP need the absolute path of this one.",
            file=sys.stderr,
        )
    if not healthy:
        raise typer.Exit(1)


@cli.command()
def retain(
    agent: Annotated[str | None, typer.Option(help="This agent alone.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be done.")
    ] = False,
    forget: Annotated[
        str | None,
        typer.Option(help="Give up this archive of the agent, lost or damaged."),
    ] = None,
) -> None:
    """Cool what ended long ago, and move old operations from the log to archives.

    The settings say how long ago. Services may run meanwhile.
    """
    import asyncio

    from app.commands.maintenance.retention import retain_database

    if forget and agent is None:
        raise Failure("--forget needs --agent.")
    with _explain_errors(), _open_checked_database() as settings:
        sound = asyncio.run(
            retain_database(settings, agent=agent, dry_run=dry_run, forget=forget or None)
        )
    if not sound:
        raise typer.Exit(1)


keys_cli = typer.Typer(help="Issue, list, revoke and rotate keys.", no_args_is_help=True)
cli.add_typer(keys_cli, name="keys")

ScopeNames = Annotated[
    list[str],
    typer.Option("--scope", help="read, write, review, erase or admin; may be repeated."),
]
AgentNames = Annotated[
    list[str],
    typer.Option("--agent", help="An agent's id, `acme/*` or `*`; may be repeated."),
]
Trust = Annotated[int, typer.Option(help="The highest trust that it may give, 0 to 100.")]
Days = Annotated[float | None, typer.Option(help="Days until it ends. Default: never.")]
Overlap = Annotated[int, typer.Option(help="Seconds for which the old key still works.")]
KeyName = Annotated[str, typer.Argument(help="For people: who uses it, and what for.")]
KeyIdArgument = Annotated[str, typer.Argument(metavar="ID", help="The key's id: see the list.")]


@keys_cli.command("create")
def create_key(
    name: KeyName,
    scopes: ScopeNames,
    agents: AgentNames,
    trust: Trust = 100,
    days: Days = None,
    as_json: AsJson = False,
) -> None:
    """Issue a key and print it, this once."""
    from app.commands.maintenance import keys as commands

    request = commands.parse_key_request(name, scopes, agents, trust, days)
    with _explain_errors(), _open_checked_database() as settings:
        commands.create_key(settings, request, as_json=as_json)


@keys_cli.command("list")
def list_keys(as_json: AsJson = False) -> None:
    """List the keys, without their secrets."""
    from app.commands.maintenance import keys as commands

    with _explain_errors(), _open_checked_database() as settings:
        commands.list_keys(settings, as_json=as_json)


@keys_cli.command("revoke")
def revoke_key(key_id: KeyIdArgument) -> None:
    """End a key now."""
    from app.commands.maintenance import keys as commands

    with _explain_errors(), _open_checked_database() as settings:
        commands.revoke_key(settings, key_id)


@keys_cli.command("rotate")
def rotate_key(key_id: KeyIdArgument, overlap: Overlap = 3600, as_json: AsJson = False) -> None:
    """Replace a key by a new one with the same rights, and print that, this once."""
    from app.commands.maintenance import keys as commands

    with _explain_errors(), _open_checked_database() as settings:
        commands.rotate_key(settings, key_id, overlap=overlap, as_json=as_json)


model_cli = typer.Typer(help="Check the language model of the settings.", no_args_is_help=True)
cli.add_typer(model_cli, name="model")


@model_cli.command("check")
def check_model() -> None:
    """Ask the model about ten pairs whose answers are known: whether it answers, and how well.

    The exit status is 1 if it is of no use, or if it ends what holds (docs/operate/models.md).
    """
    from app.commands.maintenance.model import check_model as check

    if not check(_load_settings_of_command()):
        raise typer.Exit(1)


def _load_settings_of_command() -> "Settings":
    """Return the settings of a command that listens nowhere, so that it needs no key."""
    return _load_settings(host="127.0.0.1")


def _load_settings(**chosen: Any) -> "Settings":
    from app.settings import InvalidSettings, load_settings

    try:
        return load_settings(**chosen)
    except InvalidSettings as problem:
        raise Failure(str(problem)) from None


@contextmanager
def _open_checked_database() -> Iterator["Settings"]:
    """Open the database of the settings, and check that it has the schema of this version."""
    from app.store import schema

    with _open_database(_load_settings_of_command()) as settings:
        schema.check_schema(_get_owner_url(settings))
        yield settings


@contextmanager
def _open_database(settings: "Settings") -> Iterator["Settings"]:
    """Run the embedded Postgres if the settings name no database.

    Yield the settings with the addresses of the database.
    """
    if settings.database_url is not None:
        yield settings
        return
    from app.database_urls import set_schema
    from app.store.embedded import embedded_postgres
    from app.store.roles import build_service_url

    with embedded_postgres(settings.data_dir) as plain_url:
        schema = settings.database_schema
        url = set_schema(plain_url, schema) if schema else plain_url
        addresses = {"database_url": build_service_url(url), "owner_url": url}
        yield settings.model_copy(update=addresses)


def _get_url(settings: "Settings") -> str:
    assert settings.database_url is not None, "_open_database gives these settings an address"
    return settings.database_url


def _get_owner_url(settings: "Settings") -> str:
    """Return the address for the login that owns the tables."""
    return settings.owner_url or _get_url(settings)


@contextmanager
def _explain_errors() -> Iterator[None]:
    """Turn errors into a failure that says what the person at the terminal can do."""
    from app.advice import advise_operator
    from app.domain.errors import PalimpsestError
    from app.listening import PortTaken
    from app.network_files import DamagedNetwork
    from app.settings import InvalidSettings
    from app.store.unfit import UnfitDatabase

    try:
        yield
    except (PortTaken, DamagedNetwork, InvalidSettings) as problem:
        raise Failure(str(problem)) from None
    except (UnfitDatabase, PalimpsestError) as problem:
        raise Failure(advise_operator(problem)) from None


# --- talking to a running service ----------------------------------------------------------------

cli.add_typer(reviews.reviews, name="reviews")
for command in (
    changing.store,
    reading.search,
    reading.history,
    changing.supersede,
    changing.retract,
    reading.context,
    reading.log,
    reading.agents,
    changing.link,
    reading.links,
    reading.why,
    sweep,
    capture,
    captures,
    hook,
    insights,
    demo,
    reviews.answer,
    changing.revert,
    changing.forget,
    changing.mode,
    changing.end_session,
    changing.end_project,
    reading.stats,
):
    cli.command()(command)
cli.command("export")(transfer.export_agent)
cli.command("import")(transfer.import_file)


if __name__ == "__main__":
    main()
