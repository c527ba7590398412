"""Import of history as NDJSON: a line in, a line out."""

import codecs
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

from fastapi import APIRouter, Request
from fastapi.openapi.constants import REF_TEMPLATE
from pydantic import BaseModel, ValidationError
from starlette.responses import Response, StreamingResponse

from app.api import examples
from app.api.deps import AgentDep, OriginDep, PartsDep
from app.api.documented import line_schema, problems
from app.api.once import KeyedStreamDep
from app.api.problems import invalid_input, problem_of, respond
from app.api.schemas import ImportLine
from app.api.times import format_time
from app.domain.errors import AnswerNotKept, BadImportLine
from app.services.importing import Imported, Line, Spool

router = APIRouter(prefix="/v1", tags=["transfer"])

NDJSON = "application/x-ndjson"
MAX_LINE_BYTES = 2**20
MAX_KEPT_BYTES = 8 * 2**20

_BODY = {
    "requestBody": {
        "required": False,
        "content": {NDJSON: {"schema": line_schema(ImportLine.model_json_schema(ref_template=REF_TEMPLATE)), "example": examples.IMPORT}},
    }
}


class ImportedLine(BaseModel):
    """A line of the answer to an import."""

    line: int
    id: str
    chain_id: str
    client_ref: str | int | None
    known_at: str


_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {"description": "A line per line, in order", "content": {NDJSON: {"schema": line_schema(ImportedLine.model_json_schema())}}}
}


@router.post("/import", responses=_ANSWER | problems(409, 410), response_class=StreamingResponse, openapi_extra=_BODY)
async def import_history(parts: PartsDep, agent: AgentDep, origin: OriginDep, keyed: KeyedStreamDep, request: Request) -> Response:
    """Import versions with their own dates on both axes. A bad line is named by its number and nothing of the import is kept.

    Of an answer over 8 MB nothing is kept for a retry under the same Idempotency-Key: it is told that all was imported (410)."""
    lines = _lines(keyed.reading(request.stream()))
    results = await parts.importing.run(agent, lines, request=origin, once=keyed.keeping(_kept))
    return StreamingResponse(_answers(results), media_type=NDJSON)


async def _lines(stream: AsyncIterator[bytes]) -> AsyncIterator[Line]:
    number = 0
    async for line in _split(stream):
        number += 1
        raw = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
        if len(raw) > MAX_LINE_BYTES:
            raise BadImportLine(number, f"It is longer than {MAX_LINE_BYTES} bytes.")
        if raw.strip():
            yield _line(number, raw)


async def _split(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The lines of a stream; one that grows too long is handed on as it is, to be refused."""
    rest = b""
    async for chunk in stream:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line
        if len(rest) > MAX_LINE_BYTES:
            yield rest
            rest = b""
    if rest:
        yield rest


def _line(number: int, raw: bytes) -> Line:
    try:
        parsed = ImportLine.model_validate_json(raw)
    except ValidationError as error:
        raise BadImportLine(number, invalid_input(error.errors()).detail + ".") from None
    return Line(number, parsed.fact(), parsed.created_at, parsed.client_ref)


def _answers(results: Spool) -> Iterator[str]:
    try:
        yield from map(_answer, results)
    finally:
        results.close()


def _answer(imported: Imported) -> str:
    line = {
        "line": imported.line,
        "id": str(imported.id),
        "chain_id": str(imported.chain_id),
        "client_ref": imported.client_ref,
        "known_at": format_time(imported.known_at),
    }
    return json.dumps(line, ensure_ascii=False) + "\n"


def _kept(results: Spool) -> Response:
    """The answer that a retry gets: the whole of it while it fits in memory, else that the import was executed and where to look."""
    body = bytearray()
    for imported in results:
        body += _answer(imported).encode()
        if len(body) > MAX_KEPT_BYTES:
            return respond(problem_of(AnswerNotKept(since=next(iter(results)).known_at)))
    return Response(bytes(body), media_type=NDJSON)
