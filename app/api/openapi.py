"""Parts of the OpenAPI document that routes name: their problems, and where an id leads on."""

from typing import Any

from app.api.ndjson import NDJSON

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

# Statuses of a route that reads a body.
BODY = (400, 408, 413, 415)

# Statuses of a route that writes: the call may contradict what is stored, and the answer stored
# under its key may have been erased.
WRITE = (408, 409, 410, 413)


def document_problems(*statuses: int) -> Responses:
    """Return the `responses` of a route or router that answers these statuses with a Problem.

    The document joins them (app/api/document.py).
    """
    return {status: {"description": _MEANINGS[status]} for status in statuses}


def document_links(expression: str, parameter: str, *routes: str) -> dict[str, dict[str, Any]]:
    """Return the `links` of a response; those of one status are enough.

    Each of the routes takes as `parameter` the value that `expression` selects in the answer.
    """
    parameters = {parameter: f"$response.body#/{expression}"}
    return {route: {"operationId": route, "parameters": parameters} for route in routes}


def build_line_schema(model_schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of NDJSON: a text, whose content is described as an array of its lines.

    References inside the schema of a line must lead to the schemas of the document.
    """
    items = {name: value for name, value in model_schema.items() if name != "$defs"}
    lines = {"type": "array", "items": items}
    return {"type": "string", "contentMediaType": NDJSON, "contentSchema": lines}
