"""Requests that read insights."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from app.api.schemas.fields import (
    MAX_LIMIT,
    StrictRequest,
    build_from_fields,
)
from app.api.times import Time
from app.domain.insights import Section
from app.services.insights import InsightsQuestion

_LONGEST_DAYS = 36_500


class InsightsQuery(StrictRequest):
    """Which sections are wanted, and what they count."""

    section: list[Section] = Field([], description="Only these; may be repeated. Without it, all.")
    since: Time | None = Field(None, description="Count what became known at that time or later.")
    until: Time | None = Field(None, description="Count what became known before that time.")
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT, description="Entries per section.")] = 20
    stale_days: Annotated[
        int,
        Field(
            ge=1,
            le=_LONGEST_DAYS,
            description="After how many days without a word a constraint counts as stale.",
        ),
    ] = 180

    exact: bool = Field(
        default=False,
        description=(
            "Count all of the window now, even if the agent has an index. An agent without one is "
            "always counted so."
        ),
    )

    @model_validator(mode="after")
    def _check_window(self) -> Self:
        if self.since and self.until and self.since >= self.until:
            raise ValueError(
                "since must lie before until: what became known from since on and before until "
                "is counted"
            )
        return self

    def to_question(self) -> InsightsQuestion:
        sections = tuple(dict.fromkeys(self.section)) or tuple(Section)
        return build_from_fields(InsightsQuestion, self, section=sections)
