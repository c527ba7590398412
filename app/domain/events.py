"""Events: operations as readers outside learn of them, with ids and without texts."""

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from app.domain.relation import Judge, Operation, Relation


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in the log of an agent: after the operation of this known time and this id."""

    at: datetime
    id: UUID


# The place before the first operation of every agent.
BEGINNING = Position(datetime.min.replace(tzinfo=UTC), UUID(int=0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One operation of an agent, in ids.

    `memory_ids` are the memories that it read to decide or changed, `superseded` those that it let
    another memory take the place of. `review_id` is the review that it left, `decided_review_id`
    the one that it decided, `reverts` the operation that it undid.
    """

    id: UUID
    at: datetime
    operation: Operation
    relation: Relation
    memory_id: UUID | None
    memory_ids: list[UUID]
    superseded: list[UUID]
    review_id: UUID | None
    decided_review_id: UUID | None
    reverts: UUID | None
    decided_by: Judge
    actor: str | None

    @property
    def position(self) -> Position:
        return Position(self.at, self.id)
