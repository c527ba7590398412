"""Asking a running service: the options of every such command, and its answer or a failure."""

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.commands.client.printing import print_json

if TYPE_CHECKING:
    from palimpsest_client import Client

Url = Annotated[str, typer.Option(envvar="PALIMPSEST_URL", help="Address of the running service.")]
Agent = Annotated[str, typer.Option(envvar="PALIMPSEST_AGENT", help="Whose memory.")]
ApiKey = Annotated[
    str | None,
    typer.Option(envvar="PALIMPSEST_API_KEY", help="Key of the service."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]

# Options of several commands.
MemoryId = Annotated[str, typer.Argument(metavar="ID", help="The memory's id.")]
AsOf = Annotated[str | None, typer.Option(help="What was true at that time.")]
KnownAt = Annotated[str | None, typer.Option(help="As far as was known at that time.")]
Limit = Annotated[int, typer.Option(min=1, max=1000)]
Reason = Annotated[str | None, typer.Option(help="Why, for the log.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be done.")]

DEFAULT_URL = "http://127.0.0.1:8000"


class Failure(Exception):
    """A command failed; the message is one line for the person at the terminal."""


@dataclass(frozen=True)
class Service:
    """The running service that a command asks, and how its answer is printed.

    Its fields are the options that every such command takes.
    """

    url: Url = DEFAULT_URL
    agent: Agent = "default"
    api_key: ApiKey = None
    as_json: AsJson = False

    @contextmanager
    def connect(self) -> Iterator["Client"]:
        """Open a client of the service. Raises Failure for whatever goes wrong with it."""
        from palimpsest_client import Client, NoAnswer, PalimpsestError, Retries

        retries = Retries(tries=3, first_pause=0.1)
        try:
            client = Client(self.url, api_key=self.api_key, agent=self.agent, retries=retries)
        except ValueError as problem:  # no header can carry the agent or the key
            raise Failure(f"{problem}.") from None
        try:
            with client:
                yield client
        except NoAnswer as problem:
            advice = "Is the service running (`palimpsest serve`)?"
            raise Failure(f"{problem.detail}. {advice}") from None
        except PalimpsestError as problem:
            raise Failure(problem.detail) from None


def takes_service(command: Callable[..., None]) -> Callable[..., None]:
    """Replace a command's parameter `service` by the options of Service, at its end."""
    options = inspect.signature(Service).parameters
    own = dict(inspect.signature(command).parameters)
    del own["service"]

    @functools.wraps(command)
    def run(**chosen: Any) -> None:
        service = Service(**{name: chosen.pop(name) for name in options if name in chosen})
        command(**chosen, service=service)

    parameters = [*own.values(), *options.values()]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def prints_answer(
    print_answer: Callable[[Any], None],
) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Make a command of a function that takes a service and returns its answer.

    The answer is printed by `print_answer`, or as JSON on request.
    """

    def make_command(ask: Callable[..., Any]) -> Callable[..., None]:
        @functools.wraps(ask)
        def run(*, service: Service, **chosen: Any) -> None:
            answer = ask(**chosen, service=service)
            if service.as_json:
                print_json(answer)
            else:
                print_answer(answer)

        return takes_service(run)

    return make_command


def drop_unset(**options: Any) -> dict[str, Any]:
    """Return the options that have a value."""
    return {name: value for name, value in options.items() if value is not None}
