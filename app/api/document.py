"""The OpenAPI document: what FastAPI builds from the routes, in the form that readers, code
generators and Swagger UI take best.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.responses import FileResponse

from app.api.examples import load_answers
from app.api.field_words import describe_fields, iterate_routes, note_other_names
from app.api.plain_schemas import simplify_schemas
from app.api.problems import MEDIA_TYPE
from app.api.schemas.memories import FilterFields
from app.caller_transport import POSITION_HEADER
from app.domain.position import POSITION_PATTERN

Route = dict[str, Any]

# The groups of routes, in the order in which people need them.
_GROUPS = [
    ("memories", "Store a fact, read it with its history, and correct, replace or end it by hand."),
    ("recall", "Ask: search, the context of a prompt, the value of a preference; at any time."),
    ("messages", "Send what was said in a conversation; the service takes from it what lasts."),
    ("reviews", "Changes that wait for a person, and what shadow mode would have done."),
    ("log", "Every operation with what came in, what it did and who decided; and undoing it."),
    ("lifespans", "End a session or a project, with all that was meant for it."),
    ("sweeps", "Look at stored memories again for changes that a store missed."),
    ("insights", "What keeps changing, how long values hold, and which judges err."),
    ("transfer", "Bring history along with its own dates, and take an agent elsewhere."),
    ("erasures", "Erase for privacy: texts, vectors and hashes go everywhere, with a receipt."),
    ("agents", "Whose memories there are, their figures, and how changes are made."),
    ("keys", "Keys for callers: for some agents, some kinds of calls and some time."),
    ("webhooks", "Have events sent to an address of yours, signed and tried again."),
    ("operations", "The state of the process and of its data."),
]

INFORMATION: dict[str, Any] = {
    "title": "Palimpsest",
    "description": (
        "The memory service for agents that knows when facts change: store a fact, store its "
        "change, and read what is true now, what was true then (`as_of`), and what was believed at "
        "any earlier moment (`known_at`).\n\n"
        "`X-Agent-Id` says whose memory a call is about. Times of requests are RFC 3339, or a "
        "date, a month or a year, which stand for their first instant in UTC, or Unix seconds; a "
        "JSON body takes these as a number too. Times of answers are RFC 3339 in UTC. Every error "
        "is a `Problem`, whose `detail` says what to do. A write with an `Idempotency-Key` is "
        "executed once, however often it is sent."
    ),
    "contact": {"name": "Palimpsest, where its repository is hosted"},
    "license_info": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
    "openapi_tags": [{"name": name, "description": words} for name, words in _GROUPS],
    "servers": [{"url": "/", "description": "The service that serves this document"}],
}

# The descriptions of enums in the document. Their docstrings are for readers of the code, and may
# change without changing the document.
_WORDS = {
    "CaptureState": "How a capture stands: a worker goes on with a pending one.",
    "Classify": "Which judges are asked (rules, the local judge, a language model).",
    "EventKind": "The operations of the log, and what happened beside them.",
    "ExtractBy": "What reads facts from messages; `off`: nothing.",
    "HintName": "What a hint warns of.",
    "Judge": "Who decided.",
    "Kind": (
        "What sort of statement a memory is; a constraint is never ended unless a call names it."
    ),
    "Lifespan": (
        "How long a memory is meant to last, shortest first: until its session ends, "
        "until its project ends, or for good."
    ),
    "LinkType": (
        "What the source is to the target (docs/guide/relationships.md). A link of any "
        "type ends nothing."
    ),
    "Mode": (
        "What becomes of changes: they are made; they become reviews; nothing is written at all."
    ),
    "Operation": "What was done, as logged.",
    "Origin": (
        "What a sweep came from: a call, the clock, or stores that left memories to be "
        "looked at again, which are then all it is about."
    ),
    "Relation": "How an incoming fact stands to a stored one.",
    "ReviewSource": "Why a person should look.",
    "ReviewStatus": "How a review stands.",
    "Role": "Who speaks. Only what a user says becomes a fact.",
    "Scope": "A kind of call that a key allows; none contains another.",
    "Section": "What can be asked of a history.",
    "SkipReason": "Why a part of a message becomes no fact (docs/guide/messages.md).",
    "Status": "How a version stands at a moment on both axes.",
    "SweepStatus": "How a sweep stands.",
    "Tier": "Core memories keep a floor under their strength.",
}

router = APIRouter(include_in_schema=False)

_SWAGGER = Path(__file__).parent / "swagger.html"


@router.get("/docs")
async def show_swagger() -> FileResponse:
    """Return Swagger UI for the document, with the assets that `FastAPIOffline` serves."""
    return FileResponse(_SWAGGER)


_SUCCESSES = {"201": 0, "200": 1, "202": 2}  # each with its place

# Headers of answers, which routes refer to.
_HEADERS: dict[str, Any] = {
    POSITION_HEADER: {
        "description": (
            "Where the service reads from replicas: a position of the database that covers this "
            "write. A read that sends it back sees the write, on a replica too "
            "(docs/operate/replicas.md)."
        ),
        "schema": {"type": "string", "pattern": POSITION_PATTERN},
    },
    "WWW-Authenticate": {
        "description": "With 401: how to send the key.",
        "schema": {"type": "string"},
    },
    "Retry-After": {
        "description": "With 429 and 503, if the trouble passes: seconds to wait.",
        "schema": {"type": "integer", "minimum": 1},
    },
}
_HEADER_REFERENCES = {name: {"$ref": f"#/components/headers/{name}"} for name in _HEADERS}


def refine_document(app: FastAPI) -> None:
    """Let the application serve its OpenAPI document as `build_document` refines it."""
    build_plain_document = app.openapi

    @cache
    def build_document() -> dict[str, Any]:
        document = build_plain_document()
        components = document["components"]
        for name, description in _WORDS.items():
            components["schemas"][name]["description"] = description
        simplify_schemas(document)
        describe_fields(document)
        note_other_names(document)
        components["headers"] = _HEADERS
        for path, methods in document["paths"].items():
            for method, route in methods.items():
                _refine_route(route, is_write=path.startswith("/v1/") and method != "get")
        _add_examples(document)
        return document

    app.openapi = build_document  # type: ignore[method-assign]  # as FastAPI advises


def _refine_route(route: Route, *, is_write: bool) -> None:
    route["summary"] = _find_first_sentence(route["description"])
    parameters = route.get("parameters", [])
    parameters.sort(key=_rank_parameter)
    if is_write and all(parameter["name"] != POSITION_HEADER for parameter in parameters):
        _document_position(route["responses"])
    route["responses"] = _join_problems(route["responses"])


def _rank_parameter(parameter: dict[str, Any]) -> tuple[bool, ...]:
    """Return a rank by which required parameters come first, then options, filters and headers."""
    is_filter = parameter["name"] in FilterFields.model_fields
    return (parameter["in"] == "header", not parameter["required"], is_filter)


def _find_first_sentence(description: str) -> str:
    """Return the description up to its first period, colon or semicolon, on one line."""
    return re.split(r"[.:;](?=\s|$)", " ".join(description.split()), maxsplit=1)[0]


def _document_position(responses: Route) -> None:
    """Say of a write that its answers may carry a position. Reads take one instead."""
    for status, response in responses.items():
        if status.startswith("2"):
            response["headers"] = {POSITION_HEADER: _HEADER_REFERENCES[POSITION_HEADER]}


def _join_problems(responses: Route) -> Route:
    """Return the responses with 201 first and all errors as one, which names each status."""
    successes = sorted(responses.keys() & _SUCCESSES.keys(), key=_SUCCESSES.__getitem__)
    errors = sorted(responses.keys() - _SUCCESSES.keys())
    joined = {status: responses[status] for status in successes}
    if errors:
        meanings = [f"`{status}` {responses[status]['description']}." for status in errors]
        headers = {name: _HEADER_REFERENCES[name] for name in ("WWW-Authenticate", "Retry-After")}
        joined["default"] = {
            "description": " ".join(["A problem:", *meanings]),
            "headers": headers,
            "content": {
                MEDIA_TYPE: {
                    "schema": {"$ref": "#/components/schemas/Problem"},
                    "examples": {"problem": {"$ref": "#/components/examples/problem"}},
                }
            },
        }
    return joined


def _add_examples(document: dict[str, Any]) -> None:
    """Show what a service answered (scripts/export_answers.py).

    They are added here because examples of a route lose every field that is null.
    """
    answers = load_answers()
    document["components"]["examples"] = {"problem": {"value": answers.pop("problem")}}
    for route in iterate_routes(document):
        for status, examples in answers.get(route["operationId"], {}).items():
            content = route["responses"][status]["content"]["application/json"]
            content["examples"] = {
                name: {"summary": f"With `view={name}`", "value": value}
                for name, value in examples.items()
            }
