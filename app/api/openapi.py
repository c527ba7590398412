"""What the OpenAPI document says beside the answers of success: which problems a route answers with, and where an id leads on."""

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

_TOLD_WITH: dict[int, dict[str, Any]] = {
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

BODY = (400, 413)
"""Statuses of a route that reads a body."""

WRITE = (409, 410, 413)
(
    "Statuses of a route that writes: what is stored may contradict it, the answer under its key "
    "may be erased."
)


def document_problems(*statuses: int) -> Responses:
    """For `responses=` of a route or router: these statuses, each answered with a Problem."""
    return {status: _document_problem(status) for status in statuses}


def _document_problem(status: int) -> dict[str, Any]:
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    headers = {"headers": _TOLD_WITH[status]} if status in _TOLD_WITH else {}
    return {"description": _MEANINGS[status], "content": content} | headers


def document_links(expression: str, parameter: str, *routes: str) -> dict[str, dict[str, Any]]:
    """For `links` of a response: the routes, by name, that take as `parameter` what `expression` finds in the answer."""
    return {
        route: {"operationId": route, "parameters": {parameter: f"$response.body#/{expression}"}}
        for route in routes
    }


def line_schema(model_schema: dict[str, Any]) -> dict[str, Any]:
    """A body of lines, as an array of them (OpenAPI's reading of NDJSON). The schema's references are those of the document."""
    return {
        "type": "array",
        "items": {name: value for name, value in model_schema.items() if name != "$defs"},
    }
