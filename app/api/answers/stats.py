"""The answer of the route of an agent's figures."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Self

from pydantic import Field

from app.api.answers.base import AnswerBase
from app.api.times import Time
from app.domain.fact import Kind, Lifespan, Tier
from app.domain.relation import Judge, Operation
from app.domain.version import Status
from app.planning.plan import ReviewStatus


class StrengthsOut(AnswerBase):
    __doc__ = (
        "How strong what holds is: the mean, and the three values that cut it into quarters. Nulls "
        "where nothing holds."
    )

    as_of: Time | None = Field(
        default=None,
        exclude_if=lambda as_of: as_of is None,
        description=(
            "When the worker counted a large agent last: the `as_of` of all numbers. An agent "
            "without an index is counted at once, so this is left out."
        ),
    )
    mean: float | None = Field(description="The mean.")
    lower_quartile: float | None = Field(description="A quarter of them are weaker.")
    median: float | None = Field(description="Half of them are weaker.")
    upper_quartile: float | None = Field(description="A quarter of them are stronger.")

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        lower, median, upper = row["quartiles"] or (None, None, None)
        return cls.model_construct(
            as_of=row.get("counted_at"),
            mean=_round_strength(row["mean_strength"]),
            lower_quartile=_round_strength(lower),
            median=_round_strength(median),
            upper_quartile=_round_strength(upper),
        )


def _round_strength(strength: float | None) -> float | None:
    return None if strength is None else round(strength, 6)


class HoldingOut(AnswerBase):
    """What holds now."""

    memories: int = Field(description="How many memories.")
    by_kind: dict[Kind, int]
    by_tier: dict[Tier, int] = Field(description="How many memories of each tier.")
    by_lifespan: dict[Lifespan, int] = Field(description="How many memories of each lifespan.")
    strength: StrengthsOut = Field(description="The strengths of those that hold, 0 to 1.")


class StatsOut(AnswerBase):
    """An agent in numbers, of one moment."""

    agent_id: str
    as_of: Time
    first_known_at: Time | None = Field(
        description="The known time of the oldest operation in the log."
    )
    last_known_at: Time | None = Field(description="The known time of the last write.")
    memories: int = Field(description="Versions stored, those that no longer hold included.")
    by_status: dict[Status, int] = Field(description="How many versions have each status.")
    holding: HoldingOut = Field(description="The memories that hold at that moment.")
    chains: int = Field(description="Facts with all their versions.")
    crowded_slots: int = Field(
        description=(
            "Slots that hold one value at a time, where several memories hold: unclassified or "
            "kept apart."
        )
    )
    beliefs: int = Field(description="Earlier beliefs kept for reads at an earlier `known_at`.")
    relationships: int = Field(description="How many links there are.")
    look_again: int = Field(
        description="Memories whose judges gave no answer, or whose candidates moved meanwhile."
    )
    stale: int = Field(
        description="Memories that hold and rest on one that has ended (`stale_because`)."
    )
    text_bytes: int = Field(description="Bytes of the contents in UTF-8.")
    operations: int = Field(description="How many operations the log has.")
    log_head: str | None = Field(
        description="`chain_hash` of the last operation. Keep it outside of this service: the log "
        "up to there cannot be changed without another hash. Null before the first operation."
    )
    log_length: int = Field(description="Operations in the chain that `log_head` ends.")
    by_operation: dict[Operation, int] = Field(
        description="How many operations of each kind the log has."
    )
    by_operation_last_week: dict[Operation, int] = Field(
        description="How many of them became known in the seven days before `as_of`."
    )
    by_judge: dict[Judge, int] = Field(description="Who decided them.")
    reviews: dict[ReviewStatus, int] = Field(description="How many reviews there are, by status.")

    @classmethod
    def from_row(cls, agent: str, row: Mapping[str, Any]) -> Self:
        by_status = _complete_counts(Status, row["by_status"])
        holding = HoldingOut.model_construct(
            memories=by_status[Status.CURRENT],
            by_kind=_complete_counts(Kind, row["by_kind"]),
            by_tier=_complete_counts(Tier, row["by_tier"]),
            by_lifespan=_complete_counts(Lifespan, row["by_lifespan"]),
            strength=StrengthsOut.from_row(row),
        )
        computed = {
            "agent_id": agent,
            "by_status": by_status,
            "holding": holding,
            "by_operation": _complete_counts(Operation, row["by_operation"]),
            "by_operation_last_week": _complete_counts(Operation, row["by_operation_last_week"]),
            "by_judge": _complete_counts(Judge, row["by_judge"]),
            "reviews": _complete_counts(ReviewStatus, row["by_review_status"]),
        }
        return cls.from_values({**row, **computed})


def _complete_counts(words: type[Enum], counts: Mapping[str, int]) -> dict[str, int]:
    """Return a count for every word of the enum: 0 if it was not counted."""
    return {word.value: counts.get(word.value, 0) for word in words}
