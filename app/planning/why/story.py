"""The story of a memory: what was done to its chain, what was proposed and what it was kept apart from, as an ordered list of events.

Everything here is as known at one known time: whoever gathers the material leaves out what came later. Erased texts are None in it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from app.domain.relation import Finding, Operation, Relation
from app.domain.relationship import Relationship
from app.domain.version import Belief, Memory
from app.planning.plan import ReviewDecision, ReviewStatus


class EventKind(StrEnum):
    """The operations of the log, and what happened beside them."""

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
    PROPOSED = "PROPOSED"
    DECIDED = "DECIDED"


_RANK = {EventKind.KEPT_APART: 1, EventKind.PROPOSED: 2, EventKind.DECIDED: 3}


@dataclass(frozen=True, slots=True)
class VetoedMemory:
    """A stored memory that a fact was kept apart from, and why the two cannot be about the same thing."""

    memory_id: UUID
    veto: str


@dataclass(frozen=True, slots=True)
class StoryEntry:
    """An operation as the log tells it. `before` and `after`: what it made of the beliefs about the versions that it wrote or changed;
    `corrected`: metadata before and after; `said`: the incoming text, where it is kept, and `said_from` its stated start;
    `links`: what it tied."""

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
    said: str | None = None
    said_from: datetime | None = None
    before: Mapping[UUID, Belief] = field(default_factory=dict)
    after: Mapping[UUID, Belief] = field(default_factory=dict)
    corrected: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    vetoed: tuple[VetoedMemory, ...] = ()
    settled: ReviewDecision | None = None
    reverts: UUID | None = None
    links: tuple[Relationship, ...] = ()

    @property
    def ids(self) -> tuple[UUID, ...]:
        """Every memory that it wrote, changed or confirmed."""
        return tuple(dict.fromkeys([*([self.target] if self.target else []), *self.touched]))

    @property
    def inserted(self) -> tuple[UUID, ...]:
        return tuple(i for i in self.after if i not in self.before)

    @property
    def replaced(self) -> tuple[UUID, ...]:
        """The versions that its target took the place of, or was merged from."""
        return tuple(
            i
            for i, belief in self.after.items()
            if i != self.target and self._is_replaced(i, belief)
        )

    def _is_replaced(self, memory_id: UUID, after: Belief) -> bool:
        before = self.before.get(memory_id)
        newly = (
            before is None
            or before.contradicted_by != after.contradicted_by
            or before.merged != after.merged
        )
        return newly and (
            after.merged or (self.target is not None and after.contradicted_by == self.target)
        )


@dataclass(frozen=True, slots=True)
class StoryReview:
    """A review: what was proposed of which memories, for which fact, and how it was decided, if it was by then.

    `decided_by` judged what it proposes; `settled_by` decided the review itself.
    """

    review_id: UUID
    log_id: UUID | None
    at: datetime
    source: str
    relation: Relation
    about: tuple[UUID, ...]
    memory_id: UUID | None = None
    said: str | None = None
    decided_by: str | None = None
    confidence: float | None = None
    reasoning: str = ""
    findings: tuple[Finding, ...] = ()
    status: ReviewStatus = ReviewStatus.PENDING
    note: str | None = None
    decided_at: datetime | None = None
    decision_log_id: UUID | None = None
    settled_by: str | None = None

    @property
    def ids(self) -> tuple[UUID, ...]:
        return tuple(dict.fromkeys([*([self.memory_id] if self.memory_id else []), *self.about]))

    def rewind_to(self, at: datetime) -> "StoryReview":
        """The review as it stood then: what was decided later is not told."""
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
    """What a story is told from: the chain's versions, the operations on them, those (maybe the same) that kept facts apart from them,
    reviews about them, and the text of every memory named (None = erased; missing = not known then)."""

    memory: Memory
    chain: frozenset[UUID]
    entries: Sequence[StoryEntry]
    apart: Sequence[StoryEntry]
    proposals: Sequence[StoryReview]
    texts: Mapping[UUID, str | None]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened: known at `at`, about the valid time `valid`, in a sentence and as data."""

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

    @property
    def sort_key(self) -> tuple[datetime, int]:
        return self.at, _RANK.get(self.kind, 0)


@dataclass(frozen=True, slots=True)
class Story:
    """A memory as it stands, in a sentence or two, and how it came to that: events in the order in which they became known."""

    summary: str
    events: tuple[Event, ...]


def find_vetoed_memories(entry: StoryEntry, chain: Iterable[UUID]) -> tuple[VetoedMemory, ...]:
    """What an operation kept apart, as far as it concerns the chain: everything, where it stored the chain's own version."""
    members = set(chain)
    return (
        entry.vetoed
        if members.intersection(entry.inserted)
        else tuple(v for v in entry.vetoed if v.memory_id in members)
    )


def find_valid_moment(entry: StoryEntry) -> datetime | None:
    """The moment in valid time that an operation is about: a start that it asserted, else an end that it moved."""
    if entry.target in entry.inserted:
        return entry.after[entry.target].valid_from
    for memory_id, before in entry.before.items():
        after = entry.after.get(memory_id, before)
        if after.valid_from != before.valid_from:
            return after.valid_from
        if after.valid_until != before.valid_until:
            return after.valid_until or before.valid_until
    return None if entry.operation is Operation.ERASE else entry.said_from or entry.at
