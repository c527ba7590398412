"""A plan: what a write will do, as a value."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from app.domain.chains import Chains
from app.domain.fact import Fact, StoredFact
from app.domain.relation import Decision, Judge, Judgment, ModelCost, Operation, Relation
from app.domain.relationship import Relationship
from app.domain.version import Memory, Usage, Version
from app.planning.opinions import NotDone


@dataclass(frozen=True, slots=True)
class PreparedMerge:
    """A merge prepared before the lock, because its text needs a vector.

    `fact` unites the memory `stored_id` with the incoming fact; it will be stored under `new_id`.
    If its text `tells_all` that the incoming fact says, that need not stand beside it.
    """

    stored_id: UUID
    fact: StoredFact
    new_id: UUID
    tells_all: bool = True


@dataclass(frozen=True, slots=True)
class IncomingFact:
    """A fact to store under `new_id`, and what its classification says.

    `rewritten` are the new texts of memories that the fact changes in part. `classify` is False if
    nobody compares the fact with stored ones. `retracts`: the text says that something ended.
    `corrects`: the text says of itself that it corrects another. `is_episode`: the text says that
    the fact is over. `may_end_stated`: it may end what was stated with ordinary trust, though it
    has less, where that is very sure. `same_dates` are the memories whose words name the date that
    the words of the fact name. `forgets`: the text is a command to forget,
    and no fact.
    """

    fact: Fact
    new_id: UUID
    judgments: tuple[Judgment, ...] = ()
    classify: bool = True
    merged: PreparedMerge | None = None
    rewritten: tuple[PreparedMerge, ...] = ()
    retracts: bool = False
    corrects: bool = False
    same_dates: frozenset[UUID] = frozenset()
    is_episode: bool = False
    may_end_stated: bool = False
    forgets: bool = False


@dataclass(frozen=True, slots=True)
class Insertion:
    """A row to insert."""

    fact: StoredFact
    version: Version


@dataclass(frozen=True, slots=True)
class VersionChange:
    """A stored version before and after the plan.

    The belief before is known until the plan's `now`.
    """

    before: Version
    after: Version

    @property
    def has_moved(self) -> bool:
        """Return True if the version's interval in valid time changes, or when it is covered."""
        old, new = self.before.belief, self.after.belief
        has_same_ends = (old.valid_from, old.valid_until) == (new.valid_from, new.valid_until)
        return not has_same_ends or old.covered != new.covered

    @property
    def is_end(self) -> bool:
        """Return True if the version is withdrawn, or ends earlier than before."""
        old, new = self.before.belief, self.after.belief
        if old.void or new.void:
            return new.void and not old.void
        if new.valid_until is None or new.valid_until == old.valid_until:
            return False
        return old.valid_until is None or new.valid_until < old.valid_until


class ReviewSource(StrEnum):
    """The reason why a person should look."""

    LOW_CONFIDENCE = "low_confidence"
    JUDGES_DISAGREE = "judges_disagree"
    SHADOW = "shadow"
    FROZEN = "frozen"
    CONSTRAINT = "constraint"
    CAP = "cap"
    TRUST = "trust"
    SWEEP = "sweep"
    FALLBACK = "fallback"


