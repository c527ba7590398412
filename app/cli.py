"""The command line: run the service, migrate its database, and talk to a running one."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Annotated, Any

import httpx
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from app import __version__, cli_transfer
from app.cli_shared import DEFAULT_URL, Agent, ApiKey, Failure, Url, unanswered
from app.cli_shared import client_of as _client
from app.settings import InvalidSettings, Settings, load_settings

cli = typer.Typer(help="The memory service for agents that knows when facts change.", no_args_is_help=True, pretty_exceptions_enable=False)

AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]

cli_transfer.register(cli)


def main() -> None:
    """Runs the command line; a failure is one line on standard error and exit status 1."""
    try:
        cli()
    except (Failure, InvalidSettings) as problem:
        print(f"palimpsest: {problem}", file=sys.stderr)
        sys.exit(1)


# --- running the service -----------------------------------------------------------------------------------------------


@cli.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on [PALIMPSEST_HOST].", show_default=False)] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on [PALIMPSEST_PORT].", show_default=False)] = None,
    workers: Annotated[int | None, typer.Option(help="Processes [PALIMPSEST_WORKERS].", show_default=False)] = None,
    migrate: Annotated[bool, typer.Option("--migrate", help="Migrate an external database first.")] = False,
) -> None:
    """Serve. Without PALIMPSEST_DATABASE_URL, over an embedded Postgres in the data folder, migrated by itself."""
    import uvicorn

    from app.embedding.local import LocalEmbedder
    from app.store import schema

    given = {"host": host, "port": port, "workers": workers}
    settings = load_settings(**{name: value for name, value in given.items() if value is not None})
    # uvicorn raises a caught SIGTERM again when it has shut down; as an exit, it lets the embedded Postgres be stopped too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with _explained(), _database(settings) as url:
        if migrate or settings.database_url is None:
            schema.migrate(url)
        schema.check(url)
        schema.claim_encoder(url, LocalEmbedder.name, LocalEmbedder.dimensions)  # told here in a line; a worker would tell it in a trace
        schema.language_oid(url, settings.text_language)
        os.environ["PALIMPSEST_DATABASE_URL"] = url  # the workers' settings are read from the environment
        os.environ["PALIMPSEST_HOST"] = settings.host
        Console(stderr=True).print(f"Swagger UI: http://{settings.host}:{settings.port}/docs", highlight=False)
        uvicorn.run("app.main:create_app", factory=True, host=settings.host, port=settings.port, workers=settings.workers)


@cli.command()
def migrate() -> None:
    """Bring the database to the schema of this version."""
    from app.store import schema

    settings = load_settings()
    with _explained(), _database(settings) as url:
        schema.migrate(url)
    print("The database is at the schema of this version.")


@contextmanager
def _database(settings: Settings) -> Iterator[str]:
    """The configured database, or the embedded one for as long as it is needed."""
    from app.store.embedded import embedded_postgres

    with nullcontext(settings.database_url) if settings.database_url else embedded_postgres(settings.data_dir) as url:
        yield url


@contextmanager
def _explained() -> Iterator[None]:
    from app.store.schema import UnfitDatabase

    try:
        yield
    except UnfitDatabase as problem:
        raise Failure(str(problem)) from None


@cli.command()
def version() -> None:
    """Print the version."""
    print(__version__)


# --- talking to it -----------------------------------------------------------------------------------------------------


@cli.command()
def store(
    content: Annotated[str, typer.Argument(help="The fact, in a sentence.")],
    kind: Annotated[str | None, typer.Option(help="fact, preference, decision or constraint.")] = None,
    entity: Annotated[str | None, typer.Option(help="Who or what it is about.")] = None,
    category: Annotated[str | None, typer.Option()] = None,
    key: Annotated[str | None, typer.Option(help="Which attribute; holds one value at a time.")] = None,
    value: Annotated[str | None, typer.Option()] = None,
    valid_from: Annotated[str | None, typer.Option(help="When it became true.")] = None,
    valid_until: Annotated[str | None, typer.Option(help="A stated end.")] = None,
    supersedes: Annotated[list[str] | None, typer.Option(help="Id of a memory that it replaces; may be repeated.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done.")] = False,
    url: Url = DEFAULT_URL,
    agent: Agent = "default",
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """Store a fact."""
    said = {
        "content": content,
        "kind": kind,
        "entity": entity,
        "category": category,
        "key": key,
        "value": value,
        "valid_from": valid_from,
        "valid_until": valid_until,
        "supersedes": supersedes or None,
        "dry_run": dry_run or None,
    }
    with _client(url, agent, api_key) as client:
        answer = _answer(client, "POST", "/v1/memories", json={name: word for name, word in said.items() if word is not None})
    if as_json:
        return _print_json(answer)
    memory = answer["memory"]
    _console().print(
        f"[bold]{answer['operation']}[/bold] {escape(answer['decision']['reasoning'])}" + (" (dry run)" if answer["dry_run"] else "")
    )
    _print_memories([memory] if memory else [])
    if answer["superseded"]:
        _console().print("ended: " + ", ".join(answer["superseded"]))


@cli.command()
def search(
    query: Annotated[str, typer.Argument(help="What to search for.")],
    as_of: Annotated[str | None, typer.Option(help="What was true at that time.")] = None,
    known_at: Annotated[str | None, typer.Option(help="As far as was known at that time.")] = None,
    include_superseded: Annotated[bool, typer.Option("--include-superseded", help="Every version, not only what holds.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 10,
    mode: Annotated[str, typer.Option(help="hybrid, vector or text.")] = "hybrid",
    url: Url = DEFAULT_URL,
    agent: Agent = "default",
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """Search memories."""
    asked = {"query": query, "as_of": as_of, "known_at": known_at, "include_superseded": include_superseded, "limit": limit, "mode": mode}
    with _client(url, agent, api_key) as client:
        answer = _answer(client, "POST", "/v1/search", json={name: word for name, word in asked.items() if word is not None})
    if as_json:
        return _print_json(answer)
    _print_memories([result["memory"] for result in answer["results"]], scores=[result["score"] for result in answer["results"]])


@cli.command()
def history(
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="Any version's id.")],
    url: Url = DEFAULT_URL,
    agent: Agent = "default",
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """Show the whole chain of a memory, oldest first."""
    with _client(url, agent, api_key) as client:
        answer = _answer(client, "GET", f"/v1/memories/{memory_id}/history")
    if as_json:
        return _print_json(answer)
    _print_memories(answer["versions"])


def _answer(client: httpx.Client, method: str, path: str, **sent: Any) -> dict[str, Any]:
    """The body of a good answer. Raises Failure with what a problem says."""
    try:
        response = client.request(method, path, **sent)
    except (httpx.HTTPError, httpx.InvalidURL) as problem:
        raise unanswered(client, problem) from None
    try:
        body: dict[str, Any] = response.json()
    except ValueError:
        raise Failure(f"{client.base_url} does not answer like Palimpsest (status {response.status_code}).") from None
    if response.is_error:
        raise Failure(str(body.get("detail", body)))
    return body


def _console() -> Console:
    """As wide as the terminal; into a pipe, wide enough for a row to stay a line."""
    return Console(width=None if sys.stdout.isatty() else 400, highlight=False)


def _print_json(answer: dict[str, Any]) -> None:
    print(json.dumps(answer, indent=2, ensure_ascii=False))


def _print_memories(memories: list[dict[str, Any]], scores: list[float] | None = None) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in (*(["score"] if scores else []), "status", "valid from", "until", "content", "id"):
        table.add_column(heading, overflow="fold", no_wrap=heading in ("score", "status", "id"))
    for place, memory in enumerate(memories):
        score = [f"{scores[place]:.3f}"] if scores else []
        table.add_row(
            *score, memory["status"], _minute(memory["valid_from"]), _minute(memory["valid_until"]), escape(memory["content"]), memory["id"]
        )
    _console().print(table)


def _minute(time: str | None) -> str:
    return time[:16].replace("T", " ") if time else ""


if __name__ == "__main__":
    main()
