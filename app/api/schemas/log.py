"""Requests that read the log."""

from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.api.schemas.fields import MAX_LIMIT, Word
from app.api.times import Time
from app.domain.relation import Judge, Operation
from app.store.log.entries import LogFilters


class LogQuery(BaseModel):
    """What the log is narrowed to."""

    model_config = ConfigDict(extra="forbid")

    operation: Operation | None = None
    memory_id: UUID | None = Field(
        None, description="Operations that wrote or changed this memory."
    )
    decided_by: Judge | None = None
    session_id: Word | None = None
    since: Time | None = None
    until: Time | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 50
    cursor: str | None = None

    def to_log_filters(self) -> LogFilters:
        return LogFilters(
            self.operation, self.memory_id, self.decided_by, self.session_id, self.since, self.until
        )
