"""`/mcp` and `/mcp/{agent}` of the service: streamable HTTP without sessions or streams."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import MutableHeaders
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from app.caller_transport import CallerTransport, list_caller_headers
from app.mcp.server import Context, build_server
from palimpsest_client import AsyncClient


class Door:
    """Serve MCP over an application: each tool is calls of its routes with the caller's key."""

    def __init__(self, app: ASGIApp, max_body_bytes: int) -> None:
        self._app = app
        self._max_body_bytes = max_body_bytes
        self._manager: StreamableHTTPSessionManager | None = None
        # Other methods than POST are answered 405.
        self._route = Route("/mcp", self, methods=["POST"], include_in_schema=False)
        self._route_of_agent = Route(
            "/mcp/{agent:path}", self, methods=["POST"], include_in_schema=False
        )

    @property
    def routes(self) -> list[Route]:
        return [self._route, self._route_of_agent]

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Answer calls until the end of the block."""
        self._manager = StreamableHTTPSessionManager(
            build_server(self._open_client),
            json_response=True,
            stateless=True,
            # `NoWebPages` has checked host and origin.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            max_request_body_size=self._max_body_bytes,
        )
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._manager is not None, "the application is not open"
        # For metrics and the log.
        agent = scope["path_params"].get("agent")
        scope["route"] = self._route_of_agent if agent else self._route
        if agent:
            scope["agent_id"] = agent
        # Some clients accept streams only, and can read JSON.
        MutableHeaders(scope=scope)["accept"] = "application/json, text/event-stream"
        await self._manager.handle_request(scope, receive, send)

    @asynccontextmanager
    async def _open_client(self, context: Context) -> AsyncIterator[AsyncClient]:
        request = context.request
        assert request is not None
        headers = list_caller_headers(request, request.path_params.get("agent"))

        async def call_as_caller(scope: Scope, receive: Receive, send: Send) -> None:
            # A token of OAuth is for this address only, not for the routes that its tools call.
            scope["actor"] = request.scope["actor"]
            await self._app(scope, receive, send)

        transport = CallerTransport(call_as_caller, request, headers)
        async with AsyncClient("http://localhost", transport=transport) as client:
            yield client
