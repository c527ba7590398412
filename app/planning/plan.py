"""What a write will do, as a value, and the pieces that every kind of plan is made of. Pure: no clock, no I/O."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from app.domain.chains import Chains
from app.domain.fact import Fact, StoredFact
from app.domain.relation import Decision, Judgment, ModelCost, Operation, Relation
from app.domain.relationship import Relationship
from app.domain.version import Memory, Version


@dataclass(frozen=True, slots=True)
class Insertion:
    """A row to insert: the fact with every default filled in, and its version."""

    fact: StoredFact
    version: Version


@dataclass(frozen=True, slots=True)
class VersionChange:
    """A stored version before and after; its old belief is kept with `known_until` = the plan's `now`."""

    before: Version
    after: Version

    @property
    def has_moved(self) -> bool:
        """Whether its interval in valid time is another."""
        old, new = self.before.belief, self.after.belief
        return (old.valid_from, old.valid_until) != (new.valid_from, new.valid_until)


class ReviewSource(StrEnum):
    """Why a person should look."""

    LOW_CONFIDENCE = "low_confidence"
    SHADOW = "shadow"
    FROZEN = "frozen"
    CONSTRAINT = "constraint"
    CAP = "cap"
    TRUST = "trust"
    SWEEP = "sweep"
    FALLBACK = "fallback"


class ReviewStatus(StrEnum):
    """How a review stands."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Review:
    """A change that was not made: what was proposed of which memories, the versions relied on, and what accepting will do.

    `said` holds the claims that accepting corrects on the one memory it is about; of an end, when that is (None: where the fact that
    was stored beside begins). `successor` is the stored memory in whose favour it is proposed; None: the one that the same plan inserts.
    """

    source: ReviewSource
    relation: Relation
    sentence: str
    judgments: tuple[Judgment, ...]
    relied_on: tuple[tuple[UUID, int], ...]
    said: dict[str, Any] | None = None
    successor: UUID | None = None


@dataclass(frozen=True, slots=True)
class ReviewDecision:
    """A review that an operation decides, and how it stood before."""

    review_id: UUID
    before: ReviewStatus
    after: ReviewStatus
    note: str | None = None

    def to_reverted(self) -> "ReviewDecision":
        """The review waits again, or stands as it was decided."""
        return ReviewDecision(self.review_id, self.after, self.before)


@dataclass(frozen=True, slots=True)
class Plan:
    """What one operation does at known time `now`. `target` is the memory answered with, `superseded` what it ended.

    Of a revert, `reverts` is the operation undone, `unconfirmed` the memory whose reinforcement is taken back.
    """

    operation: Operation
    now: datetime
    decision: Decision
    target: UUID | None = None
    superseded: tuple[UUID, ...] = ()
    inserted: tuple[Insertion, ...] = ()
    changed: tuple[VersionChange, ...] = ()
    reinforced: UUID | None = None
    incoming: Fact | None = None
    metadata: dict[str, Any] | None = None
    judgments: tuple[Judgment, ...] = ()
    links: tuple[Relationship, ...] = ()
    unlinked: tuple[Relationship, ...] = ()
    review: Review | None = None
    look_again: str | None = None
    model_cost: ModelCost | None = None
    settled: ReviewDecision | None = None
    reverts: UUID | None = None
    unconfirmed: UUID | None = None

    @property
    def adjusted(self) -> tuple[UUID, ...]:
        """Other versions whose interval moved."""
        named = {self.target, *self.superseded}
        return tuple(c.after.id for c in self.changed if c.has_moved and c.after.id not in named)

    @property
    def touched(self) -> tuple[UUID, ...]:
        """Stored versions that it read to decide or changed; of an operation that does nothing but tie or untie, both ends."""
        beside = [i.version.id for i in self.inserted if i.version.id != self.target]
        confirmed = [i for i in (self.reinforced, self.unconfirmed) if i]
        ties = () if self.inserted or self.changed else (*self.links, *self.unlinked)
        ends = [end for link in ties for end in (link.source, link.target)]
        return tuple(
            dict.fromkeys(
                [*self.superseded, *(c.after.id for c in self.changed), *confirmed, *beside, *ends]
            )
        )

    @property
    def versions(self) -> tuple[Version, ...]:
        """Every version that it writes, as it stands then."""
        return (*(i.version for i in self.inserted), *(c.after for c in self.changed))

    def absorb_into(self, picture: Chains) -> None:
        """Makes the picture what is stored once the plan is carried out."""
        picture.absorb_versions(self.versions)
        if self.metadata and self.target:
            version = picture.get_version(self.target)
            life = {name: self.metadata[name] for name in _LIFE if name in self.metadata}
            picture.absorb_versions([replace(version, **life, revision=version.revision + 1)])


# How long a memory lasts, of what can be corrected of it.
_LIFE = ("lifespan", "session_id", "project")


def list_inserted_memories(plans: Iterable[Plan], picture: Chains) -> dict[UUID, Memory]:
    """What the plans insert, as a read after all of them answers it. The picture has absorbed them."""
    ends = sorted(
        (v for v in picture.list_versions() if v.belief.superseded_by),
        key=lambda v: (v.belief.valid_from, v.id),
    )
    superseded = {v.belief.superseded_by: v.id for v in ends}
    inserted = [
        (i.fact, picture.get_version(i.version.id)) for plan in plans for i in plan.inserted
    ]
    return {
        version.id: _build_memory(fact, version, superseded.get(version.id))
        for fact, version in inserted
    }


def _build_memory(fact: StoredFact, version: Version, supersedes_id: UUID | None) -> Memory:
    belief = version.belief
    life = {name: getattr(version, name) for name in _LIFE}
    fact = replace(
        fact, tier=belief.tier, valid_from=belief.valid_from, valid_until=belief.said_until, **life
    )
    return Memory(
        version.id,
        version.chain_id,
        fact,
        belief,
        version.created_at,
        version.revision,
        supersedes_id,
    )


# --- pieces -----------------------------------------------------------------------------------------------------------
