"""The client of a page: calls of the API with the key of the viewer."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.requests import Request
from starlette.types import ASGIApp

from app.caller_transport import CallerTransport
from palimpsest_client import AsyncClient, Retries


@asynccontextmanager
async def open_viewer_client(
    app: ASGIApp, request: Request, key: str | None
) -> AsyncIterator[AsyncClient]:
    """Open a client with this key, for the agent that the address names.

    The browser's own headers carry no key: a proxy may have put a password of its own there.
    """
    values = {
        "host": request.headers.get("host"),
        "x-api-key": key,
        "x-agent-id": request.query_params.get("agent"),
    }
    headers = {name: value for name, value in values.items() if value}
    transport = CallerTransport(app, request, headers)
    # In the process, a refusal is the viewer's to see.
    retries = Retries(tries=1)
    async with AsyncClient("http://localhost", transport=transport, retries=retries) as client:
        yield client
