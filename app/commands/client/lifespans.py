"""`palimpsest end-session`, `end-project` and `stats`."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from app.commands.client.calling import Service, takes_service
from app.commands.client.printing import format_minute, make_console, print_json, print_table

At = Annotated[str | None, typer.Option(help="When it ended. Default: now.", show_default=False)]
Reason = Annotated[str | None, typer.Option(help="Why, for the log.", show_default=False)]


@takes_service
def end_session(
    session_id: Annotated[
        str, typer.Argument(metavar="ID", help="The session, as its memories name it.")
    ],
    at: At = None,
    reason: Reason = None,
    *,
    service: Service,
) -> None:
    """End a session: what was stored with lifespan `session` ends with it."""
    with service.connect() as client:
        answer = client.end_session(session_id, at=at, reason=reason)
    print_json(answer) if service.as_json else _print_ended(answer)


@takes_service
def end_project(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The project, as its memories name it.")
    ],
    at: At = None,
    reason: Reason = None,
    *,
    service: Service,
) -> None:
    """End a project: what was stored with lifespan `project` ends with it."""
    with service.connect() as client:
        answer = client.end_project(name, at=at, reason=reason)
    print_json(answer) if service.as_json else _print_ended(answer)


def _print_ended(answer: Mapping[str, Any]) -> None:
    make_console().print(f"ended {len(answer['ended'])}, {answer['kept']} go on")
    for memory_id in answer["ended"]:
        print(memory_id)


@takes_service
def stats(
    whose: Annotated[
        str | None,
        typer.Argument(metavar="[AGENT]", help="Default: that of --agent.", show_default=False),
    ] = None,
    *,
    service: Service,
) -> None:
    """Show an agent in numbers."""
    with service.connect() as client:
        answer = client.get_stats(whose or service.agent)
    if service.as_json:
        return print_json(answer)
    print_table(["what", "how many"], list(_list_stats(answer)))


def _list_stats(answer: Mapping[str, Any], title: str = "") -> Iterator[list[str]]:
    """Yield a row per number. Zero counts within a group are left out."""
    for name, value in answer.items():
        full_name = f"{title}{name}".replace("_", " ")
        if isinstance(value, dict):
            yield from _list_stats(value, f"{full_name}: ")
        elif value is not None and (value or not title):
            yield [full_name, _format_value(name, value)]


def _format_value(name: str, value: str | float) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, str) and name.endswith(("_at", "_of")):
        return format_minute(value)
    return str(value)


COMMANDS = (end_session, end_project, stats)