class ReviewStatus(StrEnum):
    """The state of a review."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    EXPIRED = "expired"
    OVERTAKEN = "overtaken"


@dataclass(frozen=True, slots=True)
class Review:
    """A change that was not made and waits for a person.

    `relied_on` holds the memories concerned with the revisions that the proposal was made from.
    `corrections` are the values that accepting writes to the one memory concerned; an end without
    a date means the start of the fact stored in the same plan. `successor` is the stored memory in
    whose favour the change is proposed; None means the memory that the same plan inserts.
    """

    source: ReviewSource
    relation: Relation
    judgments: tuple[Judgment, ...]
    relied_on: tuple[tuple[UUID, int], ...]
    corrections: dict[str, Any] | None = None
    successor: UUID | None = None


@dataclass(frozen=True, slots=True)
class ReviewDecision:
    """A review that an operation decides, with its states before and after.

    `chosen` are the memories that were picked from those that the review names; None means all.
    """

    review_id: UUID
    before: ReviewStatus
    after: ReviewStatus
    note: str | None = None
    chosen: tuple[UUID, ...] | None = None

    def to_reverted(self) -> "ReviewDecision":
        """Return the decision that takes this one back."""
        return ReviewDecision(self.review_id, self.after, self.before)


TOO_MANY_CLOSURES = "Judges have ended as many memories within this hour as they may."

_JUDGES = (Judge.SIGNALS, Judge.LOCAL, Judge.MODEL, Judge.AGENT)
_ENDS_NOTHING = (Operation.ADD, Operation.NOOP, Operation.AMEND)


@dataclass(frozen=True, slots=True)
class Plan:
    """One operation at known time `now`, with everything that it will write.

    `target` is the memory that the write answers with; `superseded` are the memories that the
    operation ended; `reinforced` is the memory that it confirms. `metadata` corrects the target.
    `look_again` says why a sweep should compare the inserted fact once more. A revert names the
    operation that it undoes in `reverts`, the links that it removes in `unlinked`, and the memory
    whose confirmation it takes back in `unconfirmed`. `confirmations` of a merge are those that the
    merged memory has from the start: all of its sources', and one for the merge. `ends_unknown`:
    the fact says that something ended, and nothing stored matches. `forgets_unknown`: it commands
    to forget something, and nothing stored is surely meant. `not_taken` are the fields of a
    repetition that its target has otherwise. `not_done` is what judges proposed and the plan does
    not carry out.
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
    confirmations: int | None = None
    ends_unknown: bool = False
    forgets_unknown: bool = False
    not_taken: tuple[str, ...] = ()
    not_done: tuple[NotDone, ...] = ()

    @property
    def ended(self) -> tuple[UUID, ...]:
        """Return the stored versions that hold no more, or less long, by the plan."""
        return tuple(change.after.id for change in self.changed if change.is_end)

    @property
    def adjusted(self) -> tuple[UUID, ...]:
        """Return the other stored versions whose interval moves."""
        named = {self.target, *self.superseded}
        adjusted: list[UUID] = []
        for change in self.changed:
            if change.has_moved and change.after.id not in named:
                adjusted.append(change.after.id)
        return tuple(adjusted)

    @property
    def newly_covered(self) -> tuple[UUID, ...]:
        """Return what a stored version covers that comes from another chain."""
        joins = any(c.before.chain_id != c.after.chain_id for c in self.changed)
        return self.adjusted if joins else ()

    @property
    def touched(self) -> tuple[UUID, ...]:
        """Return the memories that the log names as sources: those read to decide, or changed.

        An operation that does nothing but link or unlink names both ends of each link.
        """
        touched = list(self.superseded)
        touched += [change.after.id for change in self.changed]
        if self.reinforced:
            touched.append(self.reinforced)
        if self.unconfirmed:
            touched.append(self.unconfirmed)
        touched += [i.version.id for i in self.inserted if i.version.id != self.target]
        if not self.inserted and not self.changed:
            for link in (*self.links, *self.unlinked):
                touched += [link.source, link.target]
        return tuple(dict.fromkeys(touched))

    @property
    def closures(self) -> int:
        """Return how many memories the plan ends because judges or the agent's model say so.

        A merge and a repetition found by a sweep also count the memory that lives on. What the
        caller or a slot's rule ends is not counted: a sweep's plan is a judge's if a signal or a
        model led to it. `CLOSES` in store/tables.py has the same rule.
        """
        decision = self.decision
        if not decision.relation.effect.changes_stored:
            return 0
        if decision.decided_by is Judge.SWEEP:
            is_judged = bool(decision.findings) or self.model_cost is not None
        else:
            is_judged = decision.decided_by in _JUDGES and self.operation not in _ENDS_NOTHING
        return len(self.touched) if is_judged else 0

    @property
    def versions(self) -> tuple[Version, ...]:
        """Return every version that the plan writes, in its new state."""
        inserted = [insertion.version for insertion in self.inserted]
        changed = [change.after for change in self.changed]
        return (*inserted, *changed)

    def with_incoming(self, fact: Fact, judgments: Sequence[Judgment] = ()) -> "Plan":
        """Return the plan with the fact that was sent and the judgments on it, for the log."""
        return replace(self, incoming=fact, judgments=tuple(judgments))

    def with_decision(self, decision: Decision) -> "Plan":
        """Return the plan with another decision as its reason."""
        return replace(self, decision=decision)

    def with_reasoning(self, reasoning: str) -> "Plan":
        """Return the plan with another sentence for its reason."""
        return replace(self, decision=replace(self.decision, reasoning=reasoning))

    def with_review(self, review: Review | None) -> "Plan":
        """Return the plan that also leaves this review, in place of any other."""
        return replace(self, review=review)

    def with_links(self, links: Sequence[Relationship]) -> "Plan":
        """Return the plan that also makes these links, in place of any others."""
        return replace(self, links=tuple(links))

    def with_confirmations(self, confirmations: int) -> "Plan":
        """Return the plan of a merge with the confirmations of the merged memory."""
        return replace(self, confirmations=confirmations)

    def with_metadata(self, metadata: dict[str, Any]) -> "Plan":
        """Return the plan that also corrects metadata of its target; nothing, if empty."""
        return replace(self, metadata=metadata or None)

    def with_model_cost(self, model_cost: ModelCost | None) -> "Plan":
        """Return the plan with the cost of a model's answer; the plan itself if there is none."""
        return self if model_cost is None else replace(self, model_cost=model_cost)

    def with_settled_review(self, settled: ReviewDecision | None) -> "Plan":
        """Return the plan that also decides a review; the plan itself if there is none."""
        return self if settled is None else replace(self, settled=settled)

    def to_correction(self, metadata: dict[str, Any], reasoning: str) -> "Plan":
        """Return the plan as an AMEND of its target's metadata, which confirms nothing any more."""
        amended = replace(
            self,
            operation=Operation.AMEND,
            metadata=metadata,
            reinforced=None,
        )
        return amended.with_reasoning(reasoning)

    def absorb_into(self, chains: Chains) -> None:
        """Change the chains to what is stored once the plan is carried out."""
        chains.absorb_versions(self.versions)
        if self.metadata and self.target:
            version = chains.get_version(self.target)
            amended = replace(
                version,
                lifespan=self.metadata.get("lifespan", version.lifespan),
                session_id=self.metadata.get("session_id", version.session_id),
                project=self.metadata.get("project", version.project),
                revision=version.revision + 1,
            )
            chains.absorb_versions([amended])


