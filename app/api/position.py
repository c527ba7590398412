"""The position of a caller's writes, by which its reads on a replica see them."""

from typing import Annotated

from fastapi import Depends, Header
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.caller_transport import POSITION_HEADER
from app.domain.position import POSITION_PATTERN, PRIMARY_ONLY, Position
from app.store.reads import CALL_READS, UNREACHABLE, CallReads, read_position
from app.wiring import Services

_READING_METHODS = {"GET", "HEAD", "OPTIONS"}


async def take_position(
    position: Annotated[
        str | None,
        Header(
            alias=POSITION_HEADER,
            pattern=POSITION_PATTERN,
            examples=["0/16B3740"],
            description=(
                "The latest position that an answer to a write carried: this read sees that write. "
                "Without it, a read replica may answer that is a few seconds behind."
            ),
        ),
    ] = None,
) -> None:
    """Let the reads of this call go to replicas that have the position."""
    call = CALL_READS.get()
    if call is None:
        return
    call.only_reads = True
    if position is not None:
        call.needed = Position.parse(position)


PURE_READ = [Depends(take_position)]


class PositionReport:
    """Where there are read replicas, answer every write with a position that covers it.

    The position is read when the answer starts, because a write is committed before that. It
    shows how much everybody writes, so a service without replicas does not tell it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        call = CallReads()
        token = CALL_READS.set(call)

        async def send_with_position(message: Message) -> None:
            # `only_reads` is set while the call runs.
            is_write = scope["method"] not in _READING_METHODS and not call.only_reads
            is_start = message["type"] == "http.response.start" and message["status"] < 300
            if is_write and is_start and scope["path"].startswith("/v1/"):
                services = scope["app"].state.services
                if services.reads.replicas:
                    position = await _find_position(services)
                    MutableHeaders(scope=message)[POSITION_HEADER] = str(position)
            await send(message)

        try:
            await self._app(scope, receive, send_with_position)
        finally:
            CALL_READS.reset(token)


async def _find_position(services: Services) -> Position:
    """Return a position that covers the write; if none can be read, one that no replica has."""
    try:
        return await read_position(services.engine)
    except UNREACHABLE:
        return PRIMARY_ONLY
