"""Requests that read the log."""

from uuid import UUID

from pydantic import Field

from app.api.schemas.fields import PageSize, StrictRequest, Word, build_from_fields
from app.api.times import Time
from app.domain.relation import Judge, Operation
from app.planning.plan import ReviewSource
from app.store.log.entries import LogFilters


class LogQuery(StrictRequest):
    """A page of the log, and which operations it shows."""

    operation: Operation | None = None
    memory_id: UUID | None = Field(
        None, description="Operations that wrote or changed this memory."
    )
    decided_by: Judge | None = None
    actor: Word | None = Field(
        None, description="Operations that this actor wrote: the `actor` of another operation."
    )
    session_id: Word | None = None
    review: ReviewSource | None = Field(
        None, description="Operations that left a review for this reason: shadow, for example."
    )
    since: Time | None = None
    until: Time | None = None
    limit: PageSize = 50
    cursor: str | None = None

    def to_log_filters(self) -> LogFilters:
        return build_from_fields(LogFilters, self)
