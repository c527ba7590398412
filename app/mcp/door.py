"""`/mcp` and `/mcp/{agent}` of the service: streamable HTTP without sessions or streams."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import MutableHeaders
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from app.caller_transport import CallerTransport, list_caller_headers
from app.domain.agent import escape_agent_id
from app.mcp.messages import answer_message
from app.mcp.server import Context, build_server
from palimpsest_client import AsyncClient


class Door:
    """Serve MCP over an application: each tool is calls of its routes with the caller's key."""

    def __init__(self, app: ASGIApp, max_body_bytes: int) -> None:
        self._app = app
        self._max_body_bytes = max_body_bytes
        self._manager: StreamableHTTPSessionManager | None = None
        # Other methods than POST are answered 405.
        self.routes = [
            Route(path, self, methods=["POST"], include_in_schema=False)
            for path in ("/mcp", "/mcp/{agent:path}")
        ]

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
        agent = scope["path_params"].get("agent")
        scope["route"] = self.routes[bool(agent)]  # for metrics and the log
        headers = MutableHeaders(scope=scope)
        if name := agent or _read_agent(headers):
            # The rule for ids is ASCII, and people name agents in their own language.
            scope["agent_id"] = scope["path_params"]["agent"] = escape_agent_id(name)
        # Some clients accept streams only, and can read JSON.
        headers["accept"] = "application/json, text/event-stream"
        await answer_message(self._manager.handle_request, scope, receive, send)

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


def _read_agent(headers: MutableHeaders) -> str:
    """Return the agent that the caller's header names in UTF-8, as clients send it."""
    name = headers.get("x-agent-id", "")
    with suppress(UnicodeError):
        return name.encode("latin-1").decode()
    return name
