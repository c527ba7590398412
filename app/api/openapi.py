"""Parts of the OpenAPI document: the problems that a route answers, and where an id leads on."""

from typing import Any

from app.api.problems import MEDIA_TYPE

Responses = dict[int | str, dict[str, Any]]

_MEANINGS = {
    400: "The body cannot be read",
    401: "The key is missing or wrong",
    404: "There is no such thing here",
    409: "The call contradicts what is stored",
    410: "What it is about was erased, or archived",
    412: "The memory has changed since the ETag in If-Match was read",
    413: "The body is too large",
    422: "The request is not valid, or contradicts itself",
    500: "A fault of the service",
    503: "Not now; nothing was written",
}

_HEADERS: dict[int, dict[str, Any]] = {
    401: {
        "WWW-Authenticate": {
            "description": "How to send the key.",
            "required": True,
            "schema": {"type": "string"},
        }
    },
    503: {
        "Retry-After": {
            "description": "Seconds to wait.",
            "required": True,
            "schema": {"type": "integer", "minimum": 1},
        }
    },
}

# Statuses of a route that reads a body.
BODY = (400, 413)

# Statuses of a route that writes: the call may contradict what is stored, and the answer stored
# under its key may have been erased.
WRITE = (409, 410, 413)


def document_problems(*statuses: int) -> Responses:
    """Return the `responses` of a route or router that answers these statuses with a Problem."""
    return {status: _document_problem(status) for status in statuses}


def _document_problem(status: int) -> dict[str, Any]:
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    documented: dict[str, Any] = {"description": _MEANINGS[status], "content": content}
    if status in _HEADERS:
        documented["headers"] = _HEADERS[status]
    return documented


def document_links(expression: str, parameter: str, *routes: str) -> dict[str, dict[str, Any]]:
    """Return the `links` of a response.

    Each of the routes takes as `parameter` the value that `expression` selects in the answer.
    """
    parameters = {parameter: f"$response.body#/{expression}"}
    return {route: {"operationId": route, "parameters": parameters} for route in routes}


def build_line_schema(model_schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of NDJSON, which OpenAPI describes as an array of its lines.

    References inside the schema of a line must lead to the schemas of the document.
    """
    items = dict(model_schema)
    items.pop("$defs", None)
    return {"type": "array", "items": items}
