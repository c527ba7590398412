"""Answers of the routes that undo operations."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Self
from uuid import UUID

from pydantic import Field

from app.api.answers.base import AnswerBase
from app.api.answers.memories import StaleOut
from app.api.answers.writes import WriteAnswer
from app.domain.strength import HalfLives
from app.services.reverts import RevertedOperation


class RevertAnswer(WriteAnswer):
    """What undoing did; `superseded` names what it withdrew."""

    reverted: list[UUID] = Field(
        description="The operations undone, newest first: with cascade, those built on it too."
    )

    @classmethod
    def from_reverts(cls, reverts: Sequence[RevertedOperation], half_lives: HalfLives) -> Self:
        stale: list[StaleOut] = []
        for revert in reverts:
            stale.extend(map(StaleOut.from_stale_memory, revert.outcome.stale))
        reverted = [revert.log_id for revert in reverts]
        last = reverts[-1].outcome
        return cls.from_outcome(last, half_lives, stale=stale, reverted=reverted)


class RevertsAnswer(AnswerBase):
    """What was undone, newest first; on a dry run, what would be."""

    reverted: list[UUID] = Field(description="The operations that were undone.")
    results: list[WriteAnswer] = Field(description="What undoing each of them did.")
    dry_run: bool

    @classmethod
    def from_reverts(
        cls, reverts: Sequence[RevertedOperation], half_lives: HalfLives, *, dry_run: bool
    ) -> Self:
        results = []
        for revert in reverts:
            outcome = replace(revert.outcome, written=None) if dry_run else revert.outcome
            results.append(WriteAnswer.from_outcome(outcome, half_lives))
        reverted = [revert.log_id for revert in reverts]
        return cls.model_construct(reverted=reverted, results=results, dry_run=dry_run)
