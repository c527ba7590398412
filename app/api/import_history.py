"""The route of imports: versions from elsewhere, one a line, or a native export."""

import json
from collections.abc import AsyncIterator, Iterator
from itertools import chain, islice
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.openapi.constants import REF_TEMPLATE
from pydantic import ValidationError
from pydantic_core import from_json
from starlette.responses import Response, StreamingResponse

from app.api import examples
from app.api.answers.import_history import ImportedLine, NativeImported
from app.api.deps import ActorDep, AgentDep, OriginDep, ServicesDep
from app.api.idempotency import KeyedStreamDep
from app.api.import_agent import read_rows
from app.api.key_check import refuse_ended_key
from app.api.ndjson import NDJSON, NumberedLine, NumberedLines
from app.api.openapi import Responses, build_line_schema, document_problems
from app.api.problems import describe_error, invalid_input, problem_of, respond_with_problem
from app.api.schemas.import_history import ImportLine
from app.api.secrets import HEADER, SecretRemover, SecretRemoverDep
from app.api.times import format_time
from app.domain.errors import (
    AnswerNotKept,
    BadImportLine,
    InvalidFact,
    SecretsRefused,
    TrustTooHigh,
)
from app.domain.keys import Rights, Scope
from app.services.agent_write import Call
from app.services.import_history import HistoryLine, ImportedVersion, Spool
from app.store.transfer.lines import decode_header, is_header

router = APIRouter(prefix="/v1", tags=["transfer"])

MAX_KEPT_BYTES = 8 * 2**20
# A line of the log holds what came in and the states before and after: a few times the largest
# body that a request may have (16 MiB).
MAX_NATIVE_LINE_BYTES = 2**26

_LINE_SCHEMA = ImportLine.model_json_schema(ref_template=REF_TEMPLATE)
_ANSWER_SCHEMAS = [ImportedLine.model_json_schema(), NativeImported.model_json_schema()]
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            NDJSON: {"schema": build_line_schema(_LINE_SCHEMA), "example": examples.IMPORT}
        },
    }
}
_ANSWER: Responses = {
    200: {
        "description": "A line per line, in order; of a native export, one line with its counts",
        "content": {NDJSON: {"schema": build_line_schema({"anyOf": _ANSWER_SCHEMAS})}},
    }
}


@router.post(
    "/import",
    responses=_ANSWER | document_problems(409, 410, 415),
    response_class=StreamingResponse,
    openapi_extra=_BODY,
    description=(
        "Import versions with their own dates on both axes, a line each; or a native export (`GET "
        "/v1/export`), known by its first line, into an agent\n"
        "that holds nothing (else 409); its key needs `admin` too. A bad line\n"
        "is named by its number and nothing of the import is kept.\n"
        "\n"
        "Of an answer over 8 MB nothing is kept for a retry under the same Idempotency-Key: it is "
        "told that all was imported (410)."
    ),
)
async def import_history(
    services: ServicesDep,
    actor: ActorDep,
    agent: AgentDep,
    origin: OriginDep,
    keyed: KeyedStreamDep,
    secrets: SecretRemoverDep,
    request: Request,
) -> Response:
    # A form or a script of a foreign web page may send other media types without asking.
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != NDJSON:
        raise HTTPException(415, f"Send the lines with `Content-Type: {NDJSON}`.")
    secrets.check_name("X-Agent-Id", agent)
    lines = NumberedLines(keyed.fingerprint_stream(_read_body(request)))
    first = await anext(lines, None)
    if first and is_header(first.raw):
        actor.rights.require_scope(Scope.ADMIN)
        actor.rights.require_full_trust()
        lines.longest = MAX_NATIVE_LINE_BYTES
        header = decode_header(first.number, first.raw)
        rows = read_rows(lines, secrets, after=first.number)
        counts_call = Call(agent, origin, keyed.plan_replay(_render_counts))
        return _render_counts(await services.import_agent.import_rows(counts_call, header, rows))
    call = Call(agent, origin, keyed.plan_replay(_render_replay))
    reader = _VersionReader(actor.rights, secrets)
    versions = await services.import_history.import_lines(call, reader.read(first, lines))
    headers = {HEADER: str(reader.redacted)} if reader.redacted else None
    return StreamingResponse(_render_lines(versions), headers=headers, media_type=NDJSON)


async def _read_body(request: Request) -> AsyncIterator[bytes]:
    async for piece in request.stream():
        yield piece
    await refuse_ended_key(request.scope)


class _VersionReader:
    """Reads the lines of an import, and counts the secrets that it takes out of them."""

    def __init__(self, rights: Rights, secrets: SecretRemover) -> None:
        self._rights = rights
        self._secrets = secrets
        self.redacted = 0

    async def read(
        self, first: NumberedLine | None, rest: NumberedLines
    ) -> AsyncIterator[HistoryLine]:
        if first:
            yield await self._read_line(first)
        async for line in rest:
            yield await self._read_line(line)

    async def _read_line(self, line: NumberedLine) -> HistoryLine:
        try:
            parsed = await self._parse(line.raw)
            fact = self._rights.limit_fact(parsed.to_fact())
        except ValidationError as error:
            raise BadImportLine(line.number, invalid_input(error.errors()).detail + ".") from None
        except (InvalidFact, SecretsRefused, TrustTooHigh) as error:
            raise BadImportLine(line.number, describe_error(error)) from None
        return HistoryLine(
            line.number, fact, parsed.temporary, parsed.created_at, parsed.client_ref
        )

    async def _parse(self, raw: bytes) -> ImportLine:
        try:
            fields = from_json(raw)
        except ValueError:
            return ImportLine.model_validate_json(raw)  # raises, and says where
        self.redacted += await self._secrets.remove(fields)
        return ImportLine.model_validate(fields)


def _render_counts(counts: dict[str, int]) -> Response:
    return Response(NativeImported(counts=counts).model_dump_json() + "\n", media_type=NDJSON)


# Each piece of an answer is made in a thread, which takes longer to start than a line takes.
_LINES_AT_ONCE = 200


def _render_lines(versions: Spool) -> Iterator[str]:
    try:
        lines = map(_render_line, chain.from_iterable(versions))
        while piece := "".join(islice(lines, _LINES_AT_ONCE)):
            yield piece
    finally:
        versions.close()


def _render_line(version: ImportedVersion) -> str:
    line = {
        "line": version.line,
        "id": str(version.id),
        "chain_id": str(version.chain_id),
        "client_ref": version.client_ref,
        "known_at": format_time(version.known_at),
    }
    return json.dumps(line, ensure_ascii=False) + "\n"


def _render_replay(versions: Spool) -> Response:
    """Return what a retry is answered.

    An answer that would take too much memory is not kept; the retry then learns that the import
    was executed, and from which known time on.
    """
    body = bytearray()
    for version in chain.from_iterable(versions):
        body += _render_line(version).encode()
        if len(body) > MAX_KEPT_BYTES:
            since = next(chain.from_iterable(versions)).known_at
            return respond_with_problem(problem_of(AnswerNotKept(since=since)))
    return Response(bytes(body), media_type=NDJSON)
