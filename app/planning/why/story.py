"""The material of a memory's story, and the story: an ordered list of events.

The material is as known at one known time: its reader leaves out what became known later. The text
of an erased memory is None.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from app.domain.relation import Finding, Operation, Relation
from app.domain.relationship import Relationship
from app.domain.version import Belief, Memory
from app.planning.opinions import JudgedMemory
from app.planning.plan import ReviewDecision, ReviewStatus


class EventKind(StrEnum):
    """The operations of the log, and the events that are none: opinions, vetoes and reviews."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    MERGE = "MERGE"
    SUPERSEDE = "SUPERSEDE"
    NOOP = "NOOP"
    AMEND = "AMEND"
    REVERT = "REVERT"
    ERASE = "ERASE"
    KEPT_APART = "KEPT_APART"
    NOT_DONE = "NOT_DONE"
    PROPOSED = "PROPOSED"
    DECIDED = "DECIDED"


# The order of events with the same known time; operations come first.
_RANK = {
    EventKind.KEPT_APART: 1,
    EventKind.NOT_DONE: 1,
    EventKind.PROPOSED: 2,
    EventKind.DECIDED: 3,
}


@dataclass(frozen=True, slots=True)
class StoryEntry:
    """An operation of the log.

    `before` and `after` are the beliefs about the versions that it wrote or changed. `corrected`
    has the values of metadata before and after. `incoming_text` and `incoming_from` are the text
    and the stated start of the incoming fact. `judged` are the opinions of judges on stored
    memories. `links` are the relationships that it made.
    """

    log_id: UUID
    operation: Operation
    at: datetime
    relation: Relation
    confidence: float
    decided_by: str
    reasoning: str
    findings: tuple[Finding, ...] = ()
    target: UUID | None = None
    touched: tuple[UUID, ...] = ()
    incoming_text: str | None = None
    incoming_from: datetime | None = None
    before: Mapping[UUID, Belief] = field(default_factory=dict)
    after: Mapping[UUID, Belief] = field(default_factory=dict)
    corrected: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    judged: tuple[JudgedMemory, ...] = ()
    settled: ReviewDecision | None = None
    reverts: UUID | None = None
    links: tuple[Relationship, ...] = ()
    actor: str | None = None

    @property
    def ids(self) -> tuple[UUID, ...]:
        """Every memory that the operation wrote, changed or confirmed."""
        target = [self.target] if self.target else []
        return tuple(dict.fromkeys([*target, *self.touched]))

    @property
    def inserted(self) -> tuple[UUID, ...]:
        return tuple(i for i in self.after if i not in self.before)

    @property
    def inserted_target(self) -> UUID | None:
        return self.target if self.target in self.inserted else None

    @property
    def replaced(self) -> tuple[UUID, ...]:
        """The versions that the target replaced, or that were merged into it."""
        replaced: list[UUID] = []
        for memory_id, after in self.after.items():
            before = self.before.get(memory_id)
            has_same_successor = before is not None and (
                before.contradicted_by == after.contradicted_by and before.merged == after.merged
            )
            by_target = self.target is not None and after.contradicted_by == self.target
            is_replaced = (after.merged or by_target) and not has_same_successor
            if is_replaced and memory_id != self.target:
                replaced.append(memory_id)
        return tuple(replaced)


@dataclass(frozen=True, slots=True)
class StoryReview:
    """A review: the change that was proposed, and how a person decided it.

    `about` are the memories that would change, `memory_id` and `incoming_text` the fact in whose
    favour. `decided_by` made the proposal; `settled_by` decided the review,
    and `settling_actor` wrote that operation.
    """

    review_id: UUID
    log_id: UUID | None
    at: datetime
    source: str
    relation: Relation
    about: tuple[UUID, ...]
    memory_id: UUID | None = None
    incoming_text: str | None = None
    decided_by: str | None = None
    confidence: float | None = None
    reasoning: str = ""
    findings: tuple[Finding, ...] = ()
    judged: tuple[JudgedMemory, ...] = ()
    status: ReviewStatus = ReviewStatus.PENDING
    note: str | None = None
    decided_at: datetime | None = None
    decision_log_id: UUID | None = None
    settled_by: str | None = None
    settling_actor: str | None = None

    @property
    def ids(self) -> tuple[UUID, ...]:
        memory = [self.memory_id] if self.memory_id else []
        return tuple(dict.fromkeys([*memory, *self.about]))

    def rewind_to(self, at: datetime) -> "StoryReview":
        """Return the review as it was at that time, without a decision that came later."""
        if self.decided_at is None or self.decided_at <= at:
            return self
        return replace(
            self,
            status=ReviewStatus.PENDING,
            note=None,
            decided_at=None,
            decision_log_id=None,
            settled_by=None,
        )


@dataclass(frozen=True, slots=True)
class StoryMaterial:
    """Everything that the story of `memory` is made of.

    `entries` are the operations on the versions of its chain, `judging_entries` the operations with
    opinions on them; one operation may be in both. `proposals` are reviews about the chain.
    `texts` has the text of each memory that is named: None if it is erased. A memory that was not
    known yet is missing in `texts`.
    """

    memory: Memory
    chain: frozenset[UUID]
    entries: Sequence[StoryEntry]
    judging_entries: Sequence[StoryEntry]
    proposals: Sequence[StoryReview]
    texts: Mapping[UUID, str | None]


@dataclass(frozen=True, slots=True)
class Event:
    """One event in a sentence and as data: known at `at`, about `valid` in valid time.

    `actor` wrote the operation that the event reports; None if it reports none.
    """

    kind: EventKind
    at: datetime
    valid: datetime | None
    sentence: str
    log_id: UUID | None
    review_id: UUID | None
    decided_by: str | None
    relation: Relation
    confidence: float | None
    signals: tuple[Finding, ...]
    memory_ids: tuple[UUID, ...]
    actor: str | None = None

    @property
    def sort_key(self) -> tuple[datetime, int]:
        return self.at, _RANK.get(self.kind, 0)


@dataclass(frozen=True, slots=True)
class Story:
    """The state of a memory in a sentence or two, and its events in the order of known time."""

    summary: str
    events: tuple[Event, ...]


def find_judged_memories(entry: StoryEntry, chain: AbstractSet[UUID]) -> tuple[JudgedMemory, ...]:
    """Return the opinions of an operation that concern the chain.

    If the operation inserted a version of the chain, all of its opinions do.
    """
    if not chain.isdisjoint(entry.inserted):
        return entry.judged
    return tuple(judged for judged in entry.judged if judged.memory_id in chain)


def find_valid_moment(entry: StoryEntry) -> datetime | None:
    """Return the moment in valid time that an operation is about.

    The moment is a start that the operation asserted, else an end that it moved.
    """
    if entry.inserted_target is not None:
        return entry.after[entry.inserted_target].valid_from
    for memory_id, before in entry.before.items():
        after = entry.after.get(memory_id, before)
        if after.valid_from != before.valid_from:
            return after.valid_from
        if after.valid_until != before.valid_until:
            return after.valid_until or before.valid_until
    if entry.operation is Operation.ERASE:
        return None
    return entry.incoming_from or entry.at
