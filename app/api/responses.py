"""An answer as a response."""

from pydantic import BaseModel
from starlette.responses import Response


def respond_with_answer(
    answer: BaseModel, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """The answer as JSON. Answers are built from what the service made itself, so they are not validated again."""
    return Response(answer.model_dump_json(), status, headers, media_type="application/json")
