"""`palimpsest sweep`: have stored memories looked at again, and watch."""

import time
from typing import Annotated, Any

import httpx
import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from app.commands.client.calling import (
    DEFAULT_URL,
    Agent,
    ApiKey,
    AsJson,
    Failure,
    Url,
    answer_of,
    build_route,
    client_of,
    drop_unset,
)
from app.commands.client.printing import make_console, print_json, print_table

OPEN = ("queued", "running")
PATIENCE = 60  # seconds without a worker that takes the sweep up


def sweep(
    key: Annotated[
        str | None, typer.Option(help="Only the slot with this key.", show_default=False)
    ] = None,
    entity: Annotated[str | None, typer.Option(help="With --key.", show_default=False)] = None,
    category: Annotated[str | None, typer.Option(help="With --key.", show_default=False)] = None,
    since: Annotated[
        str | None, typer.Option(help="Only what became known since then.", show_default=False)
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done.")] = False,
    cancel: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="Cancel this sweep; what it did stays.", show_default=False
        ),
    ] = None,
    detach: Annotated[
        bool, typer.Option("--detach", help="Start it and do not wait for its end.")
    ] = False,
    url: Url = DEFAULT_URL,
    agent: Agent = "default",
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """Look at stored memories again, and end what something later contradicts."""
    if key is None and (entity or category):
        raise Failure("--entity and --category name a slot together with --key; add it.")
    asked = drop_unset(
        slot=drop_unset(entity=entity, category=category, key=key) or None,
        since=since,
        dry_run=dry_run or None,
    )
    if cancel and asked:
        raise Failure("--cancel takes no other choice: it ends a sweep that was started before.")
    with client_of(url, agent, api_key) as client:
        if cancel:
            found = answer_of(client, "POST", build_route("sweeps", cancel, "cancel"))
        else:
            found = answer_of(client, "POST", "/v1/sweeps", json=asked)
            found = found if detach else _follow_sweep(client, found)
    if as_json:
        print_json(found)
    else:
        _print_sweep(found)
    if found["status"] == "failed":
        raise Failure(f"the sweep failed: {found['error']}")


def _follow_sweep(client: httpx.Client, sweep: dict[str, Any]) -> dict[str, Any]:
    """The sweep at its end. Raises Failure where no worker takes it up, nor gets on with one that it waits for."""
    heard, before = time.monotonic(), dict[str, int]()
    bar = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*bar, console=make_console(), transient=True) as progress:
        shown = progress.add_task("sweeping", total=None)
        while sweep["status"] in OPEN:
            if sweep["status"] == "queued" and time.monotonic() - heard > PATIENCE:
                ahead = _under_way(client)
                if ahead == before:
                    raise Failure(
                        f"no worker has taken up sweep {sweep['id']}. Is one running (`palimpsest worker`)? The sweep stays queued."
                    )
                heard, before = time.monotonic(), ahead
            time.sleep(0.2)
            sweep = answer_of(client, "GET", build_route("sweeps", sweep["id"]))
            progress.update(shown, total=sweep["total"], completed=sweep["examined"])
    return sweep


def _under_way(client: httpx.Client) -> dict[str, int]:
    """How far the sweeps of the agent are that a worker has taken up."""
    newest = answer_of(client, "GET", "/v1/sweeps")["items"]
    return {sweep["id"]: sweep["examined"] for sweep in newest if sweep["status"] == "running"}


def _print_sweep(sweep: dict[str, Any]) -> None:
    tried = " (dry run)" if sweep["dry_run"] else ""
    counts = ", ".join(f"{number} {name}" for name, number in sweep["counts"].items())
    make_console().print(
        f"[bold]{sweep['status']}[/bold]{tried} sweep {sweep['id']}: {sweep['examined']} examined; {counts}"
    )
    rows = [
        [
            f["operation"],
            "asks" if f["review"] else "",
            f["relation"],
            f"{f['confidence']:.2f}",
            f["memory_id"] or "",
            " ".join(f["others"]),
        ]
        for f in sweep["findings"]
    ]
    if rows:
        print_table(["operation", "", "relation", "confidence", "in favour of", "others"], rows)
