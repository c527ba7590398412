"""`palimpsest link` and `palimpsest links`: what rests on what."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from app.commands.client.calling import Service, takes_service
from app.commands.client.printing import format_minute, make_console, print_json, print_page
from app.domain.relationship import LinkType

_TYPES = list(LinkType)
Kind = Annotated[
    str,
    typer.Argument(metavar="TYPE", help=f"{', '.join(_TYPES[:-1])} or {_TYPES[-1]}."),
]


@takes_service
def link(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A memory's id.")],
    kind: Kind,
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="The id of the memory that it is linked to.")
    ],
    *,
    service: Service,
) -> None:
    """Say what a memory is to another. Nothing ends by it."""
    with service.connect() as client:
        answer = client.link(source, kind, target)
    if service.as_json:
        return print_json(answer)
    known_at = format_minute(answer["known_at"])
    make_console().print(
        f"{source} {kind} {target}, known since {known_at} (operation {answer['log_id']})"
    )


@takes_service
def links(
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="The memory's id.")],
    known_at: Annotated[str | None, typer.Option(help="As far as was known at that time.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50,
    *,
    service: Service,
) -> None:
    """List what a memory is linked to, and what is linked to it, latest first."""
    with service.connect() as client:
        answer = client.relationships(memory_id, known_at=known_at, limit=limit).page()
    print_json(answer) if service.as_json else print_page(
        answer, ["known since", "source", "type", "target", "id"], _format_relationship
    )


def _format_relationship(relationship: Mapping[str, Any]) -> list[str]:
    return [
        format_minute(relationship["created_at"]),
        relationship["source_id"],
        relationship["type"],
        relationship["target_id"],
        relationship["log_id"] or "",
    ]
