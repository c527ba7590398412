"""Parts of the OpenAPI document: the problems that a route answers, and where an id leads on."""

from typing import Any

from fastapi import FastAPI

from app.api.examples import STORE_ANSWERS
from app.api.field_words import describe_fields, iterate_routes
from app.api.problems import MEDIA_TYPE
from app.caller_transport import POSITION_HEADER
from app.domain.position import POSITION_PATTERN

Responses = dict[int | str, dict[str, Any]]

_MEANINGS = {
    400: "The body cannot be read",
    401: "The key is missing or wrong",
    403: "The key does not allow it; without a key, this host or page may not",
    404: "There is no such thing here",
    408: "The body did not arrive in time",
    409: "The call contradicts what is stored",
    410: "What it is about was erased, or archived",
    412: "The memory has changed since the ETag in If-Match was read",
    413: "The body is too large",
    415: "The body is of another media type",
    422: "The request is not valid, or contradicts itself",
    429: "Too many wrong keys came from this address",
    500: "A fault of the service",
    503: "Not now; nothing was written",
}

_RETRY_AFTER: dict[str, Any] = {
    "Retry-After": {
        "description": "Seconds to wait.",
        "required": True,
        "schema": {"type": "integer", "minimum": 1},
    }
}

_HEADERS: dict[int, dict[str, Any]] = {
    401: {
        "WWW-Authenticate": {
            "description": "How to send the key.",
            "required": True,
            "schema": {"type": "string"},
        }
    },
    429: _RETRY_AFTER,
    503: _RETRY_AFTER,
}

# Statuses of a route that reads a body.
BODY = (400, 408, 413, 415)

# Statuses of a route that writes: the call may contradict what is stored, and the answer stored
# under its key may have been erased.
WRITE = (408, 409, 410, 413)

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


# The groups of routes, in the order in which people need them.
GROUPS = [
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


def describe_words(app: FastAPI) -> None:
    """Let the document describe the enums of the domain in words for callers."""
    build_document = app.openapi

    def build_described_document() -> dict[str, Any]:
        document = build_document()
        for name, description in _WORDS.items():
            document["components"]["schemas"][name]["description"] = description
        describe_fields(document)
        _document_headers_as_text(document)
        _document_positions(document)
        # The answers of each route begin with what a caller hopes for, and 201 before 200.
        for route in iterate_routes(document):
            route["responses"] = dict(
                sorted(
                    route["responses"].items(),
                    key=lambda response: "0" if response[0] == "201" else response[0],
                )
            )
        # Examples are added here: those of a route lose every field that is null.
        responses = document["paths"]["/v1/memories"]["post"]["responses"]
        for status, answer in STORE_ANSWERS.items():
            responses[status]["content"]["application/json"]["example"] = answer
        return document

    app.openapi = build_described_document  # type: ignore[method-assign]  # as FastAPI advises


def _document_headers_as_text(document: dict[str, Any]) -> None:
    """Leave null out of the schemas of headers: one that has no value is not sent."""
    for route in iterate_routes(document):
        for parameter in route.get("parameters", ()):
            schema = parameter["schema"]
            if parameter["in"] == "header" and "anyOf" in schema:
                [text] = [each for each in schema.pop("anyOf") if each != {"type": "null"}]
                schema.update(text)


_POSITION: dict[str, Any] = {
    "description": (
        "Where the service reads from replicas: a position of the database that covers this write. "
        "A read that sends it back sees the write, on a replica too (docs/operate/replicas.md)."
    ),
    "required": False,
    "schema": {"type": "string", "pattern": POSITION_PATTERN},
}


def _document_positions(document: dict[str, Any]) -> None:
    """Say of every write that its answers may carry a position. Reads take one instead."""
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            names = {parameter["name"] for parameter in route.get("parameters", ())}
            is_read = method == "get" or POSITION_HEADER in names
            if path.startswith("/v1/") and not is_read:
                for status, response in route["responses"].items():
                    if status.startswith("2"):
                        response.setdefault("headers", {})[POSITION_HEADER] = _POSITION


def document_problems(*statuses: int) -> Responses:
    """Return the `responses` of a route or router that answers these statuses with a Problem."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    documented: Responses = {}
    for status in statuses:
        documented[status] = {"description": _MEANINGS[status], "content": content}
        if status in _HEADERS:
            documented[status]["headers"] = _HEADERS[status]
    return documented


def document_links(expression: str, parameter: str, *routes: str) -> dict[str, dict[str, Any]]:
    """Return the `links` of a response; those of one status are enough.

    Each of the routes takes as `parameter` the value that `expression` selects in the answer.
    """
    parameters = {parameter: f"$response.body#/{expression}"}
    return {route: {"operationId": route, "parameters": parameters} for route in routes}


def build_line_schema(model_schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of NDJSON, which OpenAPI describes as an array of its lines.

    References inside the schema of a line must lead to the schemas of the document.
    """
    items = {name: value for name, value in model_schema.items() if name != "$defs"}
    return {"type": "array", "items": items}
