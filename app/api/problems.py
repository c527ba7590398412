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

from app.advice import advise_operator, fill_template
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

    `detail` is a template over the error's message (`fact`), its attributes, and what the person
    who runs the service is advised (`advice`). It says what is the case and what the caller can do
    about it, in the words of HTTP and of the settings.
    """

    status: int
    slug: str
    title: str
    detail: str = "{fact}"


# An error of a kind without a row is answered as its base.
_PROBLEMS: Mapping[type, _Row] = {
    errors.UnknownMemory: _Row(
        404,
        "unknown-memory",
        "No such memory",
        "{fact} Look its id up with GET /v1/memories or POST /v1/search.",
    ),
    errors.UnknownLogEntry: _Row(
        404, "unknown-operation", "No such operation", "{fact} GET /v1/log lists them."
    ),
    errors.OperationArchived: _Row(410, "archived", "The operation is archived"),
    errors.SelectionArchived: _Row(
        410,
        "archived",
        "Operations are archived",
        "{fact} To undo what came later, send `since` after that time.",
    ),
    errors.EventsArchived: _Row(
        410,
        "archived",
        "Events are archived",
        "{fact} Go on with `after={log_id}`, and read again what you derive from events.",
    ),
    errors.ArchivesUnavailable: _Row(
        503, "archives-unavailable", "The archives cannot be reached", "{advice}"
    ),
    errors.UnknownCapture: _Row(
        404, "unknown-capture", "No such capture", "{fact} GET /v1/captures lists them."
    ),
    errors.CaptureUnfinished: _Row(
        409,
        "capture-unfinished",
        "The capture is not finished",
        "{fact} GET /v1/captures/ID tells how far it is. Undo it when it is done.",
    ),
    errors.SecretsRefused: _Row(
        422,
        "secrets",
        "The request holds a secret",
        "{fact} Take it out. With PALIMPSEST_SECRETS=redact, secrets in texts are replaced; "
        "in names, ids and exports keys are refused, unless PALIMPSEST_SECRETS=keep.",
    ),
    errors.NoModel: _Row(
        422,
        "no-model",
        "No language model is set",
        "{fact} Leave `classify` or `extract` out, or set PALIMPSEST_LLM_BASE_URL.",
    ),
    errors.UnknownSweep: _Row(
        404, "unknown-sweep", "No such sweep", "{fact} GET /v1/sweeps lists them."
    ),
    errors.SweepsOff: _Row(
        409,
        "sweeps-off",
        "Sweeps are switched off",
        "{fact} Set PALIMPSEST_SUPERSESSION_ENABLED=true for the service and its workers.",
    ),
    errors.UnknownAgent: _Row(404, "unknown-agent", "No such agent", "{advice}"),
    errors.NoPreference: _Row(404, "no-preference", "Nothing holds there"),
    errors.NothingToErase: _Row(
        404,
        "nothing-to-erase",
        "Nothing to erase",
        "{fact} GET /v1/memories?include_superseded=true lists what is stored.",
    ),
    errors.Erased: _Row(410, "erased", "The memory was erased", "{fact} Store a new fact instead."),
    errors.UnknownReview: _Row(
        404, "unknown-review", "No such review", "{fact} GET /v1/reviews lists them."
    ),
    errors.AmbiguousReview: _Row(
        422,
        "ambiguous-review",
        "Several reviews end like this",
        "{fact} Name one of them with more of its digits, or in full.",
    ),
    errors.UnknownLetter: _Row(
        422,
        "no-candidate",
        "The question has no such letter",
        "{fact} An empty `choice` says none of them.",
    ),
    errors.NotForAgent: _Row(
        409,
        "for-a-person",
        "A person decides this review",
        "{fact} Nothing changed. With the scope `review`, POST /v1/reviews/ID/accept or "
        "reject decides it.",
    ),
    errors.AgentFrozen: _Row(
        503,
        "frozen",
        "The agent is frozen",
        '{fact} PATCH /v1/agents/ID {{"mode": "live"}} ends it.',
    ),
    errors.AlreadyDecided: _Row(
        409,
        "already-decided",
        "The review was decided before",
        "{fact} To change your mind, revert the operation that decided it.",
    ),
    errors.ChoiceNeeded: _Row(
        422,
        "choice-needed",
        "The review names several memories",
        '{fact} Accept it with {{"memories": [ids]}}, the ids of those that it is right '
        "about; reject it if it is right about none. `candidates` lists them with their "
        "texts.",
    ),
    errors.NotCandidates: _Row(
        422,
        "no-candidate",
        "The review does not name this memory",
        "{fact} GET /v1/reviews/ID lists what it names.",
    ),
    errors.CannotAccept: _Row(
        409,
        "cannot-accept",
        "The proposal makes no sense any more",
        "{fact} Reject it, or act on the memories themselves.",
    ),
    errors.CannotRevert: _Row(410, "erased", "What was erased is gone"),
    errors.BuiltOn: _Row(
        409,
        "built-on",
        "Later operations built on it",
        "{fact} Undo those first, or send cascade=true to undo them with it.",
    ),
    errors.GroundMoved: _Row(
        409,
        "ground-moved",
        "What it was done on was undone",
        "{fact} Revert those reverts first, in this order.",
    ),
    errors.AlreadyReverted: _Row(
        409, "already-reverted", "It was undone before", "{fact} Revert that one to do it again."
    ),
    errors.MergedElsewhere: _Row(
        409,
        "merged-elsewhere",
        "Its text lives on in merged memories",
        "{fact} Send cascade=true to erase those too.",
    ),
    errors.Withdrawn: _Row(
        409,
        "withdrawn",
        "The memory was withdrawn",
        "{fact} Act on a version that holds: see its history.",
    ),
    errors.DoesNotHold: _Row(409, "does-not-hold", "The memory does not hold then"),
    errors.SuccessorDoesNotHold: _Row(
        409,
        "successor-does-not-hold",
        "The successor does not hold then",
        "{fact} Undo what ended it, name a memory that holds then, or store the fact anew.",
    ),
    errors.SupersessionRing: _Row(
        409,
        "supersession-ring",
        "The successor was superseded by that memory",
        "{fact} Undo one of these supersessions, or store the fact anew.",
    ),
    errors.OthersInBetween: _Row(
        409,
        "others-in-between",
        "Other versions start in between",
        "{fact} Name them in `supersedes` too, or choose a later valid_from.",
    ),
    errors.NotEmpty: _Row(
        409,
        "conflict",
        "The call contradicts what is stored",
        "{fact} Import the export into an agent that does not: name another one.",
    ),
    errors.Conflict: _Row(409, "conflict", "The call contradicts what is stored"),
    errors.StaleVersion: _Row(
        412,
        "stale-version",
        "The memory has changed",
        "Memory {memory_id} has changed since that ETag was read. GET it again and decide anew.",
    ),
    errors.KeyReused: _Row(
        422,
        "key-reused",
        "The Idempotency-Key is already used",
        "Idempotency-Key {key!r} was used for another call. Repeat that one exactly, or send "
        "this one under a key of its own.",
    ),
    errors.AnswerErased: _Row(
        410,
        "erased",
        "The answer was erased",
        "The call under Idempotency-Key {key!r} was executed; its answer told of what was "
        "erased since, and is gone with it.",
    ),
    errors.AnswerNotKept: _Row(
        410,
        "answer-not-kept",
        "The answer was not kept",
        "The whole import under this Idempotency-Key was executed, and is not repeated. Its "
        "answer is too large to be kept: GET /v1/log?since={since} shows what it stored.",
    ),
    errors.DamagedImport: _Row(
        422,
        "damaged-import",
        "The export is damaged",
        "{fact} Nothing of this import was kept; export the agent again and import that "
        "file unchanged.",
    ),
    errors.BadImportLine: _Row(
        422,
        "bad-line",
        "A line cannot be imported",
        "{fact} Nothing of this import was kept; correct the line and send it again.",
    ),
    errors.NotYetKnown: _Row(
        422,
        "not-yet-known",
        "That may still change",
        "{fact} Name no later known_at, or leave it out for all that is known.",
    ),
    errors.InvalidFact: _Row(422, "invalid", "The request contradicts itself"),
    errors.ScopeMissing: _Row(
        403,
        "scope-missing",
        "The key does not allow this",
        "{fact} Send a key that has it; `palimpsest keys create` and POST /v1/keys issue one.",
    ),
    errors.AgentForbidden: _Row(
        403,
        "agent-forbidden",
        "The key is not for this agent",
        "{fact} Send the key of that agent, or leave X-Agent-Id out if the key is for one only.",
    ),
    errors.AgentNotNamed: _Row(
        403, "agent-not-named", "For which agent?", "{fact} Name one of them in X-Agent-Id."
    ),
    errors.TrustTooHigh: _Row(
        403,
        "trust-too-high",
        "The key gives less trust",
        "{fact} State at most that, or leave `trust` out.",
    ),
    errors.HistoryForbidden: _Row(
        403,
        "trust-too-high",
        "The key gives less trust",
        "{fact} Import it with a key whose `trust_ceiling` is 100.",
    ),
    errors.RightsExceeded: _Row(
        403,
        "rights-exceeded",
        "The key does not allow this",
        "{fact} Ask for no more scopes, agents and trust, and for no later end.",
    ),
    errors.UnknownKey: _Row(404, "unknown-key", "No such key", "{fact} GET /v1/keys lists them."),
    errors.UnknownWebhook: _Row(
        404, "unknown-webhook", "No such webhook", "{fact} GET /v1/webhooks lists them."
    ),
    errors.TooManyWebhooks: _Row(
        409,
        "too-many-webhooks",
        "Too many webhooks",
        "{fact} Remove one with DELETE /v1/webhooks/ID, or let one webhook serve several agents.",
    ),
    errors.TooManyPending: _Row(
        429,
        "too-many-captures",
        "Too many captures wait",
        "{fact} Nothing was stored. Send the messages again after Retry-After seconds.",
    ),
    errors.AddressNotAllowed: _Row(
        422,
        "address-not-allowed",
        "Nothing is sent there",
        "{fact} Name an https address in the public internet. Whoever runs the service may "
        "allow others: PALIMPSEST_WEBHOOKS_ALLOW_HTTP, PALIMPSEST_WEBHOOKS_ALLOW_PRIVATE.",
    ),
    errors.KeyEnded: _Row(
        409, "key-ended", "The key has ended", "{fact} Issue a new one with POST /v1/keys."
    ),
    errors.KeysOff: _Row(
        409,
        "keys-off",
        "No key is asked for",
        "{fact} Set PALIMPSEST_API_KEY and restart the service; that key then issues others.",
    ),
    errors.EmbedderUnavailable: _Row(
        503,
        "embedder-unavailable",
        "The embeddings cannot be made",
        "{advice} Nothing was written. Try again later; searches in mode `text` need no "
        "embeddings.",
    ),
    # Nobody reads it; it is counted.
    errors.CallerLeft: _Row(408, "caller-left", "The caller left"),
    errors.DatabaseSilent: _Row(
        503, "database-unavailable", "The database cannot be reached", "{fact} Try again."
    ),
    errors.DatabaseReadOnly: _Row(
        503,
        "database-read-only",
        "The database takes no writes",
        "{fact} Reads are answered. Point PALIMPSEST_DATABASE_URL at the primary, or try "
        "again later.",
    ),
    errors.EmbeddingsChanged: _Row(503, "embeddings-changed", "The embeddings are another model's"),
    BatchRefused: _Row(422, "batch-refused", "The batch was refused"),
}


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
    return fill_template(_find_row(error).detail, error, advice=advise_operator(error))


def _find_row(error: errors.PalimpsestError) -> _Row:
    for kind in type(error).__mro__:
        if kind in _PROBLEMS:
            return _PROBLEMS[kind]
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
    places, sentences = [], []
    for error in details[:MOST_PLACES]:
        location = error["loc"]
        if location and location[0] in ("body", "query", "path", "header"):
            location = location[1:]
        place = _mend_text(".".join(map(str, location)))
        reason = _explain_error(error, taker)
        places.append({"at": place, "reason": reason})
        sentences.append(f"{place}: {reason}" if place else reason)
    detail = "; ".join(sentences[:MOST_SENTENCES])
    return build_problem(422, "invalid", "The request is not valid", detail, errors=places)


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
    if error["type"] == "uuid_parsing":
        return "give a whole id, as answers and lists have it (a UUID)"
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


def refuse_request(
    status: int, slug: str, title: str, detail: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the response with a problem of one of our own types that has no further members."""
    return respond_with_problem(build_problem(status, slug, title, detail), headers)


