"""Requests that read insights."""

from datetime import datetime
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.api.schemas.fields import MAX_LIMIT
from app.api.times import Time
from app.domain.agent import AgentId
from app.domain.insights import Section
from app.store.insights import InsightsScope

_LONGEST_DAYS = 36_500


class InsightsQuery(BaseModel):
    """Which sections, and what they count."""

    model_config = ConfigDict(extra="forbid")

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

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.since and self.until and self.since >= self.until:
            raise ValueError(
                "since must lie before until: what became known from since on and before until "
                "is counted"
            )
        return self

    def to_store_query(self, agent: AgentId, as_of: datetime) -> InsightsScope:
        return InsightsScope(agent, as_of, self.since, self.until, self.limit, self.stale_days)
