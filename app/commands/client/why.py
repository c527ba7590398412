"""`palimpsest why`."""

import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.markup import escape

from app.commands.client.calling import Service, takes_service
from app.commands.client.printing import format_minute, make_console, print_json, print_table


@takes_service
def why(
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="The memory's id.")],
    as_of: Annotated[str | None, typer.Option(help="How it stood at that time.")] = None,
    known_at: Annotated[str | None, typer.Option(help="As far as was known at that time.")] = None,
    *,
    service: Service,
) -> None:
    """Tell the story of a memory.

    It says what the memory replaced, who decided and why, what was kept apart, reviews and reverts.
    """
    with service.connect() as client:
        answer = client.why_memory(memory_id, as_of=as_of, known_at=known_at)
    print_json(answer) if service.as_json else _print_story(answer)


def _print_story(answer: Mapping[str, Any]) -> None:
    title = escape(answer["memory"]["content"] or "An erased memory")
    make_console().print(f"[bold]{title}[/bold]\n{escape(answer['summary'])}\n")
    rows = list(map(_format_event, answer["events"]))
    print_table(["known since", "true from", "what", "story"], rows)
    if answer["truncated"]:
        print("The first events are left out: the answer would be too large.", file=sys.stderr)


def _format_event(event: Mapping[str, Any]) -> list[str]:
    return [
        format_minute(event["at"]),
        format_minute(event["valid"]),
        event["kind"],
        event["sentence"],
    ]
