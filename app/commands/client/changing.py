"""`palimpsest store`, `supersede` and `retract`."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.markup import escape

from app.commands.client.calling import Failure, Service, takes_service
from app.commands.client.printing import make_console, print_change, print_json

MemoryId = Annotated[str, typer.Argument(metavar="ID", help="The memory's id.")]


@takes_service
def store(
    content: Annotated[str, typer.Argument(help="The fact, in a sentence.")],
    kind: Annotated[
        str | None, typer.Option(help="fact, preference, decision or constraint.")
    ] = None,
    entity: Annotated[str | None, typer.Option(help="Who or what it is about.")] = None,
    category: Annotated[str | None, typer.Option()] = None,
    key: Annotated[
        str | None, typer.Option(help="Which attribute; holds one value at a time.")
    ] = None,
    value: Annotated[str | None, typer.Option()] = None,
    valid_from: Annotated[str | None, typer.Option(help="When it became true.")] = None,
    valid_until: Annotated[str | None, typer.Option(help="A stated end.")] = None,
    said_at: Annotated[
        str | None, typer.Option(help="When the words were spoken. Default: now.")
    ] = None,
    supersedes: Annotated[
        list[str] | None, typer.Option(help="Id of a memory that it replaces; may be repeated.")
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(help="auto: store each fact of a sentence of several; off: store it whole."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done.")] = False,
    *,
    service: Service,
) -> None:
    """Store a fact."""
    with service.connect() as client:
        answer = client.store(
            content,
            kind=kind,
            entity=entity,
            category=category,
            key=key,
            value=value,
            valid_from=valid_from,
            valid_until=valid_until,
            said_at=said_at,
            supersedes=supersedes or None,
            split=split,
            dry_run=dry_run,
        )
    if service.as_json:
        return print_json(answer)
    parts = [part["answer"] for part in answer["parts"]]
    for change in parts or [answer]:
        _print_store(change)


def _print_store(answer: Mapping[str, Any]) -> None:
    """Print what a store did. A part of a text may be answered with a problem."""
    if "operation" in answer:
        print_change(answer)
    else:
        make_console().print(escape(answer["detail"]))


@takes_service
def supersede(
    memory_id: MemoryId,
    content: Annotated[
        str | None, typer.Argument(help="What is true instead, in a sentence.", show_default=False)
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="A stored memory that takes its place, instead of new content."
        ),
    ] = None,
    value: Annotated[str | None, typer.Option(help="The new value of its key.")] = None,
    valid_from: Annotated[str | None, typer.Option(help="Since when. Default: now.")] = None,
    *,
    service: Service,
) -> None:
    """Put new content, or a stored memory, in a memory's place."""
    if (content is None) == (by is None):
        raise Failure(
            "say what is true instead, or name the stored memory that takes its place with --by ID."
        )
    with service.connect() as client:
        answer = client.supersede(
            memory_id, content=content, by=by, value=value, valid_from=valid_from
        )
    print_json(answer) if service.as_json else print_change(answer)


@takes_service
def retract(
    memory_id: MemoryId,
    at: Annotated[
        str | None, typer.Option(help="When it stopped being true. Default: now.")
    ] = None,
    reason: Annotated[str | None, typer.Option(help="Why, for the log.")] = None,
    never_true: Annotated[
        bool, typer.Option("--never-true", help="It was never true; what it replaced holds again.")
    ] = False,
    *,
    service: Service,
) -> None:
    """End a memory without a successor. Its history stays."""
    with service.connect() as client:
        answer = client.retract(memory_id, at=at, reason=reason, never_true=never_true)
    print_json(answer) if service.as_json else print_change(answer)
