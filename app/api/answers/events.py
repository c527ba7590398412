"""Answers with events."""

from uuid import UUID

from pydantic import Field

from app.api.answers.base import AnswerBase
from app.api.times import Time
from app.domain.relation import Judge, Operation, Relation
from app.services.events import EventPage


class FeedEvent(AnswerBase):
    """One operation in ids, without any text: `GET /v1/log/{id}` has the whole of it."""

    id: UUID = Field(description="The operation; where to go on from, too.")
    at: Time = Field(description="When it became known to the service.")
    operation: Operation
    relation: Relation
    memory_id: UUID | None = Field(description="The memory that it wrote or is about.")
    memory_ids: list[UUID] = Field(
        description="The memories that it read to decide, or changed; those that it erased."
    )
    superseded: list[UUID] = Field(
        description="The memories whose place another one took by this operation."
    )
    review_id: UUID | None = Field(description="The review that it left.")
    decided_review_id: UUID | None = Field(description="The review that it decided.")
    reverts: UUID | None = Field(description="The operation that it undid.")
    decided_by: Judge
    actor: str | None = Field(
        description="Who wrote it: the caller's key, `anonymous` without one, or a sweep."
    )


class EventsAnswer(AnswerBase):
    """Events in their order, and where to go on."""

    items: list[FeedEvent]
    after: UUID = Field(description="Send it as `after` with the next call.")
    archived_until: Time | None = Field(
        description="Up to this time, operations have left the log for archives, and the events "
        "begin behind it. Null: nothing is left out."
    )

    @classmethod
    def from_page(cls, page: EventPage) -> "EventsAnswer":
        items = [FeedEvent.from_attributes(event) for event in page.events]
        after, until = page.position.id, page.archived_until
        return cls.model_construct(items=items, after=after, archived_until=until)
