"""Asking a running service: the options of every such command, and its answer or a failure."""

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

from app.commands.client.printing import print_json
from app.commands.client.shown_ids import ShortId
from app.commands.parameters import Argument, Option

if TYPE_CHECKING:
    import httpx

    from palimpsest_client import Client

Url = Annotated[str, Option(envvar="PALIMPSEST_URL", help="Address of the running service.")]
Agent = Annotated[str, Option(envvar="PALIMPSEST_AGENT", help="Whose memory.")]
ApiKey = Annotated[
    str | None,
    Option(envvar="PALIMPSEST_API_KEY", help="Key of the service.", metavar="KEY"),
]
AsJson = Annotated[bool, Option("--json", help="Print the answer as JSON.")]
Long = Annotated[bool, Option("--long", help="Print whole ids and times, as in a pipe.")]

# Options of several commands.
MemoryId = Annotated[
    str, Argument(metavar="ID", help="The memory's id, or its end as shown.", type=ShortId())
]
AsOf = Annotated[str | None, Option(metavar="TIME", help="What was true at that time.")]
KnownAt = Annotated[str | None, Option(metavar="TIME", help="As far as was known at that time.")]
Limit = Annotated[int, Option(min=1, max=1000, help="How many at most.")]
Reason = Annotated[str | None, Option(help="Why, for the log.")]
DryRun = Annotated[bool, Option("--dry-run", help="Show what would be done.")]

DEFAULT_URL = "http://127.0.0.1:8000"
_THIS_MACHINE = ("127.0.0.1", "localhost", "::1")


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
    long: Long = False

    @contextmanager
    def connect(self) -> Iterator["Client"]:
        """Open a client of the service. Raises Failure for whatever goes wrong with it."""
        import sys

        # Without this, httpx imports its own command line, which takes as long as all its rest.
        sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
        from palimpsest_client import NoAnswer, PalimpsestError, Retries

        try:
            with build_client(
                self.url,
                api_key=self.api_key,
                agent=self.agent,
                retries=Retries(tries=3, first_pause=0.1),
                transport=_choose_transport(self.url),
            ) as client:
                yield client
        except NoAnswer as problem:
            advice = "Is the service running (`palimpsest serve`)?"
            raise Failure(f"{problem.detail}. {advice}") from None
        except PalimpsestError as problem:
            raise Failure(problem.detail) from None


def build_client(url: str, **options: Any) -> "Client":
    """Return a client. Raises Failure if no header can carry its agent or its key."""
    from palimpsest_client import Client

    try:
        return Client(url, **options)
    except ValueError as problem:
        raise Failure(f"{problem}.") from None


def _choose_transport(url: str) -> "httpx.BaseTransport | None":
    """Return a transport to this machine, which needs no proxy and no certificates; else None.

    Reading all certificates that the machine trusts takes 30 ms.
    """
    import ssl

    import httpx

    address = urlsplit(url if "://" in url else f"http://{url}")
    if address.scheme == "http" and address.hostname in _THIS_MACHINE:
        return httpx.HTTPTransport(verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    return None


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
