"""Answers of the routes of sweeps."""

from collections.abc import Mapping
from typing import Any, Self
from uuid import UUID

from pydantic import Field

from app.api.answers.base import AnswerBase
from app.api.times import Time
from app.domain.relation import Operation, Relation
from app.store.sweeps.runs import Origin, SweepStatus


class SweptSlotOut(AnswerBase):
    """The slot of a sweep, in the words of whoever asked."""

    entity: str | None
    category: str | None
    key: str


class CountsOut(AnswerBase):
    """What a sweep came to, so far."""

    superseded: int = Field(0, description="Memories ended in favour of another.")
    covered: int = Field(0, description="Memories that one with a stated end covers until then.")
    duplicates: int = Field(0, description="Memories withdrawn because another says the same.")
    retracted: int = Field(0, description="Memories ended because another tells of their end.")
    merged: int = Field(0, description="Pairs of memories made into one.")
    reviews: int = Field(0, description="Questions to a person.")
    postponed: int = Field(
        0,
        description=(
            "Memories to be looked at again: their judges failed, or something moved meanwhile."
        ),
    )


class FindingOut(AnswerBase):
    __doc__ = (
        "One thing that a sweep did or asks. The log tells the whole of it: its actor is "
        "`sweep:` with the sweep's id."
    )

    operation: Operation
    relation: Relation
    memory_id: UUID | None = Field(description="The memory in whose favour.")
    others: list[UUID] = Field(description="The memories that end, or would.")
    confidence: float
    signals: list[str]
    review: bool = Field(description="Whether a person is asked.")


class SweepSummary(AnswerBase):
    """A sweep and how far it is."""

    id: UUID = Field(description="The id of the sweep.")
    status: SweepStatus
    origin: Origin = Field(description="What it came from.")
    slot: SweptSlotOut | None = Field(
        description="The slot it is about; null: all of them, or one whose words were erased."
    )
    since: Time | None = Field(
        description="Only memories that became known from then on; null: all."
    )
    dry_run: bool
    total: int | None = Field(description="Memories to examine; null before it is counted.")
    examined: int = Field(description="How many memories have been looked at.")
    progress: float | None = Field(description="Of 1; null before the memories are counted.")
    counts: CountsOut = Field(description="What came of it: numbers by outcome.")
    error: str | None = Field(description="Why it failed; null: it did not.")
    created_at: Time
    started_at: Time | None = Field(description="When it began; null: not yet.")
    finished_at: Time | None

    @classmethod
    def from_row(cls, row: Mapping[str, Any], **more: Any) -> Self:
        """Build the answer from a row of sweeps. `more` are values by the names of fields."""
        progress = None
        if row["status"] == SweepStatus.DONE:
            progress = 1.0
        elif row["total"] is not None:
            progress = min(1.0, int(row["examined"]) / max(int(row["total"]), 1))
        computed = {
            "progress": progress,
            "slot": SweptSlotOut(**row["slot"]) if row["slot"] else None,
            "counts": CountsOut(**row["counts"]),
        }
        return cls.from_values({**row, **computed, **more})


class SweepOut(SweepSummary):
    """A sweep, how far it is, and what it found."""

    findings: list[FindingOut] = Field(description="In the order found, 1,000 at most.")

    @classmethod
    def from_row(cls, row: Mapping[str, Any], **more: Any) -> Self:
        findings = [FindingOut(**finding) for finding in row["findings"]]
        return super().from_row(row, findings=findings, **more)


class SweepsAnswer(AnswerBase):
    """Sweeps, newest first; what each found stands in the sweep itself."""

    items: list[SweepSummary]
    next_cursor: str | None
