"""Asking a running service: the options of every such command, and its answer or a failure."""

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from palimpsest_client import Client

Url = Annotated[str, typer.Option(envvar="PALIMPSEST_URL", help="Address of the running service.")]
Agent = Annotated[str, typer.Option(envvar="PALIMPSEST_AGENT", help="Whose memory.")]
ApiKey = Annotated[
    str | None,
    typer.Option(envvar="PALIMPSEST_API_KEY", help="Key of the service.", show_default=False),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]

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
        from palimpsest_client import NoAnswer, PalimpsestError

        try:
            with self._make_client() as client:
                yield client
        except NoAnswer as problem:
            advice = "Is the service running (`palimpsest serve`)?"
            raise Failure(f"{problem.detail}. {advice}") from None
        except PalimpsestError as problem:
            raise Failure(problem.detail) from None

    def _make_client(self) -> "Client":
        """Return the client. Raises Failure for a name or key that no header can carry."""
        from palimpsest_client import Client, Retries

        retries = Retries(tries=3, first_pause=0.1)
        try:
            return Client(self.url, api_key=self.api_key, agent=self.agent, retries=retries)
        except ValueError as problem:
            raise Failure(f"{problem}.") from None


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


def drop_unset(**options: Any) -> dict[str, Any]:
    """Return the options that have a value."""
    return {name: value for name, value in options.items() if value is not None}
