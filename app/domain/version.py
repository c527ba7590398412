"""Versions of facts and what is believed about them (DESIGN §1)."""

from bisect import bisect_right
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from app.domain.fact import BaseFact, Kind, Lifespan, Slot, StoredFact, Tier, holds_one_value
from app.domain.relationship import LinkType

TICK = timedelta(microseconds=1)

# The start of what has no known one: "until 2018" says nothing of when it began.
OPEN_START = datetime(1, 1, 1, tzinfo=UTC)


class Status(StrEnum):
    """The state of a version at a moment on both axes."""

    CURRENT = "current"
    SCHEDULED = "scheduled"
    COVERED = "covered"
    SUPERSEDED = "superseded"
    RETRACTED = "retracted"
    MERGED = "merged"
    EXPIRED = "expired"
    REVERTED = "reverted"
    ERASED = "erased"


@dataclass(frozen=True, slots=True)
class Belief:
    """The belief about a version's place in time, from `known_from` on.

    The first block is asserted; the second is computed from the chain (`settle_chain`).
    `chain_id` is the chain in which the version stands: a temporary one moves if it turns out to
    cover a version of another chain. `asserted_at` is the known time at which `valid_from` was
    asserted. `said_until` is a stated
    end. `void` means withdrawn: never true, or reverted. `ended_by` is a successor declared in
    another chain. `temporary` means that the version was stored with a stated end: it covers what
    came before it in the chain, and ends none of it.

    `covered` holds the moments at which the version is covered and at which it resumes, in turn.
    All of them lie before `valid_until`, so the last one is a resumption.
    """

    chain_id: UUID
    valid_from: datetime
    asserted_at: datetime
    said_until: datetime | None = None
    retracted_at: datetime | None = None
    void: bool = False
    ended_by: UUID | None = None
    contradicted_by: UUID | None = None
    merged: bool = False
    temporary: bool = False
    tier: Tier = Tier.SEMANTIC

    covered: tuple[datetime, ...] = ()
    valid_until: datetime | None = None
    superseded_by: UUID | None = None
    superseded_at: datetime | None = None
    known_from: datetime | None = None

    def holds_at(self, at: datetime) -> bool:
        """Return True if the version is true in the world at `at`.

        The interval is half-open; an end of None is open. Within it, the version does not hold
        while it is covered.
        """
        return self._has_place_at(at) and not self._is_covered_at(at)

    def is_covered_at(self, at: datetime) -> bool:
        """Return True if a temporary version holds at `at` and this one resumes after it."""
        return self._has_place_at(at) and self._is_covered_at(at)

    def _has_place_at(self, at: datetime) -> bool:
        if self.void or self.valid_from > at:
            return False
        return self.valid_until is None or self.valid_until > at

    def _is_covered_at(self, at: datetime) -> bool:
        return bisect_right(self.covered, at) % 2 == 1

    def resumes_at(self, at: datetime) -> bool:
        """Return True if the version held, was covered, and holds again from `at` on."""
        held_first = bool(self.covered) and self.covered[0] > self.valid_from
        resumptions = self.covered[1::2] if held_first else self.covered[3::2]
        return at in resumptions

    @property
    def has_open_start(self) -> bool:
        """Return True if only the end is known.

        Memories that were stored before there were open starts begin a microsecond before the end.
        """
        if self.valid_from == OPEN_START:
            return True
        return self.said_until is not None and self.said_until - self.valid_from == TICK

    @property
    def is_empty(self) -> bool:
        return self.valid_until is not None and self.valid_until <= self.valid_from


def choose_told_time(said_at: datetime | None, known_at: datetime) -> datetime:
    """Return when the words were spoken: nobody stores words before they are spoken."""
    return known_at if said_at is None else min(said_at, known_at)


@dataclass(frozen=True, slots=True)
class Version:
    """One stored version of one fact, as far as planning needs it: no content, only its hashes.

    `has_dated_start`: the start that it was stored with was read from its words.
    """

    id: UUID
    kind: Kind
    entity: str
    category: str
    key: str | None
    single_valued: bool | None
    slot: Slot
    content_hash: bytes
    fuzzy_hash: bytes
    folded_hash: bytes
    value_hash: bytes | None
    importance: float
    trust: int
    lifespan: Lifespan
    session_id: str | None
    project: str | None
    created_at: datetime
    revision: int
    belief: Belief
    erased_at: datetime | None = None
    said_at: datetime | None = None
    has_dated_start: bool = False

    @property
    def chain_id(self) -> UUID:
        return self.belief.chain_id

    @property
    def one_value(self) -> bool:
        return holds_one_value(self.kind, self.key, self.single_valued)

    @property
    def told_at(self) -> datetime:
        """Return when the words were spoken, or when they became known if nobody said when."""
        return choose_told_time(self.said_at, self.created_at)

    @property
    def begins_when_told(self) -> bool:
        """Return True if nobody stated when the version began: it counts from when it was told."""
        return self.belief.valid_from == self.told_at

    def stands_at(self, at: datetime) -> bool:
        """Return True if the version holds at `at`, or resumes after a temporary one."""
        return self.belief.holds_at(at) or self.belief.is_covered_at(at)

    def has_same_value(self, fact: BaseFact) -> bool:
        """Return True if the version says the same as the fact (DESIGN §2).

        The values are compared if both have one, otherwise the folded contents.
        """
        if self.value_hash is not None and fact.value is not None:
            return self.value_hash == fact.value_hash
        return self.folded_hash == fact.folded_hash

    def replace_claims(self, **claims: Any) -> "Version":
        """Return the version with other claims; `settle_chain` computes what follows from them."""
        return replace(self, belief=replace(self.belief, **claims))


@dataclass(frozen=True, slots=True)
class Usage:
    """Counters of the repetitions and uses of a memory, with the last time of each.

    `access_count` counts repetitions; `use_count` counts the minutes in which reads answered the
    memory. Counters are current-only: they are no part of a belief or a revision.
    """

    access_count: int = 0
    last_reinforced_at: datetime | None = None
    use_count: int = 0
    last_accessed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class StalenessCause:
    """A memory that ended after another one was linked to it.

    `ended_at` is the valid time of the end; for a withdrawn or erased memory, the time at which
    that became known.
    """

    memory_id: UUID
    type: LinkType
    status: Status
    ended_at: datetime


@dataclass(frozen=True, slots=True)
class Memory:
    """One version as a read answers it, with the belief at the known time of the read.

    The fact of an erased memory has no text. `stale_because` names the memories that it rests on
    and that have ended.
    """

    id: UUID
    fact: StoredFact
    belief: Belief
    created_at: datetime
    revision: int
    supersedes_id: UUID | None
    usage: Usage = Usage()
    erased_at: datetime | None = None
    stale_because: tuple[StalenessCause, ...] = ()

    @property
    def chain_id(self) -> UUID:
        return self.belief.chain_id

    @property
    def told_at(self) -> datetime:
        """Return when the words were spoken, or when they became known if nobody said when."""
        return choose_told_time(self.fact.said_at, self.created_at)

    @property
    def stated_start(self) -> datetime | None:
        """Return the start if it was read from the words or given by a caller.

        None means that the memory counts from the time at which it was told.
        """
        belief = self.belief
        if belief.valid_from == self.told_at or belief.has_open_start:
            return None
        return belief.valid_from


@dataclass(frozen=True, slots=True)
class Moment:
    """A point on both axes: what was true at `as_of`, as far as known at `known_at`."""

    as_of: datetime
    known_at: datetime
