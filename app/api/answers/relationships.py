"""Answers of the routes of relationships."""

from typing import Self
from uuid import UUID

from pydantic import Field

from app.api.answers.base import AnswerBase
from app.api.times import Time
from app.domain.relationship import LinkType
from app.services.relationships import RelationshipOutcome
from app.store.relationships import StoredRelationship


class RelationshipOut(AnswerBase):
    """A link from one memory to another."""

    source_id: UUID = Field(description="The memory from which the link goes.")
    target_id: UUID = Field(description="The memory to which the link goes.")
    type: LinkType = Field(description="What the source is to the target.")
    strength: float = Field(
        description="How firmly its type ties: 0.8 for similar and related_to, 1.0 for the others."
    )
    created_at: Time = Field(description="The known time of the write that made it.")
    log_id: UUID | None = Field(
        description="The operation that made it; reverting that one removes it."
    )

    @classmethod
    def from_relationship(cls, relationship: StoredRelationship) -> Self:
        link = relationship.link
        return cls.from_attributes(
            relationship,
            source_id=link.source,
            target_id=link.target,
            type=link.type,
            strength=link.type.strength,
        )


class LinkAnswer(AnswerBase):
    """The link, and the write that made it: this call, or the one that had made it before."""

    relationship: RelationshipOut = Field(description="The link.")
    log_id: UUID | None
    known_at: Time = Field(description="The known time of the write that made the link.")

    @classmethod
    def from_outcome(cls, outcome: RelationshipOutcome) -> Self:
        relationship = outcome.relationship
        return cls.model_construct(
            relationship=RelationshipOut.from_relationship(relationship),
            log_id=relationship.log_id,
            known_at=relationship.created_at,
        )


class RelationshipsAnswer(AnswerBase):
    __doc__ = (
        "The links of a memory in both directions, latest first. All pages of one list show the "
        "same picture."
    )

    items: list[RelationshipOut]
    next_cursor: str | None
    known_at: Time