DATABASE_ERRORS = (sa.exc.TimeoutError, sa.exc.DBAPIError, psycopg.Error)


def install_error_handlers(app: FastAPI) -> None:
    """Answer errors as problems. `RequestMonitor` answers the errors that have no handler here."""
    app.add_exception_handler(errors.PalimpsestError, _answer_domain_error)
    app.add_exception_handler(RequestValidationError, _answer_validation_error)
    app.add_exception_handler(ValidationError, _answer_validation_error)
    app.add_exception_handler(HTTPException, _answer_http_error)
    for kind in DATABASE_ERRORS:
        app.add_exception_handler(kind, _answer_database_error)


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
            wrong = error.__cause__
            detail = (
                f"The body is no UTF-8: byte {wrong.start + 1} is 0x{wrong.object[wrong.start]:02X}"
                ". Send it as UTF-8; text in Latin-1 or Windows-1252 has to be converted first."
            )
            return refuse_request(400, "bad-encoding", "The body is no UTF-8", detail)
        case 404:
            path = _mend_text(request.url.path)[:200]
            detail = f"There is nothing at {path}. /docs shows every route."
            return refuse_request(404, "not-found", "No such path", detail, error.headers)
        case 405:
            path = _mend_text(request.url.path)[:200]
            allowed = _list_allowed_methods(request) or (error.headers or {}).get("Allow", "")
            detail = (
                f"At {path}, {allowed} is taken, not {request.method}. /docs shows every route."
            )
            title = "Another method is needed"
            return refuse_request(405, "method-not-allowed", title, detail, {"Allow": allowed})
        case 408:
            return respond_to_slow_body()
        case status:
            title = "The request was refused"
            return refuse_request(status, "refused", title, str(error.detail), error.headers)


