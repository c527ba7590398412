"""History as NDJSON: an agent out, as it is; in, the same again, or versions from elsewhere, one a line."""

import asyncio
import codecs
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.openapi.constants import REF_TEMPLATE
from pydantic import BaseModel, ValidationError
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from app.api import examples, import_agent
from app.api.deps import AgentDep, OriginDep, PartsDep
from app.api.documented import document_problems, line_schema
from app.api.idempotency import KeyedStreamDep
from app.api.problems import invalid_input, problem_of, respond_with_problem
from app.api.schemas import ImportLine
from app.api.times import format_time
from app.domain.errors import AnswerNotKept, BadImportLine
from app.services.import_history import HistoryLine, ImportedVersion, Spool

router = APIRouter(prefix="/v1", tags=["transfer"])

NDJSON = "application/x-ndjson"
MAX_LINE_BYTES = 2**20
MAX_KEPT_BYTES = 8 * 2**20
# A line of the log holds what came in and the states before and after: a few times the largest body there may be (16 MiB).
MAX_NATIVE_LINE_BYTES = 2**26
# Seconds without a byte taken, after which a reader counts as gone; its export holds a connection and a snapshot.
PATIENCE = 300.0

_BODY = {
    "requestBody": {
        "required": False,
        "content": {
            NDJSON: {
                "schema": line_schema(ImportLine.model_json_schema(ref_template=REF_TEMPLATE)),
                "example": examples.IMPORT,
            }
        },
    }
}


class ImportedLine(BaseModel):
    """A line of the answer to an import."""

    line: int
    id: str
    chain_id: str
    client_ref: str | int | None
    known_at: str


class NativeImported(BaseModel):
    """The one line that answers the import of a native export: how many lines of each type were brought back."""

    type: Literal["imported"] = "imported"
    counts: dict[str, int]


_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A line per line, in order; of a native export, one line with its counts",
        "content": {
            NDJSON: {
                "schema": line_schema(
                    {
                        "anyOf": [
                            ImportedLine.model_json_schema(),
                            NativeImported.model_json_schema(),
                        ]
                    }
                )
            }
        },
    }
}

_EXPORT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A header, lines of types memory, belief, usage, operation, relationship, review, and a line of type end",
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


@router.get("/export", responses=_EXPORT, response_class=StreamingResponse)
async def export(
    parts: PartsDep,
    agent: AgentDep,
    vectors: Annotated[
        bool, Query(description="false: leave the vectors out; an import makes them again.")
    ] = True,
) -> Response:
    """Export everything of the agent, as it is at one moment: memories with what was ever believed of them, the log, relationships and
    reviews. `POST /v1/import` of it into an empty agent, here or elsewhere, gives an agent that answers the same on both axes and
    exports the same bytes. An export without its last line, of type `end`, was cut off. It holds a database connection while it is
    read: only half of those of a process may be used so at once, else 503.
    """
    blocks = parts.exports.stream_blocks(agent, vectors=vectors)
    return _Blocks(await anext(blocks), blocks)


@router.post(
    "/import",
    responses=_ANSWER | document_problems(409, 410),
    response_class=StreamingResponse,
    openapi_extra=_BODY,
)
async def import_history(
    parts: PartsDep, agent: AgentDep, origin: OriginDep, keyed: KeyedStreamDep, request: Request
) -> Response:
    """Import versions with their own dates on both axes; or a native export (`GET /v1/export`), known by its first line, into an agent
    that holds nothing (else 409). A bad line is named by its number and nothing of the import is kept.

    Of an answer over 8 MB nothing is kept for a retry under the same Idempotency-Key: it is told that all was imported (410)."""
    lines = _Lines(keyed.fingerprint_stream(request.stream()))
    first = await anext(lines, None)
    if first and import_agent.type_of(first[1]) == "palimpsest":
        lines.longest = MAX_NATIVE_LINE_BYTES
        rows = import_agent.read_rows(lines, after=first[0])
        return _render_import_counts(
            await parts.import_agent.import_rows(
                agent,
                import_agent.parse_header(*first),
                rows,
                idempotency=keyed.plan_replay(_render_import_counts),
            )
        )
    results = await parts.import_history.import_lines(
        agent,
        _read_versions(first, lines),
        request=origin,
        idempotency=keyed.plan_replay(_render_replay),
    )
    return StreamingResponse(_render_lines(results), media_type=NDJSON)


class _Lines:
    """The lines of a stream that are not blank, with their numbers. Raises BadImportLine for one of more than `longest` bytes."""

    def __init__(self, stream: AsyncIterator[bytes]) -> None:
        self.longest = MAX_LINE_BYTES
        self._lines = self._number_lines(stream)

    def __aiter__(self) -> AsyncIterator[tuple[int, bytes]]:
        return self._lines

    async def __anext__(self) -> tuple[int, bytes]:
        return await anext(self._lines)

    async def _number_lines(self, stream: AsyncIterator[bytes]) -> AsyncIterator[tuple[int, bytes]]:
        number = 0
        async for line in self._split_lines(stream):
            number += 1
            raw = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
            if len(raw) > self.longest:
                raise BadImportLine(number, f"It is longer than {self.longest} bytes.")
            if raw.strip():
                yield number, raw

    async def _split_lines(self, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Lines as they end; one that grows too long is handed on as it is, to be refused."""
        rest = bytearray()
        async for chunk in stream:
            first, *others = chunk.split(b"\n")
            rest += first
            for line in others:
                yield bytes(rest)
                rest = bytearray(line)
            if len(rest) > self.longest:
                yield bytes(rest)
        if rest:
            yield bytes(rest)


async def _read_versions(
    first: tuple[int, bytes] | None, rest: AsyncIterator[tuple[int, bytes]]
) -> AsyncIterator[HistoryLine]:
    if first:
        yield _parse_line(*first)
    async for number, raw in rest:
        yield _parse_line(number, raw)


def _parse_line(number: int, raw: bytes) -> HistoryLine:
    try:
        parsed = ImportLine.model_validate_json(raw)
    except ValidationError as error:
        raise BadImportLine(number, invalid_input(error.errors()).detail + ".") from None
    return HistoryLine(number, parsed.to_fact(), parsed.created_at, parsed.client_ref)


def _render_import_counts(counts: dict[str, int]) -> Response:
    return Response(NativeImported(counts=counts).model_dump_json() + "\n", media_type=NDJSON)


def _render_lines(results: Spool) -> Iterator[str]:
    try:
        yield from map(_render_line, results)
    finally:
        results.close()


def _render_line(imported: ImportedVersion) -> str:
    line = {
        "line": imported.line,
        "id": str(imported.id),
        "chain_id": str(imported.chain_id),
        "client_ref": imported.client_ref,
        "known_at": format_time(imported.known_at),
    }
    return json.dumps(line, ensure_ascii=False) + "\n"


def _render_replay(results: Spool) -> Response:
    """The answer that a retry gets: the whole of it while it fits in memory, else that the import was executed and where to look."""
    body = bytearray()
    for imported in results:
        body += _render_line(imported).encode()
        if len(body) > MAX_KEPT_BYTES:
            return respond_with_problem(
                problem_of(AnswerNotKept(since=next(iter(results)).known_at))
            )
    return Response(bytes(body), media_type=NDJSON)
