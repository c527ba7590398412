"""Requests for events."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from app.api.schemas.fields import MAX_LIST, StrictRequest
from app.domain.relation import Operation
from app.store.log.events import Selection

MAX_WAIT = 30

OperationList = Annotated[list[Operation], Field(max_length=MAX_LIST)]


class EventsQuery(StrictRequest):
    """Where to go on, how long to wait and which events."""

    after: UUID | Literal["latest"] | None = Field(
        None,
        description="`id` of the last event that was seen, or `after` of the last answer. "
        "`latest`: only what happens from now on. Default: from the beginning of the log.",
    )
    wait: float = Field(
        0,
        ge=0,
        le=MAX_WAIT,
        allow_inf_nan=False,
        description="Seconds to wait for an event if there is none. A stream ignores it.",
    )
    limit: int = Field(100, ge=1, le=1000, description="Events of one answer at most.")
    operation: OperationList = Field(
        [], description="Only events of these operations; repeat the parameter for several."
    )

    @property
    def selection(self) -> Selection:
        return Selection(self.limit, tuple(dict.fromkeys(self.operation)))