def _list_allowed_methods(request: Request) -> str:
    """Return every method that the OpenAPI document has for the path of the route.

    The framework's own list names the methods of one route only.
    """
    path = getattr(request.scope.get("route"), "path_format", None)
    methods = request.app.openapi()["paths"].get(path, ())
    return ", ".join(sorted(method.upper() for method in methods))


async def _answer_database_error(_request: Request, error: Exception) -> Response:
    return respond_to_database_error(error)


def respond_to_database_error(error: Exception) -> Response:
    """Answer a full pool, a broken rule of the schema, or trouble that passes.

    Raises any other error.
    """
    if isinstance(error, sa.exc.TimeoutError):
        detail = "No database connection came free in time. Try again."
        return refuse_request(503, "busy", "Too busy", detail, {"Retry-After": "1"})
    cause = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    if isinstance(cause, psycopg.IntegrityError):
        rule = cause.diag.constraint_name or find_rule(cause.diag.message_primary or "")
        if rule:
            detail = f"The write breaks the rule {remove_shard(rule)}; nothing was stored."
            return refuse_request(409, "rule-broken", "The write breaks a rule", detail)
    for trouble in _PASSING_TROUBLES:
        if isinstance(cause, trouble.kinds):
            values = {
                "trouble": trouble.slug,
                "error": type(cause).__name__,
                "sqlstate": getattr(cause, "sqlstate", None),
            }
            logger.error("database trouble", extra=values)
            headers = {"Retry-After": str(trouble.retry_after)}
            return refuse_request(503, trouble.slug, trouble.title, trouble.detail, headers)
    raise error


