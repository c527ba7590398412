"""Reviews in answers."""

from collections.abc import Mapping
from typing import Any, Self
from uuid import UUID

from pydantic import Field

from app.api.answers.base import AnswerBase
from app.api.answers.memories import MemoryOut
from app.api.answers.problem import Problem
from app.api.answers.writes import SignalOut, WriteAnswer
from app.api.times import Time
from app.domain.relation import Judgment, Relation
from app.domain.strength import HalfLives
from app.planning.plan import ReviewSource, ReviewStatus
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
        signals = [SignalOut.from_finding(finding) for finding in judgment.findings]
        names = ("memory_id", "relation", "confidence", "reasoning", "decided_by")
        return cls.model_construct(
            **{name: getattr(judgment, name) for name in names}, signals=signals
        )


class ReviewOut(AnswerBase):
    """A change that waits for a person, or waited."""

    id: UUID
    status: ReviewStatus
    source: ReviewSource
    relation: Relation
    sentence: str = Field(description="What accepting will do.")
    judgments: list[JudgmentOut]
    memory_id: UUID | None = Field(description="The fact that was stored beside, for now.")
    held: dict[str, Any] | None = Field(description="The store that a frozen agent keeps back.")
    log_id: UUID | None
    decision_log_id: UUID | None
    note: str | None
    created_at: Time
    decided_at: Time | None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        return cls.model_construct(**cls._values_from_row(row))

    @classmethod
    def _values_from_row(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        judgments = [JudgmentOut.from_judgment(j) for j in proposal_from_row(row).judgments]
        computed = {"judgments": judgments, "held": row["incoming"]}
        return {
            name: computed[name] if name in computed else row[name]
            for name in ReviewOut.model_fields
        }


class ReviewDetailOut(ReviewOut):
    """A review with what accepting it now would do."""

    before: list[MemoryOut]
    after: list[MemoryOut]
    obstacle: str | None = Field(description="Why it cannot be accepted as things are.")

    @classmethod
    def from_preview(cls, row: Mapping[str, Any], preview: Preview, half_lives: HalfLives) -> Self:
        return cls.model_construct(
            **cls._values_from_row(row), **build_preview_values(preview, half_lives)
        )


def build_preview_values(preview: Preview, half_lives: HalfLives) -> dict[str, Any]:
    before, after = (
        [MemoryOut.from_memory(m, preview.at, half_lives) for m in memories]
        for memories in (preview.before, preview.after)
    )
    return {"before": before, "after": after, "obstacle": preview.obstacle}


class ReviewsAnswer(AnswerBase):
    """Reviews, newest first."""

    items: list[ReviewOut]
    next_cursor: str | None


class DecidedOut(AnswerBase):
    """What became of one review."""

    review_id: UUID
    result: WriteAnswer | Problem


class DecideAnswer(AnswerBase):
    """One result per review, in order: what a single decision answers, or a problem."""

    results: list[DecidedOut]


# --- shadow ------------------------------------------------------------------------------------------------------------


class BandOut(AnswerBase):
    """Proposals of one relation, judge and confidence band."""

    relation: Relation
    decided_by: str
    confidence_from: float = Field(description="The band is a tenth wide.")
    proposed: int
    accepted: int
    rejected: int
    pending: int
    expired: int
    precision: float | None = Field(description="Accepted among the accepted and rejected.")
    examples: list[UUID] = Field(description="The latest reviews of the band.")

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        decided = row["accepted"] + row["rejected"]
        precision = round(row["accepted"] / decided, 4) if decided else None
        same = {name: row[name] for name in cls.model_fields if name in row}
        return cls.model_construct(**same, confidence_from=float(row["band"]), precision=precision)


class ShadowReport(AnswerBase):
    """What shadow mode would have changed, so that thresholds can be chosen before going live."""

    bands: list[BandOut]
