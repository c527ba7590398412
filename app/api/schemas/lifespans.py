"""Requests that end a session or a project."""

from pydantic import BaseModel, ConfigDict, Field

from app.api.schemas.fields import Content
from app.api.times import Time


class EndRequest(BaseModel):
    """When it ended, and why."""

    model_config = ConfigDict(extra="forbid")

    at: Time | None = Field(
        default=None,
        description="When it ended. Default: now; what has not begun by now is then withdrawn.",
    )
    reason: Content | None = Field(default=None, description="Why, for the log.")