@dataclass(frozen=True, slots=True)
class _PassingTrouble:
    """Trouble with the database that passes. `retry_after` is in seconds."""

    kinds: type[psycopg.Error] | tuple[type[psycopg.Error], ...]
    slug: str
    title: str
    detail: str
    retry_after: int


# The first row whose kinds fit counts.
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
    _PassingTrouble(
        MISTAKEN_SESSION,
        "database-unavailable",
        "The database cannot be reached",
        "A pooler before it was noticed by a mistake; nothing was stored. Try again.",
        retry_after=1,
    ),
    _PassingTrouble(
        (psycopg.OperationalError, psycopg.InterfaceError),
        "database-unavailable",
        "The database cannot be reached",
        "Try again.",
        retry_after=2,
    ),
]

_SOON = {"Retry-After": "1"}
_CLOSE = {"Connection": "close"}


def respond_to_compressed_body(coding: str) -> Response:
    """Return the answer to a body with a Content-Encoding. It closes the connection."""
    detail = (
        f"The body is compressed (Content-Encoding: {coding[:50]}), which is not taken. Send it "
        "as it is, without that header."
    )
    headers = {"Accept-Encoding": "identity", **_CLOSE}
    return refuse_request(415, "compressed", "The body is compressed", detail, headers)


def respond_unexpected() -> Response:
    """Return the answer to an error that nobody foresaw."""
    detail = "The fault is the service's; its log says more. Nothing was stored."
    return refuse_request(500, "unexpected", "Something went wrong here", detail)


