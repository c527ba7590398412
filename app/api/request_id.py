"""A request id for every call, as plain ASGI middleware."""

from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_REQUEST_ID = 128


class RequestId:
    """Take the caller's X-Request-Id, or make one, for the log and for the answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        proposed = Headers(scope=scope).get("x-request-id", "")
        is_usable = proposed.isprintable() and 0 < len(proposed) <= MAX_REQUEST_ID
        request_id = proposed if is_usable else uuid4().hex
        scope["request_id"] = request_id

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
            await send(message)

        await self._app(scope, receive, send_with_id)
