"""The export of an agent, as a stream of NDJSON."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from app.api.deps import AgentDep, ServicesDep
from app.api.ndjson import NDJSON
from app.api.openapi import Responses, build_line_schema
from app.api.responses import send_block

router = APIRouter(prefix="/v1", tags=["transfer"])

# A reader who takes no byte for as many seconds counts as gone: an export holds a connection and a
# snapshot of the database.
PATIENCE = 300.0


_EXPORT: Responses = {
    200: {
        "description": (
            "A header, lines of types memory, belief, usage, operation, relationship, review, and "
            "a line of type end"
        ),
        "content": {
            NDJSON: {
                "schema": build_line_schema(
                    {"type": "object", "description": "See docs/guide/transfer.md."}
                )
            }
        },
    }
}


class ExportStream(StreamingResponse):
    """The blocks of an export, sent as they come.

    The caller takes the first block before the answer begins, so that an error up to there is
    still answered as a problem. However the response ends, the generator of the blocks is closed
    first.
    """

    def __init__(self, first: bytes, rest: AsyncGenerator[bytes]) -> None:
        super().__init__(
            rest,
            media_type=NDJSON,
            headers={"Content-Disposition": 'attachment; filename="palimpsest.ndjson"'},
        )
        self._first = first
        self._rest = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # StreamingResponse cancels the generator in the middle of its work when the caller leaves,
        # and the generator could then not return its connection. Here it is closed between blocks.
        caller = Request(scope, receive)
        async with aclosing(self._rest):
            start = "http.response.start"
            await send({"type": start, "status": self.status_code, "headers": self.raw_headers})
            block = self._first
            while block and not await caller.is_disconnected():
                async with asyncio.timeout(PATIENCE):
                    await send_block(send, block)
                block = await anext(self._rest, b"")
            await send_block(send, b"", more=False)


@router.get(
    "/export",
    responses=_EXPORT,
    response_class=StreamingResponse,
    description=(
        "Export everything of an agent, as it is at one moment: memories with what was ever "
        "believed of them, the log, relationships and\n"
        "reviews. `POST /v1/import` of it into an empty agent, here or elsewhere, gives an agent "
        "that answers the same on both axes and\n"
        "exports the same bytes. An export without its last line, of type `end`, was cut off. It "
        "holds a database connection while it is\n"
        "read, so a key may have only some under way at a time."
    ),
)
async def export(
    services: ServicesDep,
    agent: AgentDep,
    vectors: Annotated[
        bool, Query(description="false: leave the vectors out; an import makes them again.")
    ] = True,
) -> Response:
    blocks = services.exports.stream_blocks(agent, vectors=vectors)
    return ExportStream(await anext(blocks), blocks)
