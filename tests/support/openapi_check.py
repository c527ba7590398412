"""Every answer that a test gets, held against the committed document."""

from functools import cache
from pathlib import Path

import httpx
import schemathesis
from schemathesis.core import media_types
from schemathesis.specs.openapi.schemas import OpenApiSchema

DOCUMENT = Path(__file__).parents[2] / "openapi" / "openapi.json"


@cache
def _document() -> OpenApiSchema:
    return schemathesis.openapi.from_path(DOCUMENT)


def keeps_to_the_document(response: httpx.Response) -> None:
    """For the `event_hooks` of a client: fails the test where the answer is none that the document has for its route."""
    operation = _document().find_operation_by_path(
        response.request.method, response.request.url.path
    )
    if (
        operation is None or response.status_code == 405
    ):  # an unknown path; or a key with slashes, for which OpenAPI has no word
        return
    described = operation.responses.find_by_status_code(response.status_code)
    assert described, f"{operation.label}: {response.status_code} is not in the document"
    if response.is_error:
        named = f"`{response.status_code}`" in described.definition["description"]
        assert named, f"{operation.label}: {response.status_code} is not named in the document"
    media = response.headers["content-type"].partition(";")[0]
    assert media in described.definition["content"], (
        f"{operation.label}: {response.status_code} as {media} is not in the document"
    )
    if media_types.is_json(media):
        response.read()
        operation.validate_response(response)
