"""The client of a page: calls of the API with the key of the viewer."""

from starlette.requests import Request
from starlette.types import ASGIApp

from app.caller_transport import open_caller_client
from palimpsest_client import AsyncClient


def open_viewer_client(app: ASGIApp, request: Request, key: str | None) -> AsyncClient:
    """Return a client with this key, for the agent that the address names.

    The browser's own headers carry no key: a proxy may have put a password of its own there.
    """
    values = {
        "host": request.headers.get("host"),
        "x-api-key": key,
        "x-agent-id": request.query_params.get("agent"),
    }
    headers = {name: value for name, value in values.items() if value}
    return open_caller_client(app, request, headers)
