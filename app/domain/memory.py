"""A fact, a belief about it, a version: the values everything else is made of (DESIGN §1)."""

import json
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any, NewType
from uuid import UUID

from app.domain.links import LinkType
from app.domain.text import fold, hash_text, hash_text_loosely

AgentId = NewType("AgentId", str)


class Kind(StrEnum):
    """What sort of statement a memory is; a constraint is never ended unless a call names it."""

    FACT = "fact"
    PREFERENCE = "preference"
    DECISION = "decision"
    CONSTRAINT = "constraint"


class Tier(StrEnum):
    """Core memories keep a floor under their strength."""

    CORE = "core"
    SEMANTIC = "semantic"


class Lifespan(StrEnum):
    """How long a memory is meant to last, shortest first: until its session ends, until its project ends, or for good."""

    SESSION = "session"
    PROJECT = "project"
    PERMANENT = "permanent"

    def outlasts(self, other: "Lifespan") -> bool:
        order = list(Lifespan)
        return order.index(self) > order.index(other)

    @property
    def named_by(self) -> str | None:
        """The field that names what a memory ends with; None where nothing ends it by name."""
        return {Lifespan.SESSION: "session_id", Lifespan.PROJECT: "project"}.get(self)


class Operation(StrEnum):
    """What was done, as logged (DESIGN §1)."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    MERGE = "MERGE"
    SUPERSEDE = "SUPERSEDE"
    NOOP = "NOOP"
    AMEND = "AMEND"
    REVERT = "REVERT"
    ERASE = "ERASE"


class Status(StrEnum):
    """How a version stands at a moment on both axes."""

    CURRENT = "current"
    SCHEDULED = "scheduled"
    SUPERSEDED = "superseded"
    RETRACTED = "retracted"
    MERGED = "merged"
    EXPIRED = "expired"
    REVERTED = "reverted"
    ERASED = "erased"


@dataclass(frozen=True, slots=True)
class Slot:
    """What a memory is about. Compares by the folded words, so "Editor" and "editor " meet."""

    entity: str
    category: str
    key: str | None

    @classmethod
    def from_words(cls, entity: str | None, category: str | None, key: str | None) -> "Slot":
        """The slot of these words; entity defaults to `user`, category to empty."""
        return cls(fold(entity or "user"), fold(category or ""), fold(key) if key else None)

    @property
    def digest(self) -> bytes:
        """What an index finds the slot by: the words may be longer than an index entry."""
        return hash_text(json.dumps([self.entity, self.category, self.key]))


@dataclass(frozen=True, slots=True)
class DerivedSlot:
    """What a text was read to be about, where that is safe. It finds candidates; it decides nothing."""

    entity: str
    key: str
    value: str

    @property
    def digest(self) -> bytes:
        return hash_text(json.dumps([fold(self.entity), fold(self.key)]))


@dataclass(frozen=True)  # without slots, so that what is folded and hashed is so once
class Fact:
    """An incoming fact, validated. None = not said. Times are aware, in UTC; `valid_until` is a stated end."""

    content: str
    kind: Kind | None = None
    entity: str | None = None
    category: str | None = None
    key: str | None = None
    value: str | None = None
    single_valued: bool | None = None
    details: dict[str, Any] = field(default_factory=dict)
    tier: Tier | None = None
    importance: float | None = None
    confidence: float | None = None
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    source: str | None = None
    session_id: str | None = None
    project: str | None = None
    trust: int | None = None
    lifespan: Lifespan | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    merged_from: tuple[UUID, ...] = ()
    derived: "DerivedSlot | None" = None

    @cached_property
    def slot(self) -> Slot:
        return Slot.from_words(self.entity, self.category, self.key)

    @cached_property
    def one_value(self) -> bool:
        """Whether its slot holds one value at a time: a key was given, and neither the caller nor the kind objects."""
        return (
            self.key is not None
            and self.kind is not Kind.CONSTRAINT
            and self.single_valued is not False
        )

    @cached_property
    def content_hash(self) -> bytes:
        return hash_text(self.content)

    @cached_property
    def fuzzy_hash(self) -> bytes:
        return hash_text_loosely(self.content)

    @cached_property
    def folded_hash(self) -> bytes:
        return hash_text(fold(self.content))

    @cached_property
    def value_hash(self) -> bytes | None:
        return None if self.value is None else hash_text(fold(self.value))

    def merge_with(self, other: "Fact", text: str) -> "Fact":
        """Both facts as one with this text: importance the maximum, tags, entities, sources and details united (reference 003).

        It lives as long as the longer-lived of both, with the session and project of that one.
        """
        one, two = self.fill_defaults(), other.fill_defaults()
        assert one.lifespan is not None
        assert two.lifespan is not None
        longer = two if two.lifespan.outlasts(one.lifespan) else one
        tags = dict.fromkeys(tag.strip().casefold() for tag in (*one.tags, *two.tags))
        entities = {fold(entity): entity for entity in (*two.entities, *one.entities)}
        said = (one.source, two.source)
        return replace(
            one,
            content=text,
            value=one.value or two.value,
            details=two.details | one.details,
            tier=Tier.CORE if Tier.CORE in (one.tier, two.tier) else Tier.SEMANTIC,
            importance=max(one.importance or 0.0, two.importance or 0.0),
            confidence=min(one.confidence or 0.0, two.confidence or 0.0),
            tags=tuple(tags),
            entities=tuple(entities.values()),
            sources=tuple(dict.fromkeys([*one.sources, *two.sources, *(s for s in said if s)])),
            session_id=longer.session_id,
            project=longer.project,
            trust=min(one.trust or 0, two.trust or 0),
            lifespan=longer.lifespan,
            valid_from=None,
            valid_until=None,
        )

    def fill_defaults(self) -> "Fact":
        """The fact as it is stored: everything not said at its default."""
        settled = replace(
            self,
            kind=self.kind or Kind.FACT,
            entity=self.entity or "user",
            category=self.category or "",
            tier=self.tier or Tier.SEMANTIC,
            importance=0.5 if self.importance is None else self.importance,
            confidence=1.0 if self.confidence is None else self.confidence,
            trust=50 if self.trust is None else self.trust,
            lifespan=self.lifespan or Lifespan.PERMANENT,
        )
        # No default changes the slot or a hash, so those made already are kept.
        made = vars(self).keys() - self.__dataclass_fields__.keys()
        vars(settled).update({name: vars(self)[name] for name in made})
        return settled


@dataclass(frozen=True, slots=True)
class Belief:
    """What is believed about a version's place in time from `known_from` on.

    The first block is asserted, the second computed from the chain (`time.settle`). `ended_by` is a successor declared
    in another chain; `asserted_at` is the known time at which `valid_from` was asserted.
    """

    valid_from: datetime
    asserted_at: datetime
    said_until: datetime | None = None
    retracted_at: datetime | None = None
    void: bool = False
    ended_by: UUID | None = None
    contradicted_by: UUID | None = None
    merged: bool = False
    tier: Tier = Tier.SEMANTIC

    valid_until: datetime | None = None
    superseded_by: UUID | None = None
    superseded_at: datetime | None = None
    known_from: datetime | None = None

    def holds_at(self, at: datetime) -> bool:
        """Whether the version is true in the world at `at`: half-open, None = open."""
        return (
            not self.void
            and self.valid_from <= at
            and (self.valid_until is None or self.valid_until > at)
        )

    @property
    def is_empty(self) -> bool:
        return self.valid_until is not None and self.valid_until <= self.valid_from


@dataclass(frozen=True, slots=True)
class Version:
    """One stored version of one fact, as far as deciding needs it: no content, only its hashes."""

    id: UUID
    chain_id: UUID
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

    @property
    def one_value(self) -> bool:
        return (
            self.key is not None
            and self.kind is not Kind.CONSTRAINT
            and self.single_valued is not False
        )

    def has_same_value(self, fact: Fact) -> bool:
        """Whether it holds the same value: values where both have one, else the folded contents (DESIGN §2)."""
        if self.value_hash is not None and fact.value is not None:
            return self.value_hash == fact.value_hash
        return self.folded_hash == fact.folded_hash

    def replace_claims(self, **claims: Any) -> "Version":
        """The version with other claims in its belief; computed fields are left to `time.settle`."""
        return replace(self, belief=replace(self.belief, **claims))


@dataclass(frozen=True, slots=True)
class Usage:
    """How often a memory was said again, and when last; in how many minutes it was used (answered), and when last.

    Counters are current-only: they are no part of a belief or an ETag.
    """

    access_count: int = 0
    last_reinforced_at: datetime | None = None
    use_count: int = 0
    last_accessed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class StalenessCause:
    """A memory that another is tied to and that has ended since the tie was made: how, and when in valid time; of a withdrawn or
    erased one, when that became known."""

    memory_id: UUID
    type: LinkType
    status: Status
    ended_at: datetime


@dataclass(frozen=True, slots=True)
class Memory:
    """One version as a read answers it: its fact with every default filled in, and the belief held at the known time read.

    Of an erased one only the shape is left: its fact has no text. `stale_because`: what it rests on and what has ended.
    """

    id: UUID
    chain_id: UUID
    fact: Fact
    belief: Belief
    created_at: datetime
    revision: int
    supersedes_id: UUID | None
    usage: Usage = Usage()
    erased_at: datetime | None = None
    stale_because: tuple[StalenessCause, ...] = ()


@dataclass(frozen=True, slots=True)
class Moment:
    """A point on both axes: as far as known at `known_at`, what was true at `as_of`."""

    as_of: datetime
    known_at: datetime
