"""Answers of the routes of reviews."""

from collections.abc import Iterable, Mapping
from typing import Any, Self
from uuid import UUID

from pydantic import Field

from app.api.answers.base import AnswerBase
from app.api.answers.memories import MemoryOut
from app.api.answers.problem import Problem
from app.api.answers.writes import SignalOut, WriteAnswer
from app.api.problems import describe_error
from app.api.times import Time
from app.domain.relation import Judgment, Relation
from app.domain.strength import HalfLives
from app.domain.version import Memory
from app.planning.plan import ReviewSource, ReviewStatus
from app.planning.question_text import Question
from app.services.reviews import Preview
from app.store.reviews.reviews import proposal_from_row


class JudgmentOut(AnswerBase):
    """What was said of one stored memory."""

    memory_id: UUID
    relation: Relation
    confidence: float
    reasoning: str
    decided_by: str
    signals: list[SignalOut]

    @classmethod
    def from_judgment(cls, judgment: Judgment) -> Self:
        signals = [SignalOut.from_attributes(finding) for finding in judgment.findings]
        return cls.from_attributes(judgment, signals=signals)


class NamedMemoryOut(AnswerBase):
    """A stored memory that the question may concern."""

    letter: str = Field(description="Its letter in `sentence`, which it keeps.")
    memory_id: UUID
    content: str | None = Field(description="Its text; null once it is erased.")
    relation: Relation
    confidence: float
    valid_from: Time | None


class ReviewOut(AnswerBase):
    """A change that waits for a person, or waited."""

    id: UUID
    status: ReviewStatus
    source: ReviewSource
    relation: Relation
    sentence: str = Field(description="The question, with both texts.")
    content: str | None = Field(description="The text of what is new; null once it is erased.")
    candidates: list[NamedMemoryOut] = Field(
        description=(
            "What the question may concern, likeliest first. While it waits, only what no other "
            "decision has ended."
        )
    )
    judgments: list[JudgmentOut] = Field(
        description="What each judge said of each memory concerned."
    )
    memory_id: UUID | None = Field(description="The fact that was stored beside, for now.")
    held: dict[str, Any] | None = Field(description="The store that a frozen agent keeps back.")
    log_id: UUID | None
    decision_log_id: UUID | None = Field(description="The operation that the decision led to.")
    note: str | None
    created_at: Time
    decided_at: Time | None = Field(description="When a person decided it; null while it waits.")

    @classmethod
    def from_row(cls, row: Mapping[str, Any], question: Question, **more: Any) -> Self:
        """Build the answer from a row of reviews. `more` are values by the names of fields."""
        judgments = proposal_from_row(row).judgments
        computed = {
            "sentence": question.sentence,
            "content": question.content,
            "candidates": [NamedMemoryOut.from_attributes(each) for each in question.candidates],
            "judgments": [JudgmentOut.from_judgment(judgment) for judgment in judgments],
            "held": row["incoming"],
        }
        return cls.from_values({**row, **computed, **more})


class ReviewDetailOut(ReviewOut):
    """A review with what accepting it now would do."""

    before: list[MemoryOut] = Field(description="The memory as it is without the change.")
    after: list[MemoryOut] = Field(description="The memory as it would be after the change.")
    obstacle: str | None = Field(description="Why it cannot be accepted as things are.")

    @classmethod
    def from_preview(
        cls, row: Mapping[str, Any], question: Question, preview: Preview, half_lives: HalfLives
    ) -> Self:
        return cls.from_row(row, question, **collect_preview_values(preview, half_lives))


def collect_preview_values(preview: Preview, half_lives: HalfLives) -> dict[str, Any]:
    """Return what accepting a review would change, by the names of the fields."""

    def answer_memories(memories: Iterable[Memory]) -> list[MemoryOut]:
        return [MemoryOut.from_memory(memory, preview.at, half_lives) for memory in memories]

    obstacle = None if preview.obstacle is None else describe_error(preview.obstacle)
    return {
        "before": answer_memories(preview.before),
        "after": answer_memories(preview.after),
        "obstacle": obstacle,
    }


class ReviewsAnswer(AnswerBase):
    """Reviews, newest first."""

    items: list[ReviewOut]
    next_cursor: str | None


class DecidedOut(AnswerBase):
    """What became of one review."""

    review_id: UUID = Field(description="The review that was decided.")
    result: WriteAnswer | Problem


class DecideAnswer(AnswerBase):
    """One result per review, in order: what a single decision answers, or a problem."""

    results: list[DecidedOut]


class AnsweredOut(AnswerBase):
    """What one answer came to."""

    question: str = Field(description="As the call named it.")
    review_id: UUID | None = Field(description="Null if no review waits or waited under that name.")
    result: WriteAnswer | Problem


class AnswersAnswer(AnswerBase):
    """One result per answer, in order: what a decision answers, or a problem."""

    results: list[AnsweredOut]


class BandOut(AnswerBase):
    """Proposals of one relation, judge and confidence band."""

    relation: Relation
    decided_by: str = Field(description="Which judge proposed them.")
    confidence_from: float = Field(description="The band is a tenth wide.")
    proposed: int = Field(description="How many changes were proposed.")
    accepted: int = Field(description="How many of them a person accepted.")
    rejected: int = Field(description="How many of them a person rejected.")
    pending: int
    expired: int
    overtaken: int = Field(description="Closed because another decision settled them.")
    precision: float | None = Field(description="Accepted among the accepted and rejected.")
    examples: list[UUID] = Field(description="The latest reviews of the band.")

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        decided = row["accepted"] + row["rejected"]
        precision = round(row["accepted"] / decided, 4) if decided else None
        computed = {"confidence_from": float(row["band"]), "precision": precision}
        return cls.from_values({**row, **computed})


class ShadowReport(AnswerBase):
    """What shadow mode would have changed, so that thresholds can be chosen before going live."""

    bands: list[BandOut] = Field(description="The proposals by relation, judge and confidence.")
