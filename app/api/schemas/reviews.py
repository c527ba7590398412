"""Requests that read and decide reviews."""

from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.api.schemas.fields import MAX_LIMIT, Content
from app.api.times import Time
from app.domain.relation import Relation
from app.planning.plan import ReviewSource, ReviewStatus
from app.store.reviews.reviews import ReviewFilters


class ReviewFilterFields(BaseModel):
    """What reviews are narrowed to."""

    model_config = ConfigDict(extra="forbid")

    source: ReviewSource | None = None
    relation: Relation | None = None
    memory_id: UUID | None = Field(
        default=None, description="The fact stored beside, or a memory that the proposal is about."
    )
    min_confidence: Annotated[float, Field(ge=0, le=1)] | None = None

    def to_review_filters(self, status: str | None) -> ReviewFilters:
        return ReviewFilters(
            status, self.source, self.relation, self.memory_id, self.min_confidence
        )


class ReviewsQuery(ReviewFilterFields):
    """A page of reviews."""

    status: ReviewStatus | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 50
    cursor: str | None = None


class DecisionRequest(BaseModel):
    """A decision, with what the person wants to say about it."""

    model_config = ConfigDict(extra="forbid")

    note: Content | None = None


class DecideRequest(BaseModel):
    __doc__ = (
        "Several decisions at once: these reviews, or the newest pending ones that match, `limit` "
        "at most."
    )

    model_config = ConfigDict(extra="forbid")

    decision: Literal["accept", "reject"]
    ids: Annotated[list[UUID], Field(min_length=1, max_length=MAX_LIMIT)] | None = None
    filter: ReviewFilterFields | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] | None = Field(
        None, description="With filter: how many at most."
    )
    note: Content | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.ids is None) == (self.filter is None):
            raise ValueError("give either ids, or a filter with a limit")
        if (self.filter is None) != (self.limit is None):
            raise ValueError(
                "give limit together with filter: how many reviews may be decided at most"
            )
        return self


class ReportQuery(BaseModel):
    """Since when."""

    model_config = ConfigDict(extra="forbid")

    since: Time | None = None
