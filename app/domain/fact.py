"""A fact as a caller sends it and as it is stored (DESIGN §1)."""

import json
import re
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Any
from uuid import UUID

from app.domain.dates.dated_text import DatedBy
from app.domain.text import fold, hash_text, hash_text_loosely, hash_value

MAX_DETAILS_DEPTH = 8
"""How deep the free JSON of a memory (`details`) may be nested."""

_SPACE_BEFORE_MARK = re.compile(r" (?=[.,;:!?])")


class Kind(StrEnum):
    """The sort of statement that a memory is. A constraint ends only if a call names it."""

    FACT = "fact"
    PREFERENCE = "preference"
    DECISION = "decision"
    CONSTRAINT = "constraint"


class Tier(StrEnum):
    """Core memories keep a floor under their strength."""

    CORE = "core"
    SEMANTIC = "semantic"


class Lifespan(StrEnum):
    """The time that a memory is meant to last; the members go from shortest to longest.

    A memory lasts until its session ends, until its project ends, or for good.
    """

    SESSION = "session"
    PROJECT = "project"
    PERMANENT = "permanent"

    def outlasts(self, other: "Lifespan") -> bool:
        order = list(Lifespan)
        return order.index(self) > order.index(other)

    @property
    def named_by(self) -> str | None:
        """Return the field that names what the memory ends with; None for permanent ones."""
        return {Lifespan.SESSION: "session_id", Lifespan.PROJECT: "project"}.get(self)


@dataclass(frozen=True, slots=True)
class Slot:
    """The subject of a memory, in folded words: "Editor" and "editor " make the same slot."""

    entity: str
    category: str
    key: str | None

    @classmethod
    def from_words(cls, entity: str | None, category: str | None, key: str | None) -> "Slot":
        """Return the slot of these words; entity defaults to `user`, category to empty."""
        return cls(fold(entity or "user"), fold(category or ""), fold(key) if key else None)

    @property
    def digest(self) -> bytes:
        """Return the key for indexes, because the words may be longer than an index entry."""
        return _digest_slot(self)


@lru_cache(maxsize=1024)  # the facts of a batch share a few slots
def _digest_slot(slot: Slot) -> bytes:
    return hash_text(json.dumps([slot.entity, slot.category, slot.key]))


@dataclass(frozen=True, slots=True)
class DerivedSlot:
    """The slot that a text states, if it is safe to derive one.

    It is used to find candidates and decides nothing.
    """

    entity: str
    key: str
    value: str

    @property
    def digest(self) -> bytes:
        return hash_text(json.dumps([fold(self.entity), fold(self.key)]))


def holds_one_value(kind: Kind | None, key: str | None, single_valued: bool | None) -> bool:
    """Return True if a slot with these words holds one value at a time.

    The caller must have given a key. Neither the caller nor the kind may object: constraints keep
    chains of their own.
    """
    return key is not None and kind is not Kind.CONSTRAINT and single_valued is not False


class BaseFact:
    """The slot and the hashes by which facts are compared, whether incoming or stored.

    The subclasses have no slots, so that a hash is computed once and then cached.
    """

    content: str
    kind: Kind | None
    entity: str | None
    category: str | None
    key: str | None
    value: str | None
    single_valued: bool | None
    valid_from: datetime | None
    said_at: datetime | None
    said_in: UUID | None
    dated_by: DatedBy | None
    derived: DerivedSlot | None

    @cached_property
    def slot(self) -> Slot:
        return Slot.from_words(self.entity, self.category, self.key)

    @cached_property
    def one_value(self) -> bool:
        return holds_one_value(self.kind, self.key, self.single_valued)

    @cached_property
    def undated_text(self) -> str:
        """The content without the words that date it.

        "I'm in Lisbon until Friday" gives "I'm in Lisbon", which says another place than home.
        """
        dated_by = self.dated_by
        if dated_by is None:
            return self.content
        before, after = self.content[: dated_by.start], self.content[dated_by.end :]
        words = " ".join(f"{before} {after}".split())
        return _SPACE_BEFORE_MARK.sub("", words).strip(" ,;:-–—") or self.content

    @cached_property
    def content_hash(self) -> bytes:
        return hash_text(self.content)

    @cached_property
    def fuzzy_hash(self) -> bytes:
        return hash_text_loosely(self.content)

    @cached_property
    def folded_hash(self) -> bytes:
        return hash_value(self.content)

    @cached_property
    def value_hash(self) -> bytes | None:
        return None if self.value is None else hash_value(self.value)


