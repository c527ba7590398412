"""The export of an agent, as a stream of NDJSON."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from app.api.deps import AgentDep, PartsDep
from app.api.ndjson import NDJSON
from app.api.openapi import line_schema

router = APIRouter(prefix="/v1", tags=["transfer"])

# Seconds without a byte taken, after which a reader counts as gone; its export holds a connection and a snapshot.
PATIENCE = 300.0


_EXPORT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": (
            "A header, lines of types memory, belief, usage, operation, relationship, review, and "
            "a line of type end"
        ),
        "content": {
            NDJSON: {
                "schema": line_schema({"type": "object", "description": "See docs/transfer.md."})
            }
        },
    }
}


class _Blocks(StreamingResponse):
    """Blocks as they come. What they are read from is closed before the response ends, whatever ends it.

    `first` was taken before the answer began, so that what is wrong by then is still told as a problem.
    """

    def __init__(self, first: bytes, rest: AsyncGenerator[bytes]) -> None:
        super().__init__(
            rest,
            media_type=NDJSON,
            headers={"Content-Disposition": 'attachment; filename="palimpsest.ndjson"'},
        )
        self._first, self._rest = first, rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The usual one cancels the generator where it stands when the caller leaves, and with it the return of its connection.
        caller = Request(scope, receive)
        async with aclosing(self._rest):
            await send(
                {
                    "type": "http.response.start",
                    "status": self.status_code,
                    "headers": self.raw_headers,
                }
            )
            block = self._first
            while block and not await caller.is_disconnected():
                async with asyncio.timeout(PATIENCE):
                    await send({"type": "http.response.body", "body": block, "more_body": True})
                block = await anext(self._rest, b"")
            await send({"type": "http.response.body", "body": b"", "more_body": False})


@router.get(
    "/export",
    responses=_EXPORT,
    response_class=StreamingResponse,
    description=(
        "Export everything of the agent, as it is at one moment: memories with what was ever "
        "believed of them, the log, relationships and\n"
        "reviews. `POST /v1/import` of it into an empty agent, here or elsewhere, gives an agent "
        "that answers the same on both axes and\n"
        "exports the same bytes. An export without its last line, of type `end`, was cut off. It "
        "holds a database connection while it is\n"
        "read: only half of those of a process may be used so at once, else 503."
    ),
)
async def export(
    parts: PartsDep,
    agent: AgentDep,
    vectors: Annotated[
        bool, Query(description="false: leave the vectors out; an import makes them again.")
    ] = True,
) -> Response:
    blocks = parts.exports.stream_blocks(agent, vectors=vectors)
    return _Blocks(await anext(blocks), blocks)
