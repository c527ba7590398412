"""A fact, and the words it is told in (DESIGN §1)."""

import json
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any
from uuid import UUID

from app.domain.text import fold, hash_text, hash_text_loosely


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
