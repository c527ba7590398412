"""Errors as `application/problem+json` (RFC 9457): one table gives each domain error its status and type."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
import sqlalchemy as sa
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from app.api.answers import Problem
from app.domain import errors
from app.services.remember import BatchRefused

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"

_STATUS: list[tuple[type[errors.PalimpsestError], int, str, str]] = [
    (errors.UnknownMemory, 404, "unknown-memory", "No such memory"),
    (errors.UnknownLogEntry, 404, "unknown-operation", "No such operation"),
    (errors.NoPreference, 404, "no-preference", "Nothing holds there"),
    (errors.Withdrawn, 409, "withdrawn", "The memory was withdrawn"),
    (errors.DoesNotHold, 409, "does-not-hold", "The memory does not hold then"),
    (errors.OthersInBetween, 409, "others-in-between", "Other versions start in between"),
    (errors.Conflict, 409, "conflict", "The call contradicts what is stored"),
    (errors.StaleVersion, 412, "stale-version", "The memory has changed"),
    (errors.DamagedImport, 422, "damaged-import", "The export is damaged"),
    (errors.TooManyExports, 503, "busy", "Too busy"),
    (errors.BadImportLine, 422, "bad-line", "A line cannot be imported"),
    (errors.InvalidFact, 422, "invalid", "The request contradicts itself"),
    (BatchRefused, 422, "batch-refused", "The batch was refused"),
]


def problem_of(error: errors.PalimpsestError) -> Problem:
    """The problem that a domain error is told as, with the ids it carries."""
    for kind, status, slug, title in _STATUS:
        if isinstance(error, kind):
            return _problem(status, slug, title, str(error), **_members(error))
    raise error


def _members(error: errors.PalimpsestError) -> dict[str, Any]:
    match error:
        case errors.Conflict():
            return {"memory_ids": [str(i) for i in error.memory_ids]}
        case errors.BadImportLine():
            return {"line": error.line}
        case BatchRefused():
            return {"items": {str(i): problem_of(inner).model_dump() for i, inner in error.problems.items()}}
        case _:
            return {}


def invalid_input(details: Sequence[Mapping[str, Any]]) -> Problem:
    """What is wrong with a payload: every place with what to do about it."""
    places = [{"at": _place(error["loc"]), "reason": _reason(error)} for error in details]
    detail = "; ".join(f"{p['at']}: {p['reason']}" if p["at"] else p["reason"] for p in places[:5])
    return _problem(422, "invalid", "The request is not valid", detail, errors=places[:50])


def _place(location: Sequence[int | str]) -> str:
    named = [str(part) for part in location if part not in ("body", "query", "path", "header")]
    return ".".join(named).encode("utf-8", "replace").decode()


def _reason(error: Mapping[str, Any]) -> str:
    if error["type"] == "extra_forbidden":
        return "unknown field; leave it out or check its spelling"
    return str(error["msg"]).removeprefix("Value error, ")


def _problem(status: int, slug: str, title: str, detail: str, **members: Any) -> Problem:
    return Problem(type=f"urn:palimpsest:problem:{slug}", title=title, status=status, detail=detail, **members)


def respond(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse(problem.model_dump(), status_code=problem.status, media_type=MEDIA_TYPE, headers=dict(headers or {}))


def install(app: FastAPI) -> None:
    """Every error leaves as a problem."""
    app.add_exception_handler(errors.PalimpsestError, _domain_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(ValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(sa.exc.TimeoutError, _busy)
    app.add_exception_handler(sa.exc.DBAPIError, _database_error)
    app.add_exception_handler(psycopg.Error, _database_error)
    app.add_exception_handler(Exception, _unexpected)


async def _domain_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, errors.PalimpsestError)
    return respond(problem_of(error))


async def _validation_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError | ValidationError)
    return respond(invalid_input(error.errors()))


async def _http_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    slug = str(error.detail).lower().replace(" ", "-") if error.status_code in (404, 405) else "refused"
    return respond(_problem(error.status_code, slug, "The request was refused", str(error.detail)), error.headers)


async def _busy(_request: Request, _error: Exception) -> Response:
    return respond(_problem(503, "busy", "Too busy", "No database connection came free in time. Try again."), {"Retry-After": "1"})


async def _database_error(_request: Request, error: Exception) -> Response:
    """A broken rule of the schema is a conflict by its name; anything else means that the database cannot be reached."""
    cause = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    rule = cause.diag.constraint_name if isinstance(cause, psycopg.IntegrityError) else None
    if rule:
        return respond(_problem(409, "rule-broken", "The write breaks a rule", f"The write breaks the rule {rule}; nothing was stored."))
    if isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError):
        logger.error("database unavailable: %s", type(cause).__name__)
        return respond(_problem(503, "database-unavailable", "The database cannot be reached", "Try again."), {"Retry-After": "2"})
    return await _unexpected(_request, error)


async def _unexpected(_request: Request, error: Exception) -> Response:
    logger.error("unexpected error", exc_info=error)
    return respond(
        _problem(500, "unexpected", "Something went wrong here", "The fault is the service's; its log says more. Nothing was stored.")
    )
