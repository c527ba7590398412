"""Calls of the client into the application in its own process, with the rights of a caller."""

from collections.abc import Mapping

import httpx
from starlette.requests import Request
from starlette.types import ASGIApp

from app.domain.position import PRIMARY_ONLY
from palimpsest_client import AsyncClient, Retries

POSITION_HEADER = "Palimpsest-Position"

_OF_THE_CALLER = ("authorization", "x-api-key", "x-agent-id", "host")


class CallerTransport(httpx.ASGITransport):
    """Carry calls into the application, under the caller's key, agent and host only.

    The client would otherwise send what the environment of the service names. It lives for one
    call and knows no position of earlier writes, so the primary answers its reads.
    """

    def __init__(self, app: ASGIApp, request: Request, headers: Mapping[str, str]) -> None:
        address = (request.client.host, request.client.port) if request.client else ("", 0)
        super().__init__(app, raise_app_exceptions=False, client=address)
        self._headers = headers

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        for name in _OF_THE_CALLER:
            request.headers.pop(name, None)
        request.headers.encoding = "utf-8"  # the application refuses other ids of agents itself
        for name, value in {**self._headers, POSITION_HEADER: str(PRIMARY_ONLY)}.items():
            request.headers[name] = value
        return await super().handle_async_request(request)


def open_caller_client(app: ASGIApp, request: Request, headers: Mapping[str, str]) -> AsyncClient:
    """Return a client that calls the application once each: a refusal is for the caller to see."""
    transport = CallerTransport(app, request, headers)
    return AsyncClient("http://localhost", transport=transport, retries=Retries(tries=1))


def list_caller_headers(request: Request, agent: str | None) -> dict[str, str]:
    """Return the headers that say whose call it is; `agent` replaces the agent that it names."""
    own = {name: request.headers[name] for name in _OF_THE_CALLER if name in request.headers}
    return own | {"x-agent-id": agent} if agent else own
