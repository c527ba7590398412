"""The body of a request arrives in time, and before the request takes a place."""

import asyncio
import time
from collections import Counter
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems import (
    respond_over_share,
    respond_overloaded,
    respond_to_compressed_body,
    respond_to_crowded_body,
    respond_to_large_body,
    respond_to_slow_body,
)

# Seconds. A slow line sends something meanwhile.
PIECE_DEADLINE = 10.0
BODY_DEADLINE = 60.0
# Bytes a second that a streamed body has to bring once it has been waited for a minute.
SLOWEST_STREAM = 4096
# Seconds for which the body of a refused call is still read.
DRAIN_DEADLINE = 1.0
# Bytes of all bodies that have arrived and are worked on, or wait for it. Keys share them.
MOST_BUFFERED = 256 * 2**20
_WITH_BODIES = ("/v1/", "/mcp", "/mem0", "/ui", "/oauth/")
# The body of an import is a stream; each of its lines is bounded.
STREAMED = frozenset({"/v1/import"})
BATCHED = frozenset({"/v1/memories/batch"})
# Messages may hold images, which are left out.
_LARGE = BATCHED | {"/v1/messages", "/mem0/v1/memories", "/mem0/v3/memories/add", "/mem0/memories"}
MAX_SINGLE_BODY = 256 * 1024
# Marks of a batch. Parsing JSON takes up to 0.4 µs for each, during which nobody has a turn; texts
# without them take next to nothing.
MAX_MARKS = 200_000


class _Refused(Exception):
    """The body is not taken; `response` says why."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status_code)
        self.response = response


class TimelyBody:
    """Take in the whole body first; a slow caller keeps nobody waiting then.

    A compressed body is refused, because its true size is not known before it is unpacked. A batch
    and messages may have `batch_limit` bytes, any other body 256 KiB. A stream is passed on piece
    by piece. Each piece must come in time. Nothing elsewhere has a body to wait for.
    """

    def __init__(self, app: ASGIApp, batch_limit: int) -> None:
        self._app = app
        self._batch_limit = batch_limit
        self._buffered: Counter[str] = Counter()  # bytes of each key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(_WITH_BODIES):
            return await self._app(scope, receive, send)
        coding = Headers(scope=scope).get("content-encoding", "identity").strip().lower()
        if coding != "identity":
            await drain_body(receive)
            return await respond_to_compressed_body(coding)(scope, receive, send)
        if scope["path"] in STREAMED:
            return await self._app(scope, _stream_in_time(receive), send)
        body = bytearray()
        key = scope["actor"].name
        limit = self._batch_limit
        if scope["path"].rstrip("/") not in _LARGE:
            limit = min(limit, MAX_SINGLE_BODY)
        try:
            await self._receive_whole(receive, key, body, limit)
            await _refuse_crowded(body)
            await self._app(scope, _replay(bytes(body), receive), send)
        except _Refused as refusal:
            await drain_body(receive)
            await refusal.response(scope, receive, send)
        finally:
            self._buffered[key] -= len(body)
            self._buffered = +self._buffered

    async def _receive_whole(self, receive: Receive, key: str, body: bytearray, limit: int) -> None:
        try:
            async with asyncio.timeout(BODY_DEADLINE):
                while await self._receive_piece(receive, key, body):
                    if len(body) > limit:
                        raise _Refused(respond_to_large_body(limit))
                    self._check_room(key)
        except TimeoutError:
            raise _Refused(respond_to_slow_body()) from None
        if len(body) > limit:
            raise _Refused(respond_to_large_body(limit))

    def _check_room(self, key: str) -> None:
        """Refuse a body if those of its key, or of all keys, take more memory than they may."""
        if self._buffered[key] > MOST_BUFFERED / (2 * len(self._buffered)):
            raise _Refused(respond_over_share())
        if self._buffered.total() > MOST_BUFFERED:
            raise _Refused(respond_overloaded())

    async def _receive_piece(self, receive: Receive, key: str, body: bytearray) -> bool:
        """Add the next piece to the body, and return True if there is more."""
        async with asyncio.timeout(PIECE_DEADLINE):
            message = await receive()
        if message["type"] == "http.disconnect":
            raise _Refused(respond_to_slow_body())  # nobody reads it; it is counted
        piece = message.get("body", b"")
        body += piece
        self._buffered[key] += len(piece)
        has_more: bool = message.get("more_body", False)
        return has_more


async def _refuse_crowded(body: bytearray) -> None:
    """Refuse a body that would keep everybody waiting while its values are parsed."""
    if len(body) <= MAX_SINGLE_BODY:
        return
    marks = 0
    for mark in b",:[{":
        # Counting in 16 MiB takes 5 ms.
        marks += await asyncio.to_thread(body.count, mark)
    if marks > MAX_MARKS:
        raise _Refused(respond_to_crowded_body(MAX_MARKS))


async def drain_body(receive: Receive) -> None:
    """Read what still comes of a body, for a moment, and forget it.

    Most callers read no answer before they have sent their body, and the connection of one who
    still sends would be reset instead.
    """
    has_more = True
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_DEADLINE):
            while has_more:
                message = await receive()
                has_more = message.get("more_body", False)


def _stream_in_time(receive: Receive) -> Receive:
    """Return what receives the pieces. What follows the last one may come at any time."""
    has_more = True
    waited = 0.0
    arrived = 0

    async def receive_piece() -> Message:
        nonlocal has_more, waited, arrived
        if not has_more:
            return await receive()
        started = time.monotonic()
        try:
            async with asyncio.timeout(PIECE_DEADLINE):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408) from None
        waited += time.monotonic() - started
        arrived += len(message.get("body", b""))
        if waited > BODY_DEADLINE and arrived < waited * SLOWEST_STREAM:
            raise HTTPException(408)
        has_more = message.get("more_body", False)
        return message

    return receive_piece


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return the body as one message, and then what the server sends: that the caller left."""
    is_given = False

    async def receive_replayed() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_replayed
