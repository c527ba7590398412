"""Errors as answers."""

from pydantic import BaseModel, ConfigDict, Field


class Problem(BaseModel):
    """An error (RFC 9457). `detail` says what to do; further members carry ids."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(description="A name for this kind of problem, which does not change.")
    title: str = Field(description="The problem in a few words.")
    status: int = Field(description="The status of the answer.")
    detail: str = Field(description="What is the case, and what to do about it.")
