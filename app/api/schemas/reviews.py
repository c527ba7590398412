"""Requests that read and decide reviews."""

from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import Field, model_validator

from app.api.schemas.fields import (
    MAX_LIMIT,
    MAX_LIST,
    Content,
    PageSize,
    StrictRequest,
    build_from_fields,
)
from app.api.times import Time
from app.api.views import VIEW_DESCRIPTION, View
from app.domain.relation import Relation
from app.planning.plan import ReviewSource, ReviewStatus
from app.services.answers import QuestionAnswer
from app.store.reviews.reviews import ReviewFilters


class ReviewFilterFields(StrictRequest):
    """What reviews are narrowed to."""

    source: ReviewSource | None = None
    relation: Relation | None = None
    memory_id: UUID | None = Field(
        default=None, description="The fact stored beside, or a memory that the proposal is about."
    )
    min_confidence: Annotated[float, Field(ge=0, le=1)] | None = None

    def to_review_filters(self) -> ReviewFilters:
        return build_from_fields(ReviewFilters, self)


class ReviewsQuery(ReviewFilterFields):
    """A page of reviews."""

    status: ReviewStatus | None = None
    limit: PageSize = 50
    cursor: str | None = None
    view: View = Field(View.FULL, description=VIEW_DESCRIPTION)


class DecisionRequest(StrictRequest):
    """A decision, with what the person wants to say about it."""

    note: Content | None = None


MemoryIds = Annotated[list[UUID], Field(min_length=1, max_length=MAX_LIMIT)]


# A letter, or the id of a memory. Handles and ids have some room for what models put around them.
MAX_HANDLE = 64
Letter = Annotated[str, Field(min_length=1, max_length=MAX_HANDLE)]
# Several of them with commas, as models write them.
Letters = Annotated[str, Field(min_length=1, max_length=1_000)]


class AcceptRequest(DecisionRequest):
    """An acceptance, and what it is about if the review names several memories."""

    memories: MemoryIds | None = Field(
        default=None,
        description=(
            "The ids of the candidates that the review is right about. A review that leaves a "
            "choice needs them."
        ),
    )


class DecideRequest(StrictRequest):
    __doc__ = (
        "Several decisions at once: these reviews, or the newest pending ones that match, `limit` "
        "at most."
    )

    decision: Literal["accept", "reject"] = Field(description="`accept` or `reject`.")
    ids: Annotated[list[UUID], Field(min_length=1, max_length=MAX_LIMIT)] | None = Field(
        None, description="The reviews to decide."
    )
    filter: ReviewFilterFields | None = Field(
        None, description="Decide every waiting review that fits, instead of those named by `ids`."
    )
    limit: PageSize | None = Field(None, description="With filter: how many at most.")
    memories: dict[UUID, MemoryIds] | None = Field(
        None,
        description="To accept: the candidates that are chosen, by the id of their review.",
    )
    note: Content | None = None

    @model_validator(mode="after")
    def _check_selection(self) -> Self:
        if (self.ids is None) == (self.filter is None):
            raise ValueError("give either ids, or a filter with a limit")
        if self.memories and self.decision == "reject":
            raise ValueError("memories go with accept; rejecting is about all that a review names")
        if (self.filter is None) != (self.limit is None):
            raise ValueError(
                "give limit together with filter: how many reviews may be decided at most"
            )
        return self


class AnswerItem(StrictRequest):
    """An answer to one question."""

    question: Annotated[str, Field(min_length=1, max_length=MAX_HANDLE)] = Field(
        description="The handle in the question, `4f2a01`, or the id of its review."
    )
    choice: Annotated[list[Letter], Field(max_length=MAX_LIST)] | Letters = Field(
        description="The letters of what ended, or is so; `none`, or an empty list, for none."
    )
    note: Content | None = Field(None, description="Why, for the log.")

    def to_answer(self) -> QuestionAnswer:
        named = self.choice if isinstance(self.choice, list) else self.choice.split(",")
        letters = tuple(letter for letter in named if letter.strip().lower() != "none")
        return QuestionAnswer(self.question, letters, self.note)


class AnswersRequest(StrictRequest):
    """Answers of the agent's own model, each for itself."""

    answers: Annotated[list[AnswerItem], Field(min_length=1, max_length=MAX_LIST)] = Field(
        description="One for each question."
    )


class ReportQuery(StrictRequest):
    """The time from which the report counts."""

    since: Time | None = None
