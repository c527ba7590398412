"""What a write will do, as a value, and the pieces that every kind of plan is made of. Pure: no clock, no I/O."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from app.domain.errors import InvalidFact
from app.domain.links import Relationship
from app.domain.memory import Belief, Fact, Kind, Lifespan, Memory, Operation, Tier, Version
from app.domain.picture import Chains
from app.domain.relation import Decision, Judge, Judgment, ModelCost, Relation
from app.domain.signals.correction import is_correction
from app.domain.time import settle_chain

# A fact that says of itself that it corrects another is believed more (reference 004).
CORRECTION_BOOST = 0.1


class Mode(StrEnum):
    """What becomes of changes (reference 001): they are made; they become reviews; nothing is written at all."""

    LIVE = "live"
    SHADOW = "shadow"
    FROZEN = "frozen"


@dataclass(frozen=True, slots=True)
class Policy:
    """The settings a plan depends on."""

    max_closures: int = 3
    core_inheritance: str = "any"
    signals_sure: float = 0.7
    model_sure: float = 0.8
    may_merge: bool = True
    may_supersede: bool = True
    may_delete: bool = True
    fallback: str = "add"
    mode: Mode = Mode.LIVE
    human_review: bool = False

    def mode_of(self, chosen: Mode | None) -> Mode:
        """The mode of an agent that chose one, or none; where a person must see every change, live is shadow."""
        mode = chosen or self.mode
        return Mode.SHADOW if mode is Mode.LIVE and self.human_review else mode

    def is_sure(self, judgment: Judgment) -> bool:
        """Whether a judgment is confident enough to be acted on."""
        return judgment.confidence >= (
            self.model_sure if judgment.decided_by is Judge.MODEL else self.signals_sure
        )

    def allows_operation(self, operation: Operation) -> bool:
        """Whether judgments may lead to this operation (reference 003's `enable_*`)."""
        switches = {
            Operation.MERGE: self.may_merge,
            Operation.UPDATE: self.may_supersede,
            Operation.DELETE: self.may_delete,
        }
        return switches.get(operation, True)


@dataclass(frozen=True, slots=True)
class Insertion:
    """A row to insert: the fact with every default filled in, and its version."""

    fact: Fact
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


def _build_memory(fact: Fact, version: Version, supersedes_id: UUID | None) -> Memory:
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


def check_end(start: datetime, end: datetime | None) -> None:
    if end is not None and end <= start:
        raise InvalidFact(
            f"valid_until ({end.isoformat()}) must lie after valid_from ({start.isoformat()})."
        )


def check_decision(details: dict[str, Any]) -> None:
    """Raises InvalidFact where a decision's own details are of another type (reference 004)."""
    for name in ("alternatives", "related_files"):
        listed = details.get(name, [])
        if not isinstance(listed, list) or not all(isinstance(word, str) for word in listed):
            raise InvalidFact(f"details.{name} of a decision must be a list of texts.")
    if not isinstance(details.get("rationale", ""), str):
        raise InvalidFact("details.rationale of a decision must be a text.")


def plan_addition(
    fact: Fact,
    picture: Chains,
    *,
    new_id: UUID,
    chain_id: UUID,
    start: datetime,
    now: datetime,
    late_for: Version | None = None,
) -> Plan:
    """A first version, one in a gap, or a late arrival: whatever it clips is adjusted, not superseded."""
    if late_for:
        decision = Decision(
            Relation.UPDATE,
            1.0,
            Judge.RULE,
            "Another value in the slot, told late: it takes its place in the past.",
        )
    else:
        decision = Decision(
            Relation.NONE, 1.0, Judge.RULE, "Nothing stored says the same or holds in its place."
        )
    stored = fact.fill_defaults()
    version = build_version(stored, new_id=new_id, chain_id=chain_id, start=start, now=now)
    inserted, changed = rewrite_chains(picture, now, [version], stored)
    return Plan(Operation.ADD, now, decision, target=new_id, inserted=inserted, changed=changed)


def plan_replacement(
    fact: Fact,
    picture: Chains,
    policy: Policy,
    *,
    decision: Decision,
    ended: Sequence[Version],
    claims: Sequence[Version],
    chain_id: UUID,
    start: datetime,
    now: datetime,
    new_id: UUID,
) -> Plan:
    """The fact as the successor of `ended`: it inherits what DESIGN §3 says; each of them is contradicted by it and leaves core."""
    stored = _inherit_from_ended(fact.fill_defaults(), ended, policy, decision.relation)
    version = build_version(stored, new_id=new_id, chain_id=chain_id, start=start, now=now)
    claimed = {v.id: v for v in [*ended, *claims]}
    demoted = [
        v.replace_claims(contradicted_by=new_id, tier=Tier.SEMANTIC) for v in claimed.values()
    ]
    inserted, changed = rewrite_chains(picture, now, [*demoted, version], stored)
    superseded = tuple(v.id for v in ended)
    return Plan(
        Operation.UPDATE,
        now,
        decision,
        target=new_id,
        superseded=superseded,
        inserted=inserted,
        changed=changed,
    )


def _inherit_from_ended(
    fact: Fact, ended: Sequence[Version], policy: Policy, relation: Relation
) -> Fact:
    """Importance is the maximum of both; a core predecessor makes its successor core where the policy says so (reference 002)."""
    inherits = policy.core_inheritance == "any" or relation is Relation.CONTRADICTION
    core = inherits and any(v.belief.tier is Tier.CORE for v in ended)
    importance = max([fact.importance or 0.0, *(v.importance for v in ended)])
    boost = CORRECTION_BOOST if is_correction(fact.content) else 0.0
    confidence = min(1.0, (fact.confidence or 0.0) + boost)
    return replace(
        fact, importance=importance, confidence=confidence, tier=Tier.CORE if core else fact.tier
    )


def plan_claim_change(claim: Version, picture: Chains, now: datetime, decision: Decision) -> Plan:
    _, changed = rewrite_chains(picture, now, [claim])
    return Plan(Operation.AMEND, now, decision, target=claim.id, changed=changed)


def extend_lifespan(plan: Plan, version: Version, fact: Fact) -> Plan:
    """The plan of a fact that repeats the version; where the fact lives longer, or in another session or project, the version does from
    now on: else it would end with the first one, while the second goes on."""
    lifespan = fact.lifespan or Lifespan.PERMANENT
    if not lifespan.outlasts(version.lifespan) and not _lives_elsewhere(fact, version):
        return plan
    metadata: dict[str, Any] = {"lifespan": lifespan}
    if (named_by := lifespan.named_by) and (name := getattr(fact, named_by)):
        metadata[named_by] = name
    decision = replace(
        plan.decision, reasoning=f"{plan.decision.reasoning} It lives on as was said last."
    )
    return replace(
        plan, operation=Operation.AMEND, decision=decision, metadata=metadata, reinforced=None
    )


def _lives_elsewhere(fact: Fact, version: Version) -> bool:
    """Whether the fact lives as long, in another session or project."""
    named_by = version.lifespan.named_by
    if fact.lifespan is not version.lifespan or named_by is None:
        return False
    name = getattr(fact, named_by)
    return name is not None and name != getattr(version, named_by)


def build_version(
    fact: Fact, *, new_id: UUID, chain_id: UUID, start: datetime, now: datetime
) -> Version:
    """The version that a fact with its defaults filled in becomes."""
    assert fact.kind is not None
    if fact.kind is Kind.DECISION:
        check_decision(fact.details)
    assert fact.entity is not None
    assert fact.tier is not None
    assert fact.importance is not None
    assert fact.trust is not None
    assert fact.lifespan is not None
    return Version(
        id=new_id,
        chain_id=chain_id,
        kind=fact.kind,
        entity=fact.entity,
        category=fact.category or "",
        key=fact.key,
        single_valued=fact.single_valued,
        slot=fact.slot,
        content_hash=fact.content_hash,
        fuzzy_hash=fact.fuzzy_hash,
        folded_hash=fact.folded_hash,
        value_hash=fact.value_hash,
        importance=fact.importance,
        trust=fact.trust,
        lifespan=fact.lifespan,
        session_id=fact.session_id,
        project=fact.project,
        created_at=now,
        revision=1,
        belief=Belief(
            valid_from=start,
            asserted_at=now,
            said_until=fact.valid_until,
            tier=fact.tier,
            known_from=now,
        ),
    )


def rewrite_chains(
    picture: Chains, now: datetime, asserted: Iterable[Version], fact: Fact | None = None
) -> tuple[tuple[Insertion, ...], tuple[VersionChange, ...]]:
    """Recomputes every chain that `asserted` touches: what is new there, and what is believed otherwise from `now` on."""
    claims = {v.id: v for v in asserted}
    inserted, changed = [], []
    for chain_id in dict.fromkeys(v.chain_id for v in claims.values()):
        stored = {v.id: v for v in picture.find_chain(chain_id)}
        claimed = {i: v for i, v in claims.items() if v.chain_id == chain_id}
        for version in settle_chain((stored | claimed).values(), now):
            before = stored.get(version.id)
            if before is None:
                assert fact is not None
                inserted.append(Insertion(fact, version))
            elif version.belief != before.belief:
                changed.append(
                    VersionChange(
                        before,
                        replace(
                            version.replace_claims(known_from=now), revision=before.revision + 1
                        ),
                    )
                )
    return tuple(inserted), tuple(changed)
