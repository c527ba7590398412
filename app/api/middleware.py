"""Plain ASGI middleware: a request id on every call, a bound on every body."""

from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

UNBOUNDED = frozenset({"/v1/import"})  # streams, with a bound per line


class RequestId:
    """Takes the caller's X-Request-Id, or makes one; it goes into the log and back to the caller."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if given.isprintable() and 0 < len(given) <= 128 else uuid4().hex
        scope["request_id"] = request_id

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["X-Request-Id"] = request_id
            await send(message)

        await self._app(scope, receive, send_with_id)


class BoundedBody:
    """Refuses a body of more than `limit` bytes while it arrives, before it is held in memory."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in UNBOUNDED:
            return await self._app(scope, receive, send)
        arrived = 0

        async def receive_bounded() -> Message:
            nonlocal arrived
            message = await receive()
            arrived += len(message.get("body", b""))
            if arrived > self._limit:
                raise HTTPException(
                    413,
                    f"The body is larger than {self._limit} bytes. Send less at a time, or use POST /v1/import.",
                )
            return message

        await self._app(scope, receive_bounded, send)