def list_inserted_memories(plans: Sequence[Plan], chains: Chains) -> dict[UUID, Memory]:
    """Return what the plans insert, as a read after all of them answers it.

    The chains must have absorbed the plans.
    """
    new_ids = {insertion.version.id for plan in plans for insertion in plan.inserted}
    ended = [v for v in chains.list_versions() if v.belief.superseded_by in new_ids]
    ended.sort(key=lambda version: (version.belief.valid_from, version.id))
    superseded = {version.belief.superseded_by: version.id for version in ended}
    inserted: dict[UUID, Memory] = {}
    for plan in plans:
        for insertion in plan.inserted:
            version = chains.get_version(insertion.version.id)
            supersedes_id = superseded.get(version.id)
            memory = _build_memory(insertion.fact, version, supersedes_id)
            if plan.confirmations and version.id == plan.target:
                memory = replace(memory, usage=Usage(plan.confirmations, plan.now))
            inserted[version.id] = memory
    return inserted


def _build_memory(fact: StoredFact, version: Version, supersedes_id: UUID | None) -> Memory:
    belief = version.belief
    fact = replace(
        fact,
        tier=belief.tier,
        valid_from=belief.valid_from,
        valid_until=belief.said_until,
        lifespan=version.lifespan,
        session_id=version.session_id,
        project=version.project,
    )
    return Memory(
        id=version.id,
        fact=fact,
        belief=belief,
        created_at=version.created_at,
        revision=version.revision,
        supersedes_id=supersedes_id,
    )
