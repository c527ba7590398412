"""Plain ASGI middleware: a request id for every call, a bound on every body."""

from typing import NoReturn
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# The body of an import is a stream; each of its lines is bounded.
UNBOUNDED = frozenset({"/v1/import"})

MAX_REQUEST_ID = 128


class RequestId:
    """Take the caller's X-Request-Id, or make one, for the log and for the answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        request_id = _choose_request_id(scope)
        scope["request_id"] = request_id

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
            await send(message)

        await self._app(scope, receive, send_with_id)


def _choose_request_id(scope: Scope) -> str:
    proposed = Headers(scope=scope).get("x-request-id", "")
    is_usable = proposed.isprintable() and 0 < len(proposed) <= MAX_REQUEST_ID
    return proposed if is_usable else uuid4().hex


class BoundedBody:
    """Refuse a body of more than `limit` bytes while it arrives, before it fills the memory."""

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
            body = message.get("body", b"")
            arrived += len(body)
            if arrived > self._limit:
                self._refuse_body()
            return message

        await self._app(scope, receive_bounded, send)

    def _refuse_body(self) -> NoReturn:
        detail = (
            f"The body is larger than {self._limit} bytes. "
            "Send less at a time, or use POST /v1/import."
        )
        raise HTTPException(413, detail)
