"""The answer of the route of beliefs."""

from typing import Self
from uuid import UUID

from pydantic import Field

from app.api.answers.base import AnswerBase
from app.api.answers.memories import CoverOut
from app.api.times import Time
from app.domain.fact import Kind
from app.store.beliefs import BelievedVersion, ChainBeliefs, DatedBelief


class BeliefOut(AnswerBase):
    """What was believed of a version's place in the chain, for a stretch of known time."""

    known_from: Time = Field(description="The known time from which it was believed.")
    known_until: Time | None = Field(
        description=(
            "Null: it is still believed. If a version's last belief here ended, it left the chain."
        )
    )
    valid_from: Time
    valid_until: Time | None = Field(description="Null: no end was believed.")
    said_until: Time | None = Field(description="The end that was stated.")
    temporary: bool = Field(description="It covered what came before it, and ended none of it.")
    covered: list[CoverOut] = Field(
        description="The times in which it did not hold, because temporary memories covered it."
    )
    withdrawn: bool = Field(description="true: it was believed never to have been true.")
    retracted_at: Time | None
    superseded_by: UUID | None

    @classmethod
    def from_belief(cls, dated: DatedBelief) -> Self:
        belief = dated.belief
        return cls.from_attributes(
            belief,
            known_until=dated.known_until,
            covered=CoverOut.list_from_belief(belief),
            withdrawn=belief.void,
        )


class BelievedVersionOut(AnswerBase):
    """A version that stands or once stood in a chain, with the beliefs by which it did."""

    id: UUID
    content: str | None = Field(description="Null if it was erased.")
    kind: Kind
    created_at: Time
    erased_at: Time | None
    beliefs: list[BeliefOut] = Field(description="In the order in which they became known.")

    @classmethod
    def from_version(cls, version: BelievedVersion) -> Self:
        beliefs = [BeliefOut.from_belief(belief) for belief in version.beliefs]
        return cls.from_attributes(version, beliefs=beliefs)


class BeliefsAnswer(AnswerBase):
    __doc__ = (
        "The beliefs by which versions stand or stood in a chain. Each covers a rectangle: from "
        "`valid_from` to `valid_until`, as believed from `known_from` to `known_until`."
    )

    chain_id: UUID
    versions: list[BelievedVersionOut] = Field(
        description="What stands or once stood in the chain, in the order of `created_at`."
    )
    truncated: bool = Field(
        description="True if the earliest were left out: of over 200 versions or 2,000 beliefs."
    )

    @classmethod
    def from_beliefs(cls, chain: ChainBeliefs) -> Self:
        return cls.model_construct(
            chain_id=chain.chain_id,
            versions=[BelievedVersionOut.from_version(version) for version in chain.versions],
            truncated=chain.is_cut,
        )
