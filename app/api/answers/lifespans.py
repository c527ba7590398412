"""Answers of the routes that end a session or a project."""

from typing import Self
from uuid import UUID

from pydantic import Field

from app.api.answers.base import AnswerBase
from app.api.times import Time
from app.services.lifespans import EndedLifespan


class EndAnswer(AnswerBase):
    """What ended."""

    ended: list[UUID] = Field(
        description="The memories that ended. None: there was nothing to end, or it ended before."
    )
    kept: int = Field(
        description=(
            "How many others of it hold at that moment or later: those that live longer, or begin "
            "after `at`."
        )
    )
    known_at: Time | None = Field(
        description="The known time of the last of its operations; null where nothing ended."
    )
    log_ids: list[UUID] = Field(
        description="The operation of each memory that ended, in their order."
    )

    @classmethod
    def from_result(cls, ended: EndedLifespan) -> Self:
        log_ids = list(ended.log_ids)
        return cls.from_attributes(
            ended, ended=list(ended.ids), kept=ended.remaining, log_ids=log_ids
        )