@dataclass(frozen=True)
class Fact(BaseFact):
    """An incoming fact, validated; None means that the caller did not say it.

    Times are aware and in UTC. `valid_until` is a stated end. `said_at` is when the words were
    spoken. Facts of one sentence share `said_in`; it is None for a fact that was not split from
    others. `dated_by` are the words that `valid_from` or `valid_until` were read from; of its
    times, those that the caller gave himself are None.
    """

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
    said_at: datetime | None = None
    said_in: UUID | None = None
    dated_by: DatedBy | None = None
    merged_from: tuple[UUID, ...] = ()
    derived: DerivedSlot | None = None


DEFAULT_TRUST = 50


@dataclass(frozen=True)
class StoredFact(BaseFact):
    """A fact as it is stored: the fields of `Fact`, with a default for everything that has one."""

    content: str
    kind: Kind = Kind.FACT
    entity: str = "user"
    category: str = ""
    key: str | None = None
    value: str | None = None
    single_valued: bool | None = None
    details: dict[str, Any] = field(default_factory=dict)
    tier: Tier = Tier.SEMANTIC
    importance: float = 0.5
    confidence: float = 1.0
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    source: str | None = None
    session_id: str | None = None
    project: str | None = None
    trust: int = DEFAULT_TRUST
    lifespan: Lifespan = Lifespan.PERMANENT
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    said_at: datetime | None = None
    said_in: UUID | None = None
    dated_by: DatedBy | None = None
    merged_from: tuple[UUID, ...] = ()
    derived: DerivedSlot | None = None

    @classmethod
    def from_fact(cls, fact: Fact) -> "StoredFact":
        """Return the fact as it is stored, with defaults for what the caller did not say."""
        values = {name: getattr(fact, name) for name in FACT_FIELDS}
        stated = {name: value for name, value in values.items() if value is not None}
        if not fact.entity:
            stated.pop("entity", None)
        stored = cls(**stated)
        # What was computed from the words of the fact holds for the stored fact too.
        for name in vars(fact).keys() - values.keys():
            vars(stored)[name] = vars(fact)[name]
        return stored

    def to_incoming_fact(self) -> Fact:
        """Return the fact as a caller would send it now; words at their default count as unsaid."""
        values = {name: getattr(self, name) for name in FACT_FIELDS}
        if self.kind is Kind.FACT:
            values["kind"] = None
        if self.entity == "user":
            values["entity"] = None
        if not self.category:
            values["category"] = None
        return Fact(**values)


FACT_FIELDS = tuple(f.name for f in fields(StoredFact))
"""The fields of a fact, incoming or stored, in the order in which the log writes them."""


def merge_facts(one: StoredFact, other: StoredFact, text: str) -> StoredFact:
    """Return both facts as one with this text (reference 003).

    Importance is the maximum; tags, entities, sources and details are united. The merged fact has
    the lifespan of the longer-lived fact, with the session and project of that fact. It was said
    when `other`, the incoming fact, was said.
    """
    longer = other if other.lifespan.outlasts(one.lifespan) else one
    tags = dict.fromkeys(tag.strip().casefold() for tag in (*one.tags, *other.tags))
    entities = {fold(entity): entity for entity in (*other.entities, *one.entities)}
    origins = [origin for origin in (one.source, other.source) if origin]
    sources = dict.fromkeys([*one.sources, *other.sources, *origins])
    return replace(
        one,
        content=text,
        value=one.value or other.value,
        details=other.details | one.details,
        tier=Tier.CORE if Tier.CORE in (one.tier, other.tier) else Tier.SEMANTIC,
        importance=max(one.importance, other.importance),
        confidence=min(one.confidence, other.confidence),
        tags=tuple(tags),
        entities=tuple(entities.values()),
        sources=tuple(sources),
        session_id=longer.session_id,
        project=longer.project,
        trust=min(one.trust, other.trust),
        lifespan=longer.lifespan,
        valid_from=None,
        valid_until=None,
        said_at=other.said_at,
        said_in=None,
        dated_by=None,
    )
