"""`palimpsest sweep`: start a sweep and follow it to its end, or cancel one."""

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from app.commands.client.calling import DryRun, Failure, Service, takes_service
from app.commands.client.printing import (
    Answer,
    format_id,
    print_json,
    print_table,
    print_text,
)
from app.commands.client.shown_ids import ShortId
from app.commands.parameters import Option

if TYPE_CHECKING:
    from palimpsest_client import Client
    from palimpsest_client.models import SlotRequest, SweepOut

OPEN = ("queued", "running")
_AT_ONCE = 200  # memories that are read in one call
PATIENCE = 60  # seconds without a worker that takes the sweep up


@takes_service
def sweep(
    key: Annotated[str | None, Option(help="Only the slot with this key.")] = None,
    entity: Annotated[str | None, Option(help="With --key.")] = None,
    category: Annotated[str | None, Option(help="With --key.")] = None,
    since: Annotated[
        str | None, Option(metavar="TIME", help="Only what became known since then.")
    ] = None,
    dry_run: DryRun = False,
    cancel: Annotated[
        str | None,
        Option(metavar="ID", help="Cancel this sweep; what it did stays.", type=ShortId()),
    ] = None,
    detach: Annotated[
        bool, Option("--detach", help="Start it and do not wait for its end.")
    ] = False,
    *,
    service: Service,
) -> None:
    """Judge stored memories again, and end what later ones contradict."""
    if key is None and (entity or category):
        raise Failure("--entity and --category name a slot together with --key; add it.")
    slot: SlotRequest | None = None
    if key is not None:
        slot = {"entity": entity, "category": category, "key": key}
    if cancel and (slot or since or dry_run):
        raise Failure("--cancel takes no other choice: it ends a sweep that was started before.")
    with service.connect() as client:
        if cancel:
            answer = client.cancel_sweep(cancel)
        else:
            answer = client.start_sweep(slot=slot, since=since, dry_run=dry_run)
        if not (cancel or detach):
            answer = _follow_sweep(client, answer)
        texts = {} if service.as_json else _read_texts(client, answer["findings"])
    if service.as_json:
        print_json(answer)
    else:
        _print_sweep(answer, texts)
    if answer["status"] == "failed":
        raise Failure(f"the sweep failed: {answer['error']}")


def _follow_sweep(client: "Client", sweep: "SweepOut") -> "SweepOut":
    """Return the sweep at its end.

    Raises Failure if no worker takes the sweep up and no other sweep of the agent gets on either.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    description = TextColumn("{task.description}")
    columns = (description, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    waiting = _WaitingSweep(client)
    with Progress(*columns, console=Console(), transient=True) as progress:
        task = progress.add_task("sweeping", total=None)
        while sweep["status"] in OPEN:
            if sweep["status"] == "queued":
                waiting.check(sweep["id"])
            time.sleep(0.2)
            sweep = client.get_sweep(sweep["id"])
            progress.update(task, total=sweep["total"], completed=sweep["examined"])
    return sweep


class _WaitingSweep:
    """A queued sweep, which waits for a worker or for another sweep of its agent."""

    def __init__(self, client: "Client") -> None:
        self._client = client
        self._checked_at = time.monotonic()
        self._progress: dict[str, int] = {}

    def check(self, sweep_id: str) -> None:
        """Raise Failure if no running sweep of the agent has progressed for PATIENCE seconds."""
        if time.monotonic() - self._checked_at <= PATIENCE:
            return
        sweeps = self._client.list_sweeps().page()["items"]
        progress = {one["id"]: one["examined"] for one in sweeps if one["status"] == "running"}
        if progress == self._progress:
            raise Failure(
                f"no worker has taken up sweep {sweep_id}. Is one running "
                "(`palimpsest worker`)? The sweep stays queued."
            )
        self._checked_at = time.monotonic()
        self._progress = progress


def _read_texts(client: "Client", findings: Sequence[Answer]) -> dict[str, str]:
    """Return the texts of the memories in the findings by their ids; those of erased ones lack."""
    named: list[str | None] = []
    for finding in findings:
        named += [finding["memory_id"], *finding["others"]]
    ids = list(dict.fromkeys(filter(None, named)))
    texts: dict[str, str] = {}
    for first in range(0, len(ids), _AT_ONCE):
        some = ids[first : first + _AT_ONCE]
        pages = client.list_memories(ids=some, include_superseded=True, limit=_AT_ONCE)
        texts |= {one["id"]: one["content"] for one in pages.page()["items"] if one["content"]}
    return texts


def _print_sweep(sweep: Answer, texts: Mapping[str, str]) -> None:
    dry_run = " (dry run)" if sweep["dry_run"] else ""
    counts = ", ".join(f"{number} {name}" for name, number in sweep["counts"].items())
    print_text(
        f"sweep {format_id(sweep['id'])}: {sweep['examined']} examined; {counts}",
        title=f"{sweep['status']}{dry_run}",
    )
    rows = []
    for finding in sweep["findings"]:
        favoured = _quote(finding["memory_id"], texts) if finding["memory_id"] else ""
        others = ", ".join(_quote(memory_id, texts) for memory_id in finding["others"])
        if finding["review"]:
            operation, text = "asks", f"Does {favoured} end {others}?"
        else:
            operation, text = finding["operation"], f"{favoured} ends {others}"
        rows.append([operation, f"{finding['confidence']:.2f}", text])
    if rows:
        print_table(["operation", "confidence", "text"], rows)


def _quote(memory_id: str, texts: Mapping[str, str]) -> str:
    return f"“{texts[memory_id]}”" if memory_id in texts else "(erased)"
