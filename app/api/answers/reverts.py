"""Answers to reverts."""

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
    def from_reverts(cls, undone: Sequence[RevertedOperation], half_lives: HalfLives) -> Self:
        last = WriteAnswer.from_outcome(undone[-1].outcome, half_lives)
        stale = [StaleOut.from_stale_memory(stale) for r in undone for stale in r.outcome.stale]
        return cls.model_construct(
            **dict(last) | {"stale": stale}, reverted=[r.log_id for r in undone]
        )


class RevertsAnswer(AnswerBase):
    """What was undone, newest first; on a dry run, what would be."""

    reverted: list[UUID]
    results: list[WriteAnswer]
    dry_run: bool

    @classmethod
    def from_reverts(
        cls, undone: Sequence[RevertedOperation], half_lives: HalfLives, *, dry_run: bool
    ) -> Self:
        results = [
            WriteAnswer.from_outcome(
                replace(r.outcome, written=None) if dry_run else r.outcome, half_lives
            )
            for r in undone
        ]
        return cls.model_construct(
            reverted=[r.log_id for r in undone], results=results, dry_run=dry_run
        )
