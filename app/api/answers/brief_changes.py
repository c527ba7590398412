"""Reviews and reverts in brief."""

from typing import Any, Self
from uuid import UUID

from pydantic import Field

from app.api.answers.brief import (
    BriefAnswer,
    BriefMemory,
    BriefWriteAnswer,
    shorten_result,
    shorten_write,
)
from app.api.answers.problem import Problem
from app.api.answers.reverts import RevertAnswer, RevertsAnswer
from app.api.answers.reviews import (
    AnsweredOut,
    AnswersAnswer,
    DecideAnswer,
    DecidedOut,
    ReviewDetailOut,
    ReviewOut,
    ReviewsAnswer,
)
from app.api.times import Time
from app.planning.plan import ReviewSource, ReviewStatus


class BriefCandidate(BriefAnswer):
    """A stored memory that the question may concern; `sentence` has its text."""

    letter: str = Field(description="Its letter in the question, by which an answer chooses it.")
    memory_id: UUID


class BriefReview(BriefAnswer):
    """A change that waits for a person, or waited."""

    id: UUID
    status: ReviewStatus
    source: ReviewSource
    sentence: str = Field(description="The question, with both texts.")
    candidates: list[BriefCandidate] = Field([], description="What the question may concern.")
    memory_id: UUID | None = Field(None, description="The fact that was stored beside, for now.")
    note: str | None = Field(None, description="What the person said who decided it.")
    created_at: Time

    @classmethod
    def from_review(cls, review: ReviewOut) -> Self:
        return cls.model_construct(**_shorten_review(review))


def _shorten_review(review: ReviewOut) -> dict[str, Any]:
    values = {name: getattr(review, name) for name in BriefReview.model_fields}
    candidates = [BriefCandidate.from_attributes(each) for each in review.candidates]
    return values | {"candidates": candidates}


class BriefReviewsAnswer(BriefAnswer):
    """A page of reviews, newest first."""

    items: list[BriefReview]
    next_cursor: str | None = None

    @classmethod
    def from_answer(cls, answer: ReviewsAnswer) -> Self:
        items = list(map(BriefReview.from_review, answer.items))
        return cls.model_construct(items=items, next_cursor=answer.next_cursor)


class BriefReviewDetail(BriefReview):
    """A review with what accepting it now would do."""

    before: list[BriefMemory] = Field([], description="What it is about, as it stands.")
    after: list[BriefMemory] = Field([], description="The same, once it is accepted.")
    obstacle: str | None = Field(None, description="Why it cannot be accepted as things are.")

    @classmethod
    def from_detail(cls, answer: ReviewDetailOut) -> Self:
        values = _shorten_review(answer) | {
            "before": [BriefMemory.from_answer(memory) for memory in answer.before],
            "after": [BriefMemory.from_answer(memory) for memory in answer.after],
            "obstacle": answer.obstacle,
        }
        return cls.from_values(values)


class BriefDecided(BriefAnswer):
    """What became of one review."""

    review_id: UUID
    result: BriefWriteAnswer | Problem = Field(description="What deciding it came to.")

    @classmethod
    def from_decided(cls, decided: DecidedOut) -> Self:
        result = shorten_result(decided.result)
        return cls.model_construct(review_id=decided.review_id, result=result)


class BriefDecideAnswer(BriefAnswer):
    """One result per review, in order."""

    results: list[BriefDecided]

    @classmethod
    def from_answer(cls, answer: DecideAnswer) -> Self:
        results = [BriefDecided.from_decided(decided) for decided in answer.results]
        return cls.model_construct(results=results)


class BriefAnswered(BriefAnswer):
    """What one answer came to."""

    question: str = Field(description="As the call named it.")
    review_id: UUID | None = Field(None, description="Left out if there is no such review.")
    result: BriefWriteAnswer | Problem = Field(description="What deciding it came to.")

    @classmethod
    def from_answered(cls, answered: AnsweredOut) -> Self:
        return cls.model_construct(
            question=answered.question,
            review_id=answered.review_id,
            result=shorten_result(answered.result),
        )


class BriefAnswersAnswer(BriefAnswer):
    """One result per answer, in order."""

    results: list[BriefAnswered]

    @classmethod
    def from_answer(cls, answer: AnswersAnswer) -> Self:
        return cls.model_construct(results=list(map(BriefAnswered.from_answered, answer.results)))


class BriefRevertAnswer(BriefWriteAnswer):
    """What undoing did; `superseded` names what it withdrew."""

    reverted: list[UUID] = Field(description="The operations undone, newest first.")

    @classmethod
    def from_revert(cls, answer: RevertAnswer) -> Self:
        return cls.model_construct(**shorten_write(answer), reverted=answer.reverted)


class BriefRevertsAnswer(BriefAnswer):
    """What was undone, newest first; on a dry run, what would be."""

    reverted: list[UUID] = Field(description="The operations undone.")
    results: list[BriefWriteAnswer] = Field(description="What undoing each of them did.")
    dry_run: bool = False

    @classmethod
    def from_answer(cls, answer: RevertsAnswer) -> Self:
        results = [BriefWriteAnswer.from_answer(result) for result in answer.results]
        return cls.model_construct(
            reverted=answer.reverted, results=results, dry_run=answer.dry_run
        )
