"""Requests that end a session or a project."""

from pydantic import Field

from app.api.schemas.fields import Content, StrictRequest
from app.api.times import Time


class EndRequest(StrictRequest):
    """When it ended, and why."""

    at: Time | None = Field(
        default=None,
        description="When it ended. Default: now; what has not begun by now is then withdrawn.",
    )
    reason: Content | None = Field(default=None, description="Why, for the log.")
