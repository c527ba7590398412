"""Errors as answers."""

from pydantic import BaseModel, ConfigDict


class Problem(BaseModel):
    """An error (RFC 9457). `detail` says what to do; further members carry ids."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str
