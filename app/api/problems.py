"""Errors as `application/problem+json` (RFC 9457): one table gives each error its problem."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
import sqlalchemy as sa
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from app.advice import fill_template
from app.api.answers.problem import Problem
from app.api.field_hints import explain_unknown_field
from app.api.times import format_time
from app.database_names import find_rule, remove_shard
from app.domain import errors
from app.domain.agent import AGENT_ID_RULE
from app.services.remember import BatchRefused
from app.store.engine import MISTAKEN_SESSION

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
MOST_PLACES = 50  # of an invalid payload, in one problem
MOST_SENTENCES = 5  # of them in the detail
_AGENT_PLACES = ("X-Agent-Id", "agent_id")

Taker = Callable[..., Any] | type[BaseModel] | None


@dataclass(frozen=True, slots=True)
class _Row:
    """The problem that a kind of error is.

    `detail` is a template over the error's message (`fact`) and its attributes. It says what is
    the case and what the caller can do about it, in the words of HTTP and of the settings.
    """

    kind: type[errors.PalimpsestError]
    status: int
    slug: str
    title: str
    detail: str = "{fact}"


# The first row whose kind fits counts, so a kind stands before its base.
_PROBLEMS = [
    _Row(
        errors.UnknownMemory,
        404,
        "unknown-memory",
        "No such memory",
        "{fact} Look its id up with GET /v1/memories or POST /v1/search.",
    ),
    _Row(
        errors.UnknownLogEntry,
        404,
        "unknown-operation",
        "No such operation",
        "{fact} GET /v1/log lists them.",
    ),
    _Row(errors.OperationArchived, 410, "archived", "The operation is archived"),
    _Row(
        errors.SelectionArchived,
        410,
        "archived",
        "Operations are archived",
        "{fact} To undo what came later, send `since` after that time.",
    ),
    _Row(
        errors.EventsArchived,
        410,
        "archived",
        "Events are archived",
        "{fact} Go on with `after={log_id}`, and read again what you derive from events.",
    ),
    _Row(
        errors.ArchiveFolderMissing,
        503,
        "archives-unavailable",
        "The archives cannot be reached",
        "The archive folder is not there: make it or mount it, or set "
        "PALIMPSEST_ARCHIVE_DIR. Nothing was archived or erased.",
    ),
    _Row(
        errors.ArchiveFolderReadOnly,
        503,
        "archives-unavailable",
        "The archives cannot be reached",
        "The archive folder cannot be written: give the service the right to it. "
        "Nothing was archived or erased.",
    ),
    _Row(
        errors.ArchiveDamaged,
        503,
        "archives-unavailable",
        "The archives cannot be reached",
        "{reason} Bring it back from a copy, or give it up with `palimpsest retain "
        "--forget`. Nothing was archived or erased.",
    ),
    _Row(errors.ArchivesUnavailable, 503, "archives-unavailable", "The archives cannot be reached"),
    _Row(
        errors.UnknownCapture,
        404,
        "unknown-capture",
        "No such capture",
        "{fact} GET /v1/captures lists them.",
    ),
    _Row(
        errors.CaptureUnfinished,
        409,
        "capture-unfinished",
        "The capture is not finished",
        "{fact} GET /v1/captures/ID tells how far it is. Undo it when it is done.",
    ),
    _Row(
        errors.SecretsRefused,
        422,
        "secrets",
        "The request holds a secret",
        "{fact} Take it out. With PALIMPSEST_SECRETS=redact, secrets in texts are replaced; in "
        "names, ids and exports keys are refused, unless PALIMPSEST_SECRETS=keep.",
    ),
    _Row(
        errors.NoModel,
        422,
        "no-model",
        "No language model is set",
        "{fact} Leave `classify` or `extract` out, or set PALIMPSEST_LLM_BASE_URL.",
    ),
    _Row(
        errors.UnknownSweep,
        404,
        "unknown-sweep",
        "No such sweep",
        "{fact} GET /v1/sweeps lists them.",
    ),
    _Row(
        errors.SweepsOff,
        409,
        "sweeps-off",
        "Sweeps are switched off",
        "{fact} Set PALIMPSEST_SUPERSESSION_ENABLED=true for the service and its workers.",
    ),
    _Row(
        errors.UnknownAgent,
        404,
        "unknown-agent",
        "No such agent",
        "{fact} GET /v1/agents lists those that are known.",
    ),
    _Row(errors.NoPreference, 404, "no-preference", "Nothing holds there"),
    _Row(
        errors.NothingToErase,
        404,
        "nothing-to-erase",
        "Nothing to erase",
        "{fact} GET /v1/memories?include_superseded=true lists what is stored.",
    ),
    _Row(errors.Erased, 410, "erased", "The memory was erased", "{fact} Store a new fact instead."),
    _Row(
        errors.UnknownReview,
        404,
        "unknown-review",
        "No such review",
        "{fact} GET /v1/reviews lists them.",
    ),
    _Row(
        errors.AmbiguousReview,
        422,
        "ambiguous-review",
        "Several reviews end like this",
        "{fact} Name one of them with more of its digits, or in full.",
    ),
    _Row(
        errors.UnknownLetter,
        422,
        "no-candidate",
        "The question has no such letter",
        "{fact} An empty `choice` says none of them.",
    ),
    _Row(
        errors.NotForAgent,
        409,
        "for-a-person",
        "A person decides this review",
        "{fact} Nothing changed. With the scope `review`, POST /v1/reviews/ID/accept or reject "
        "decides it.",
    ),
    _Row(
        errors.AgentFrozen,
        503,
        "frozen",
        "The agent is frozen",
        '{fact} PATCH /v1/agents/ID {{"mode": "live"}} ends it.',
    ),
    _Row(
        errors.AlreadyDecided,
        409,
        "already-decided",
        "The review was decided before",
        "{fact} To change your mind, revert the operation that decided it.",
    ),
    _Row(
        errors.ChoiceNeeded,
        422,
        "choice-needed",
        "The review names several memories",
        '{fact} Accept it with {{"memories": [ids]}}, the ids of those that it is right about; '
        "reject it if it is right about none. `candidates` lists them with their texts.",
    ),
    _Row(
        errors.NotCandidates,
        422,
        "no-candidate",
        "The review does not name this memory",
        "{fact} GET /v1/reviews/ID lists what it names.",
    ),
    _Row(
        errors.CannotAccept,
        409,
        "cannot-accept",
        "The proposal makes no sense any more",
        "{fact} Reject it, or act on the memories themselves.",
    ),
    _Row(errors.CannotRevert, 410, "erased", "What was erased is gone"),
    _Row(
        errors.BuiltOn,
        409,
        "built-on",
        "Later operations built on it",
        "{fact} Undo those first, or send cascade=true to undo them with it.",
    ),
    _Row(
        errors.GroundMoved,
        409,
        "ground-moved",
        "What it was done on was undone",
        "{fact} Revert those reverts first, in this order.",
    ),
    _Row(
        errors.AlreadyReverted,
        409,
        "already-reverted",
        "It was undone before",
        "{fact} Revert that one to do it again.",
    ),
    _Row(
        errors.MergedElsewhere,
        409,
        "merged-elsewhere",
        "Its text lives on in merged memories",
        "{fact} Send cascade=true to erase those too.",
    ),
    _Row(
        errors.Withdrawn,
        409,
        "withdrawn",
        "The memory was withdrawn",
        "{fact} Act on a version that holds: see its history.",
    ),
    _Row(errors.DoesNotHold, 409, "does-not-hold", "The memory does not hold then"),
    _Row(
        errors.SuccessorDoesNotHold,
        409,
        "successor-does-not-hold",
        "The successor does not hold then",
        "{fact} Undo what ended it, name a memory that holds then, or store the fact anew.",
    ),
    _Row(
        errors.SupersessionRing,
        409,
        "supersession-ring",
        "The successor was superseded by that memory",
        "{fact} Undo one of these supersessions, or store the fact anew.",
    ),
    _Row(
        errors.OthersInBetween,
        409,
        "others-in-between",
        "Other versions start in between",
        "{fact} Name them in `supersedes` too, or choose a later valid_from.",
    ),
    _Row(
        errors.NotEmpty,
        409,
        "conflict",
        "The call contradicts what is stored",
        "{fact} Import the export into an agent that does not: name another one.",
    ),
    _Row(errors.Conflict, 409, "conflict", "The call contradicts what is stored"),
    _Row(
        errors.StaleVersion,
        412,
        "stale-version",
        "The memory has changed",
        "Memory {memory_id} has changed since that ETag was read. GET it again and decide anew.",
    ),
    _Row(
        errors.KeyReused,
        422,
        "key-reused",
        "The Idempotency-Key is already used",
        "Idempotency-Key {key!r} was used for another call. Repeat that one exactly, "
        "or send this one under a key of its own.",
    ),
    _Row(
        errors.AnswerErased,
        410,
        "erased",
        "The answer was erased",
        "The call under Idempotency-Key {key!r} was executed; its answer told of what"
        " was erased since, and is gone with it.",
    ),
    _Row(
        errors.AnswerNotKept,
        410,
        "answer-not-kept",
        "The answer was not kept",
        "The whole import under this Idempotency-Key was executed, and is not "
        "repeated. Its answer is too large to be kept: GET /v1/log?since={since} "
        "shows what it stored.",
    ),
    _Row(
        errors.DamagedImport,
        422,
        "damaged-import",
        "The export is damaged",
        "{reason} Nothing of this import was kept; export the agent again and import "
        "that file unchanged.",
    ),
    _Row(
        errors.BadImportLine,
        422,
        "bad-line",
        "A line cannot be imported",
        "Line {line}: {reason} Nothing of this import was kept; correct the line and "
        "send it again.",
    ),
    _Row(
        errors.NotYetKnown,
        422,
        "not-yet-known",
        "That may still change",
        "{fact} Name no later known_at, or leave it out for all that is known.",
    ),
    _Row(errors.InvalidFact, 422, "invalid", "The request contradicts itself"),
    _Row(
        errors.ScopeMissing,
        403,
        "scope-missing",
        "The key does not allow this",
        "{fact} Send a key that has it; `palimpsest keys create` and POST /v1/keys issue one.",
    ),
    _Row(
        errors.AgentForbidden,
        403,
        "agent-forbidden",
        "The key is not for this agent",
        "{fact} Send the key of that agent, or leave X-Agent-Id out if the key is for one only.",
    ),
    _Row(
        errors.AgentNotNamed,
        403,
        "agent-not-named",
        "For which agent?",
        "{fact} Name one of them in X-Agent-Id.",
    ),
    _Row(
        errors.TrustTooHigh,
        403,
        "trust-too-high",
        "The key gives less trust",
        "{fact} State at most that, or leave `trust` out.",
    ),
    _Row(
        errors.HistoryForbidden,
        403,
        "trust-too-high",
        "The key gives less trust",
        "{fact} Import it with a key whose `trust_ceiling` is 100.",
    ),
    _Row(
        errors.RightsExceeded,
        403,
        "rights-exceeded",
        "The key does not allow this",
        "{fact} Ask for no more scopes, agents and trust, and for no later end.",
    ),
    _Row(
        errors.UnknownKey,
        404,
        "unknown-key",
        "No such key",
        "{fact} GET /v1/keys lists them.",
    ),
    _Row(
        errors.UnknownWebhook,
        404,
        "unknown-webhook",
        "No such webhook",
        "{fact} GET /v1/webhooks lists them.",
    ),
    _Row(
        errors.TooManyWebhooks,
        409,
        "too-many-webhooks",
        "Too many webhooks",
        "{fact} Remove one with DELETE /v1/webhooks/ID, or let one webhook serve several agents.",
    ),
    _Row(
        errors.TooManyPending,
        429,
        "too-many-captures",
        "Too many captures wait",
        "{fact} Nothing was stored. Send the messages again after Retry-After seconds.",
    ),
    _Row(
        errors.AddressNotAllowed,
        422,
        "address-not-allowed",
        "Nothing is sent there",
        "{fact} Name an https address in the public internet. Whoever runs the service may allow "
        "others: PALIMPSEST_WEBHOOKS_ALLOW_HTTP, PALIMPSEST_WEBHOOKS_ALLOW_PRIVATE.",
    ),
    _Row(
        errors.KeyEnded,
        409,
        "key-ended",
        "The key has ended",
        "{fact} Issue a new one with POST /v1/keys.",
    ),
    _Row(
        errors.KeysOff,
        409,
        "keys-off",
        "No key is asked for",
        "{fact} Set PALIMPSEST_API_KEY and restart the service; that key then issues others.",
    ),
    _Row(
        errors.EmbedderKeyRefused,
        503,
        "embedder-unavailable",
        "The embeddings cannot be made",
        "{reason} Check PALIMPSEST_EMBEDDING_API_KEY. Nothing was written. Try again "
        "later; searches in mode `text` need no embeddings.",
    ),
    _Row(
        errors.WrongVectorSize,
        503,
        "embedder-unavailable",
        "The embeddings cannot be made",
        "The embedding server answered with {received} dimensions where "
        "PALIMPSEST_EMBEDDING_DIMENSIONS says {expected}; set it to what the model "
        "gives. Nothing was written. Try again later; searches in mode `text` need no"
        " embeddings.",
    ),
    _Row(
        errors.EmbedderUnavailable,
        503,
        "embedder-unavailable",
        "The embeddings cannot be made",
        "{fact} Try again later; searches in mode `text` need no embeddings.",
    ),
    # Nobody reads it; it is counted.
    _Row(errors.CallerLeft, 408, "caller-left", "The caller left"),
    _Row(
        errors.DatabaseSilent,
        503,
        "database-unavailable",
        "The database cannot be reached",
        "{fact} Try again.",
    ),
    _Row(
        errors.DatabaseReadOnly,
        503,
        "database-read-only",
        "The database takes no writes",
        "{fact} Reads are answered. Point PALIMPSEST_DATABASE_URL at the primary, or try again "
        "later.",
    ),
    _Row(errors.EmbeddingsChanged, 503, "embeddings-changed", "The embeddings are another model's"),
    _Row(BatchRefused, 422, "batch-refused", "The batch was refused"),
]


def problem_of(error: errors.PalimpsestError) -> Problem:
    """Return the problem for a domain error, with the ids it carries."""
    row = _find_row(error)
    return build_problem(
        row.status, row.slug, row.title, describe_error(error), **_collect_members(error)
    )


def describe_error(error: errors.PalimpsestError) -> str:
    """Return what is the case and what the caller can do about it."""
    if isinstance(error, BatchRefused):
        place, first = next(iter(error.problems.items()))
        return f"Item {place}: {describe_error(first)} The batch is atomic, so nothing was stored."
    return fill_template(_find_row(error).detail, error)


def _find_row(error: errors.PalimpsestError) -> _Row:
    for row in _PROBLEMS:
        if isinstance(error, row.kind):
            return row
    raise error


def _collect_members(error: errors.PalimpsestError) -> dict[str, Any]:
    match error:
        case errors.BuiltOn() | errors.GroundMoved() | errors.AlreadyReverted():
            return {"log_ids": [str(i) for i in error.log_ids]}
        case errors.OperationArchived():
            return {"archive": error.file, "known_at": format_time(error.at)}
        case errors.EventsArchived(log_id=log_id, until=until):
            return {"resume_after": str(log_id), "archived_until": format_time(until)}
        case errors.SelectionArchived():
            return {"archived_until": format_time(error.until)}
        case errors.ChoiceNeeded(candidates=candidates):
            listed = [{"id": str(i), "content": text} for i, text in candidates.items()]
            return {"candidates": listed}
        case errors.Conflict():
            return {"memory_ids": [str(i) for i in error.memory_ids]}
        case errors.NotYetKnown(settled_until=until):
            return {"settled_until": until and format_time(until)}
        case errors.BadImportLine():
            return {"line": error.line}
        case BatchRefused():
            problems = error.problems.items()
            return {"items": {str(i): problem_of(inner).model_dump() for i, inner in problems}}
        case _:
            return {}


def invalid_input(details: Sequence[Mapping[str, Any]], taker: Taker = None) -> Problem:
    """Return the problem for an invalid payload: its places, each with what to do about it.

    `taker` is the endpoint or the model of the payload, which knows the names of its fields.
    """
    places = [_describe_place(error, taker) for error in details[:MOST_PLACES]]
    sentences = [_format_place(place) for place in places[:MOST_SENTENCES]]
    return build_problem(
        422, "invalid", "The request is not valid", "; ".join(sentences), errors=places
    )


def _describe_place(error: Mapping[str, Any], taker: Taker) -> dict[str, str]:
    return {"at": _name_place(error["loc"]), "reason": _explain_error(error, taker)}


def _format_place(place: Mapping[str, str]) -> str:
    if place["at"]:
        return f"{place['at']}: {place['reason']}"
    return place["reason"]


def _name_place(location: Sequence[int | str]) -> str:
    if location and location[0] in ("body", "query", "path", "header"):
        location = location[1:]
    return _mend_text(".".join(map(str, location)))


def _explain_error(error: Mapping[str, Any], taker: Taker) -> str:
    is_whole_body = tuple(error["loc"]) == ("body",)
    if error["type"] == "extra_forbidden":
        return explain_unknown_field(taker, error["loc"])
    if is_whole_body and isinstance(error.get("input"), list):
        return (
            "send one JSON object as the body, not a list; "
            'many facts go to POST /v1/memories/batch as {"items": [...]}'
        )
    # `curl -d` says that its body is a form.
    if is_whole_body and error["type"] in ("missing", "model_attributes_type"):
        return "send a JSON object as the body, with `Content-Type: application/json`"
    if error["type"] == "string_pattern_mismatch" and error["loc"][-1] in _AGENT_PLACES:
        return f"give {AGENT_ID_RULE}"
    return str(error["msg"]).removeprefix("Value error, ")


def _describe_broken_json(error: RequestValidationError) -> Problem | None:
    """Return the problem of a body that is no JSON, with its line and column; else None."""
    first = error.errors()[0]
    if first["type"] != "json_invalid" or not isinstance(error.body, str):
        return None
    position = int(first["loc"][-1])
    line = error.body.count("\n", 0, position) + 1
    column = position - error.body.rfind("\n", 0, position)
    reason = f"the body is no JSON: line {line}, column {column}: {first['ctx']['error']}"
    places = [{"at": f"line {line}, column {column}", "reason": reason}]
    return build_problem(422, "invalid", "The request is not valid", reason, errors=places)


def build_problem(status: int, slug: str, title: str, detail: str, **members: Any) -> Problem:
    """Return a problem of one of our own types. `members` are further fields, such as ids."""
    kind = f"urn:palimpsest:problem:{slug}"
    return Problem(type=kind, title=title, status=status, detail=_mend_text(detail), **members)


def _mend_text(text: str) -> str:
    """Return the text with a mark for each lone surrogate, which no answer can carry."""
    return text.encode("utf-8", "replace").decode()


def respond_with_problem(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse(
        problem.model_dump(),
        status_code=problem.status,
        media_type=MEDIA_TYPE,
        headers=dict(headers or {}),
    )


def install_error_handlers(app: FastAPI) -> None:
    """Answer errors as problems. `RequestMonitor` answers the errors that have no handler here."""
    app.add_exception_handler(errors.PalimpsestError, _answer_domain_error)
    app.add_exception_handler(RequestValidationError, _answer_validation_error)
    app.add_exception_handler(ValidationError, _answer_validation_error)
    app.add_exception_handler(HTTPException, _answer_http_error)
    app.add_exception_handler(sa.exc.TimeoutError, _answer_pool_timeout)
    app.add_exception_handler(sa.exc.DBAPIError, _answer_database_error)
    app.add_exception_handler(psycopg.Error, _answer_database_error)


async def _answer_domain_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, errors.PalimpsestError)
    headers = {}
    if isinstance(error, errors.Unavailable):
        headers["Retry-After"] = str(error.retry_after)
    return respond_with_problem(problem_of(error), headers)


async def _answer_validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError | ValidationError)
    if isinstance(error, RequestValidationError):
        broken = _describe_broken_json(error)
        if broken:
            return respond_with_problem(broken)
    taker = getattr(request.scope.get("route"), "endpoint", None)
    return respond_with_problem(invalid_input(error.errors(), taker))


async def _answer_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    match error.status_code:
        case 400 if isinstance(error.__cause__, UnicodeDecodeError):
            return _respond_to_bad_encoding(error.__cause__)
        case 404:
            return _answer_unknown_path(request, error)
        case 405:
            return _answer_wrong_method(request, error)
        case 408:
            return respond_to_slow_body()
        case status:
            problem = build_problem(status, "refused", "The request was refused", str(error.detail))
            return respond_with_problem(problem, error.headers)


def _respond_to_bad_encoding(error: UnicodeDecodeError) -> Response:
    byte = error.object[error.start]
    detail = (
        f"The body is no UTF-8: byte {error.start + 1} is 0x{byte:02X}. "
        "Send it as UTF-8; text in Latin-1 or Windows-1252 has to be converted first."
    )
    return respond_with_problem(build_problem(400, "bad-encoding", "The body is no UTF-8", detail))


def respond_to_compressed_body(coding: str) -> Response:
    """Return the answer to a body with a Content-Encoding. It closes the connection."""
    detail = (
        f"The body is compressed (Content-Encoding: {coding[:50]}), which is not taken. Send it "
        "as it is, without that header."
    )
    problem = build_problem(415, "compressed", "The body is compressed", detail)
    headers = {"Accept-Encoding": "identity", "Connection": "close"}
    return respond_with_problem(problem, headers)


def _answer_unknown_path(request: Request, error: HTTPException) -> Response:
    detail = f"There is nothing at {_printable_path(request)}. /docs shows every route."
    problem = build_problem(404, "not-found", "No such path", detail)
    return respond_with_problem(problem, error.headers)


def _answer_wrong_method(request: Request, error: HTTPException) -> Response:
    allowed = _list_allowed_methods(request) or (error.headers or {}).get("Allow", "")
    detail = (
        f"At {_printable_path(request)}, {allowed} is taken, not {request.method}. "
        "/docs shows every route."
    )
    problem = build_problem(405, "method-not-allowed", "Another method is needed", detail)
    return respond_with_problem(problem, {"Allow": allowed})


def _printable_path(request: Request) -> str:
    return request.url.path.encode("utf-8", "replace").decode()[:200]


def _list_allowed_methods(request: Request) -> str:
    """Return every method that the OpenAPI document has for the path of the route.

    The framework's own list names the methods of one route only.
    """
    path = getattr(request.scope.get("route"), "path_format", None)
    methods = request.app.openapi()["paths"].get(path, ())
    return ", ".join(sorted(method.upper() for method in methods))


DATABASE_ERRORS = (sa.exc.TimeoutError, sa.exc.DBAPIError, psycopg.Error)


def respond_to_database_error(error: Exception) -> Response:
    """Return the answer to one of DATABASE_ERRORS outside of the routes. Raises any other error."""
    if isinstance(error, sa.exc.TimeoutError):
        return _respond_busy()
    return _respond_to_database_trouble(error)


async def _answer_pool_timeout(_request: Request, _error: Exception) -> Response:
    return _respond_busy()


def _respond_busy() -> Response:
    detail = "No database connection came free in time. Try again."
    return respond_with_problem(
        build_problem(503, "busy", "Too busy", detail), {"Retry-After": "1"}
    )


async def _answer_database_error(_request: Request, error: Exception) -> Response:
    return _respond_to_database_trouble(error)


def _respond_to_database_trouble(error: Exception) -> Response:
    """Answer a broken rule of the schema, or trouble that passes. Raises any other error."""
    cause = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    if isinstance(cause, psycopg.IntegrityError):
        rule = cause.diag.constraint_name or find_rule(cause.diag.message_primary or "")
        if rule:
            return _answer_broken_rule(remove_shard(rule))
    for trouble in _PASSING_TROUBLES:
        if isinstance(cause, trouble.kind):
            _log_trouble(trouble, cause)
            problem = build_problem(503, trouble.slug, trouble.title, trouble.detail)
            return respond_with_problem(problem, {"Retry-After": str(trouble.retry_after)})
    raise error


def _answer_broken_rule(rule: str) -> Response:
    detail = f"The write breaks the rule {rule}; nothing was stored."
    return respond_with_problem(
        build_problem(409, "rule-broken", "The write breaks a rule", detail)
    )


@dataclass(frozen=True, slots=True)
class _PassingTrouble:
    """Trouble with the database that passes. `retry_after` is in seconds."""

    kind: type[psycopg.Error]
    slug: str
    title: str
    detail: str
    retry_after: int


# The first row whose kind fits counts.
_PASSING_TROUBLES = [
    _PassingTrouble(
        psycopg.errors.QueryCanceled,
        "statement-timeout",
        "The database took too long",
        "A statement took longer than PALIMPSEST_STATEMENT_TIMEOUT allows; nothing was stored. "
        "Ask for less at a time, or try again later.",
        retry_after=5,
    ),
    _PassingTrouble(
        psycopg.errors.LockNotAvailable,
        "agent-busy",
        "Another write of this agent goes on",
        "Another write of this agent took longer than PALIMPSEST_LOCK_TIMEOUT; nothing was "
        "stored. Try again when it has ended.",
        retry_after=5,
    ),
    _PassingTrouble(
        psycopg.errors.ReadOnlySqlTransaction,
        "database-read-only",
        "The database takes no writes",
        "It is a standby, or was made read-only; nothing was stored. Try again when the service "
        "reaches a primary.",
        retry_after=5,
    ),
    _PassingTrouble(
        psycopg.errors.TransactionRollback,
        "collision",
        "Two writes collided",
        "The database chose to undo this one. Try again.",
        retry_after=1,
    ),
    *(
        _PassingTrouble(
            kind,
            "database-unavailable",
            "The database cannot be reached",
            "A pooler before it was noticed by a mistake; nothing was stored. Try again.",
            retry_after=1,
        )
        for kind in MISTAKEN_SESSION
    ),
    _PassingTrouble(
        psycopg.OperationalError,
        "database-unavailable",
        "The database cannot be reached",
        "Try again.",
        retry_after=2,
    ),
    _PassingTrouble(
        psycopg.InterfaceError,
        "database-unavailable",
        "The database cannot be reached",
        "Try again.",
        retry_after=2,
    ),
]


def _log_trouble(trouble: _PassingTrouble, cause: BaseException) -> None:
    values = {
        "trouble": trouble.slug,
        "error": type(cause).__name__,
        "sqlstate": getattr(cause, "sqlstate", None),
    }
    logger.error("database trouble", extra=values)


def respond_unexpected() -> Response:
    """Return the answer to an error that nobody foresaw."""
    detail = "The fault is the service's; its log says more. Nothing was stored."
    return respond_with_problem(
        build_problem(500, "unexpected", "Something went wrong here", detail)
    )


def respond_overloaded() -> Response:
    """Return the answer to a request that finds all places and the queue full."""
    detail = (
        "More requests arrive than can be worked on; this one was not begun. "
        "Try again after Retry-After seconds, and then more slowly."
    )
    problem = build_problem(503, "overloaded", "Overloaded", detail)
    return respond_with_problem(problem, {"Retry-After": "1"})


def respond_over_share() -> Response:
    """Return the answer to a request of a key that has its share of the places already."""
    detail = (
        "Your key has its share of requests under way; this one was not begun. Try again after "
        "Retry-After seconds, with fewer requests at a time."
    )
    problem = build_problem(429, "over-share", "More than your share", detail)
    return respond_with_problem(problem, {"Retry-After": "1"})


def respond_to_slow_body() -> Response:
    """Return the answer to a request whose body does not arrive. It closes the connection."""
    detail = (
        "The body stopped coming, or came too slowly. Nothing was stored; send it again, "
        "a piece at least every ten seconds and all within a minute."
    )
    problem = build_problem(408, "slow-body", "The body did not arrive", detail)
    return respond_with_problem(problem, {"Connection": "close"})


def respond_to_large_body(limit: int) -> Response:
    """Return the answer to a body of more than `limit` bytes. It closes the connection."""
    detail = (
        f"The body is larger than {limit} bytes. Send less at a time: many facts with POST "
        "/v1/memories/batch, or as a stream of lines with POST /v1/import."
    )
    problem = build_problem(413, "too-large", "The body is too large", detail)
    return respond_with_problem(problem, {"Connection": "close"})


def respond_to_crowded_body(limit: int) -> Response:
    """Return the answer to a body of more than `limit` commas, colons and opening brackets."""
    detail = (
        f"The body holds more than {limit} commas, colons and opening brackets. Send fewer facts "
        "at a time, or many as a stream of lines with POST /v1/import."
    )
    return respond_with_problem(build_problem(413, "too-large", "The body is too large", detail))


def respond_starving() -> Response:
    """Return the answer of /readyz while requests wait and none moves on."""
    detail = "Requests wait for a place, and none has come free for a while. Use another process."
    problem = build_problem(503, "starving", "Nothing moves on", detail)
    return respond_with_problem(problem, {"Retry-After": "5"})


def respond_draining() -> Response:
    """Return the answer of /readyz while the process ends."""
    detail = "Send requests to another process; this one is about to end."
    problem = build_problem(503, "draining", "Shutting down", detail)
    return respond_with_problem(problem, {"Retry-After": "1"})
