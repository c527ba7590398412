"""Asking a running service: the options of every such command, and its answer or a failure."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import quote

import httpx
import typer

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


def client_of(url: str, agent: str, api_key: str | None) -> httpx.Client:
    """Return a client for the agent. Raises Failure for a name or key that no header can carry."""
    headers = {"X-Agent-Id": agent}
    if api_key:
        headers["X-API-Key"] = api_key
    for value in headers.values():
        if not (value.isascii() and value.isprintable()):
            raise Failure(
                "--agent and --api-key (PALIMPSEST_AGENT, PALIMPSEST_API_KEY) "
                "take printable ASCII characters only."
            )
    return httpx.Client(base_url=url, headers=headers, timeout=60)


@dataclass(frozen=True)
class Service:
    """The running service that a command asks, and how its answer is printed.

    Its fields are the options that every such command takes.
    """

    url: Url = DEFAULT_URL
    agent: Agent = "default"
    api_key: ApiKey = None
    as_json: AsJson = False

    def connect(self) -> httpx.Client:
        return client_of(self.url, self.agent, self.api_key)


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


def build_no_answer_failure(client: httpx.Client, problem: Exception) -> Failure:
    return Failure(
        f"no answer from {client.base_url}: {problem}. Is the service running (`palimpsest serve`)?"
    )


def build_route(*parts: str) -> str:
    """Return the address of a route. Each part stays one part, even if it holds slashes."""
    quoted = [quote(part, safe="") for part in parts]
    return "/".join(["/v1", *quoted])


def answer_of(client: httpx.Client, method: str, route: str, **sent: Any) -> dict[str, Any]:
    """Return the body of a successful answer. Raises Failure with the detail of a problem."""
    try:
        response = client.request(method, route, **sent)
    except (httpx.HTTPError, httpx.InvalidURL) as problem:
        raise build_no_answer_failure(client, problem) from None
    try:
        body: dict[str, Any] = response.json()
    except ValueError:
        raise Failure(
            f"{client.base_url} does not answer like Palimpsest (status {response.status_code})."
        ) from None
    if response.is_error:
        raise Failure(str(body.get("detail", body)))
    return body


def drop_unset(**options: Any) -> dict[str, Any]:
    """Return the options that have a value."""
    return {name: value for name, value in options.items() if value is not None}
