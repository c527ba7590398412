"""The answer of the route of insights."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from pydantic import Field

from app.api.answers.base import AnswerBase
from app.api.times import Time
from app.classification.signals.lexicon import CONFIDENCE
from app.domain.fact import Kind
from app.domain.insights import compute_reliability, list_reasons_to_doubt
from app.store.insights import BANDS, MOST_EXAMINED, MOST_IDS

_UP_TO = f"{MOST_IDS} at most."
_DIGITS = 4


def _round(figure: float | None) -> float | None:
    return None if figure is None else round(figure, _DIGITS)


class _Entry(AnswerBase):
    """An entry made of a row of the database; subclasses compute what the row does not hold."""

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        return cls.from_values({**row, **cls._compute_values(row)})

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[str, Any]]) -> list[Self]:
        return [cls.from_row(row) for row in rows]

    @classmethod
    def _compute_values(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return values by the names of their fields; they replace those of the row."""
        return {}


class SlotOut(AnswerBase):
    """What values are about, in the words of the newest."""

    entity: str
    category: str
    key: str

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self | None:
        """Return None if the memories have no key."""
        return None if row["key"] is None else cls.from_values(row)


class _LineEntry(_Entry):
    """An entry about the values of a slot that holds one value at a time, or of a chain."""

    slot: SlotOut | None = Field(description="Null where no key was given.")
    chain_id: UUID | None = Field(
        description=(
            "Null where the slot holds one value at a time: then all its chains are one line of "
            "values."
        )
    )
    content: str | None = Field(description="Text of the newest value; null where it was erased.")
    current: UUID | None = Field(description="The value that holds now.")

    @classmethod
    def _compute_values(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        return {"slot": SlotOut.from_row(row)}


class ChurnOut(_LineEntry):
    """How often another value followed."""

    kind: Kind = Field(
        description="Of what came. A slot whose values are of several kinds has an entry for each."
    )
    changes: int = Field(description="How often the value changed.")
    first_changed_at: Time = Field(description="In valid time.")
    last_changed_at: Time = Field(description="In valid time.")
    memory_ids: list[UUID] = Field(description=f"The values, newest first; {_UP_TO}")
    versions: int = Field(description="How many values there are in all.")


class ValueOut(AnswerBase):
    """A value and since when it was true."""

    memory_id: UUID
    valid_from: Time = Field(description="When this value began to hold.")


def _build_value(memory_id: UUID, valid_from: datetime) -> ValueOut:
    return ValueOut.model_construct(memory_id=memory_id, valid_from=valid_from)


class FlipFlopOut(_LineEntry):
    """A value that came back after one other: A, B, A."""

    kind: Kind = Field(description="Of the value that came back last.")
    returns: int = Field(description="How often a value came back.")
    latest: list[ValueOut] = Field(
        description="The latest return: A, B, and A again.", min_length=3, max_length=3
    )
    memory_ids: list[UUID] = Field(description=f"The values that came back, newest first; {_UP_TO}")

    @classmethod
    def _compute_values(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        latest = [
            _build_value(row["first_id"], row["first_from"]),
            _build_value(row["between_id"], row["between_from"]),
            _build_value(row["memory_ids"][0], row["again_from"]),
        ]
        return super()._compute_values(row) | {"latest": latest}


class _Lives(AnswerBase):
    """The days for which ended values were true."""

    ended: int = Field(description="How many values have ended; what never held is not counted.")
    open: int = Field(description="How many hold now; their days are not counted.")
    mean_days: float | None = Field(
        description="The mean of the days that a value held; null where none has ended."
    )
    median_days: float | None = Field(
        description="The median of the days that a value held; null where none has ended."
    )
    memory_ids: list[UUID] = Field(description=f"Values that have ended, newest first; {_UP_TO}")


def _round_days(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"mean_days": _round(row["mean_days"]), "median_days": _round(row["median_days"])}


class KindLivesOut(_Lives, _Entry):
    """Lives of the values of one kind."""

    kind: Kind = Field(description="The kind of memory that these figures are of.")

    @classmethod
    def _compute_values(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        return _round_days(row) | {"memory_ids": row["memory_ids"] or []}


class SlotLivesOut(_Lives, _LineEntry):
    """Lives of the values of one slot or chain."""

    @classmethod
    def _compute_values(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        return super()._compute_values(row) | _round_days(row)


class LifetimesOut(AnswerBase):
    """How long values hold."""

    by_kind: list[KindLivesOut]
    by_slot: list[SlotLivesOut] = Field(
        description="Of slots and chains in which a value has ended; the shortest mean first."
    )

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[str, Any]]) -> Self:
        kinds = [row for row in rows if row["kind"] is not None]
        slots = [row for row in rows if row["kind"] is None]
        return cls.model_construct(
            by_kind=KindLivesOut.from_rows(kinds), by_slot=SlotLivesOut.from_rows(slots)
        )


class RetireRateOut(_Entry):
    """What one judge decided with a confidence in one band."""

    decided_by: str
    confidence_from: float = Field(description="The band begins with it.")
    confidence_to: float = Field(description="The band ends before it; the last one with it.")
    decided: int = Field(description="Stores that were decided so, and what sweeps changed.")
    retired: int = Field(
        description="Those of them that ended something: UPDATE, DELETE, SUPERSEDE."
    )
    rate: float = Field(description="Retired among the decided.")
    reverted: int = Field(description="Of the retired, those undone since.")
    log_ids: list[UUID] = Field(
        description=f"Of the retired: those undone first, newest first; {_UP_TO}"
    )

    @classmethod
    def _compute_values(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        band = row["band"]
        rate = round(row["retired"] / row["decided"], _DIGITS)
        return {"confidence_from": BANDS[band], "confidence_to": BANDS[band + 1], "rate": rate}


class SignalRecordOut(_Entry):
    __doc__ = (
        "How what one signal led to fared, and how people decided what it proposed. Compare "
        "`confidence_here` with `confidence`."
    )

    name: str
    stand: int = Field(
        description="Operations that it led to, alone or with others, and that stand."
    )
    reverted: int = Field(description="Operations that it led to and that were undone.")
    accepted: int = Field(description="Reviews of its proposals that a person accepted.")
    rejected: int = Field(description="Reviews of its proposals that a person rejected.")
    expired: int
    pending: int
    overruled: int = Field(
        description="Stores in which it fired, and another judge's word counted more."
    )
    error_rate: float | None = Field(
        description=(
            "(reverted + rejected) / (stand + reverted + accepted + rejected); null where nothing "
            "was decided."
        )
    )
    confidence: float | None = Field(
        description="What the table of confidences says; null where it does not know the signal."
    )
    confidence_here: float | None = Field(
        description=(
            "What these figures say by the table's formula, (right + 1) / (right + wrong + 2); "
            "null where nothing was decided."
        )
    )
    log_ids: list[UUID] = Field(
        description=f"The operations: those undone first, newest first; {_UP_TO}"
    )
    review_ids: list[UUID] = Field(
        description=f"The reviews: those rejected first, newest first; {_UP_TO}"
    )

    @classmethod
    def _compute_values(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        right = row["stand"] + row["accepted"]
        wrong = row["reverted"] + row["rejected"]
        is_decided = row["error_rate"] is not None
        reliability = compute_reliability(right, wrong) if is_decided else None
        return {
            # Rows that a worker counted before the upgrade lack it.
            "overruled": row.get("overruled", 0),
            "error_rate": _round(row["error_rate"]),
            "confidence": CONFIDENCE.get(row["name"]),
            "confidence_here": _round(reliability),
        }


class StaleConstraintOut(_Entry):
    """A constraint that holds and may not be meant any more."""

    memory_id: UUID
    slot: SlotOut | None
    content: str | None = Field(description="Null where it was erased.")
    valid_from: Time = Field(description="Since when it holds.")
    last_affirmed_at: Time = Field(description="When it was last stored, confirmed or corrected.")
    days: int = Field(description="Since then.")
    reasons: list[str] = Field(description="Why it is here, in words.")
    contradictions: int = Field(description="Later facts that contradict it.")
    contradicted_by: list[UUID] = Field(description=f"Those facts, newest first; {_UP_TO}")
    pending: int = Field(description="Reviews that would end it and wait.")
    rejected: int = Field(description="Such reviews that were rejected.")
    review_ids: list[UUID] = Field(description=f"Those reviews, newest first; {_UP_TO}")

    @classmethod
    def _compute_values(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        reasons = list_reasons_to_doubt(
            unaffirmed_days=row["days"] if row["is_old"] else None,
            contradictions=row["contradictions"],
            pending=row["pending"],
            rejected=row["rejected"],
        )
        return {
            "memory_id": row["id"],
            "slot": SlotOut.from_row(row),
            "last_affirmed_at": row["affirmed_at"],
            "reasons": reasons,
        }


class LengthOut(_Entry):
    """How many chains have that many versions."""

    length: int
    chains: int = Field(description="How many chains are of that length.")


class LongChainOut(_Entry):
    """One of the longest chains."""

    chain_id: UUID
    slot: SlotOut | None
    content: str | None = Field(description="Text of its newest version; null where it was erased.")
    kind: Kind
    length: int
    memory_ids: list[UUID] = Field(description=f"Its versions, newest first; {_UP_TO}")

    @classmethod
    def _compute_values(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        return {"slot": SlotOut.from_row(row)}


class ChainLengthsOut(AnswerBase):
    """How many versions chains have; withdrawn ones are not counted."""

    histogram: list[LengthOut] = Field(description="The shortest first, all of them.")
    longest: list[LongChainOut] = Field(description="The longest first.")

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[str, Any]]) -> Self:
        lengths = [row for row in rows if row["chains"] is not None]
        longest = [row for row in rows if row["chains"] is None]
        return cls.model_construct(
            histogram=LengthOut.from_rows(lengths), longest=LongChainOut.from_rows(longest)
        )


class InsightsAnswer(AnswerBase):
    """What a history tells of itself, as believed now. A section that was not asked for is null."""

    churn: list[ChurnOut] | None = Field(
        description="By slot or chain, and kind; the most changes first."
    )
    flip_flops: list[FlipFlopOut] | None = Field(
        description="By slot or chain; the most returns first."
    )
    lifetimes: LifetimesOut | None = Field(description="How long values hold.")
    retire_rates: list[RetireRateOut] | None = Field(
        description="By judge and confidence; the most undone first."
    )
    signals: list[SignalRecordOut] | None = Field(description="The one that errs most first.")
    stale_constraints: list[StaleConstraintOut] | None = Field(
        description="Those with most against them first, then those affirmed longest ago."
    )
    chain_lengths: ChainLengthsOut | None = Field(description="How many versions the chains have.")
    counted_at: Time | None = Field(
        description=(
            "When the sections of a large agent were counted, except stale_constraints; null: now."
        )
    )
    counted_since: Time | None = Field(
        description=(
            f"Of a large agent, the newest {MOST_EXAMINED:,} memories, operations and reviews of "
            "the window at most are counted: what became known from this time on. Sections that "
            "were counted at `counted_at` count everything. Null: all of the window was counted."
        )
    )
    log_archived_until: Time | None = Field(
        description=(
            "Where operations of that window were archived: the known time of the last. Retire "
            "rates and signals do not count them."
        )
    )
    as_of: Time
    known_at: Time
