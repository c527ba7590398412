"""The import of versions from elsewhere, one a line, and of a native export."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal

from fastapi import APIRouter, Request
from fastapi.openapi.constants import REF_TEMPLATE
from pydantic import BaseModel, ValidationError
from starlette.responses import Response, StreamingResponse

from app.api import examples, import_agent
from app.api.deps import AgentDep, OriginDep, PartsDep
from app.api.idempotency import KeyedStreamDep
from app.api.ndjson import NDJSON, NumberedLines
from app.api.openapi import document_problems, line_schema
from app.api.problems import invalid_input, problem_of, respond_with_problem
from app.api.schemas.import_history import ImportLine
from app.api.times import format_time
from app.domain.errors import AnswerNotKept, BadImportLine
from app.services.agent_write import Call
from app.services.import_history import HistoryLine, ImportedVersion, Spool

router = APIRouter(prefix="/v1", tags=["transfer"])

MAX_KEPT_BYTES = 8 * 2**20
# A line of the log holds what came in and the states before and after: a few times the largest body there may be (16 MiB).
MAX_NATIVE_LINE_BYTES = 2**26

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


@router.post(
    "/import",
    responses=_ANSWER | document_problems(409, 410),
    response_class=StreamingResponse,
    openapi_extra=_BODY,
    description=(
        "Import versions with their own dates on both axes; or a native export (`GET /v1/export`), "
        "known by its first line, into an agent\n"
        "that holds nothing (else 409). A bad line is named by its number and nothing of the "
        "import is kept.\n"
        "\n"
        "Of an answer over 8 MB nothing is kept for a retry under the same Idempotency-Key: it is "
        "told that all was imported (410)."
    ),
)
async def import_history(
    parts: PartsDep, agent: AgentDep, origin: OriginDep, keyed: KeyedStreamDep, request: Request
) -> Response:
    lines = NumberedLines(keyed.fingerprint_stream(request.stream()))
    first = await anext(lines, None)
    if first and import_agent.type_of(first[1]) == "palimpsest":
        lines.longest = MAX_NATIVE_LINE_BYTES
        rows = import_agent.read_rows(lines, after=first[0])
        counts = await parts.import_agent.import_rows(
            Call(agent, origin, keyed.plan_replay(_render_import_counts)),
            import_agent.parse_header(*first),
            rows,
        )
        return _render_import_counts(counts)
    results = await parts.import_history.import_lines(
        Call(agent, origin, keyed.plan_replay(_render_replay)), _read_versions(first, lines)
    )
    return StreamingResponse(_render_lines(results), media_type=NDJSON)


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