def respond_overloaded() -> Response:
    """Return the answer to a request that finds all places and the queue full."""
    detail = (
        "More requests arrive than can be worked on; this one was not begun. "
        "Try again after Retry-After seconds, and then more slowly."
    )
    return refuse_request(503, "overloaded", "Overloaded", detail, _SOON)


def respond_over_share() -> Response:
    """Return the answer to a request of a key that has its share of the places already."""
    detail = (
        "Your key has its share of requests under way; this one was not begun. Try again after "
        "Retry-After seconds, with fewer requests at a time."
    )
    return refuse_request(429, "over-share", "More than your share", detail, _SOON)


def respond_to_slow_body() -> Response:
    """Return the answer to a request whose body does not arrive. It closes the connection."""
    detail = (
        "The body stopped coming, or came too slowly. Nothing was stored; send it again, "
        "a piece at least every ten seconds and all within a minute."
    )
    return refuse_request(408, "slow-body", "The body did not arrive", detail, _CLOSE)


def respond_to_large_body(limit: int) -> Response:
    """Return the answer to a body of more than `limit` bytes. It closes the connection."""
    detail = (
        f"The body is larger than {limit} bytes. Send less at a time: many facts with POST "
        "/v1/memories/batch, or as a stream of lines with POST /v1/import."
    )
    return refuse_request(413, "too-large", "The body is too large", detail, _CLOSE)


def respond_to_crowded_body(limit: int) -> Response:
    """Return the answer to a body of more than `limit` commas, colons and opening brackets."""
    detail = (
        f"The body holds more than {limit} commas, colons and opening brackets. Send fewer facts "
        "at a time, or many as a stream of lines with POST /v1/import."
    )
    return refuse_request(413, "too-large", "The body is too large", detail)


def respond_starving() -> Response:
    """Return the answer of /readyz while requests wait and none moves on."""
    detail = "Requests wait for a place, and none has come free for a while. Use another process."
    return refuse_request(503, "starving", "Nothing moves on", detail, {"Retry-After": "5"})


def respond_draining() -> Response:
    """Return the answer of /readyz while the process ends."""
    detail = "Send requests to another process; this one is about to end."
    return refuse_request(503, "draining", "Shutting down", detail, _SOON)
