"""Requests that read insights."""

from datetime import datetime
from typing import Annotated, Self

from pydantic import Field, model_validator

from app.api.schemas.fields import (
    MAX_LIMIT,
    StrictRequest,
    build_from_fields,
)
from app.api.times import Time
from app.domain.agent import AgentId
from app.domain.insights import Section
from app.store.insights import InsightsScope

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
            "Count now, even if the agent has an index and was counted lately. An agent without "
            "one is always counted now."
        ),
    )

    @property
    def may_be_counted(self) -> bool:
        """True if what a worker counted without a window may answer this."""
        return not self.exact and self.since is None and self.until is None

    @model_validator(mode="after")
    def _check_window(self) -> Self:
        if self.since and self.until and self.since >= self.until:
            raise ValueError(
                "since must lie before until: what became known from since on and before until "
                "is counted"
            )
        return self

    def to_scope(self, agent: AgentId, as_of: datetime) -> InsightsScope:
        return build_from_fields(InsightsScope, self, agent=agent, as_of=as_of)
