"""The question to a model: one incoming fact and the stored ones to compare it with."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.fact import BaseFact, Fact
from app.domain.version import Memory


@dataclass(frozen=True, slots=True)
class PromptStatement:
    """A text, when it was said, since when it holds, and its slot.

    What nobody stated is None.
    """

    text: str
    said_at: datetime | None = None
    valid_from: datetime | None = None
    entity: str | None = None
    category: str | None = None
    key: str | None = None
    value: str | None = None

    @classmethod
    def from_fact(cls, fact: Fact) -> "PromptStatement":
        return cls.from_words(fact, fact.said_at, fact.valid_from)

    @classmethod
    def from_memory(cls, memory: Memory) -> "PromptStatement":
        """Return the statement of a stored memory; when it was stored is nobody's statement."""
        return cls.from_words(memory.fact, None, memory.stated_start)

    @classmethod
    def from_words(
        cls, fact: BaseFact, said_at: datetime | None, valid_from: datetime | None
    ) -> "PromptStatement":
        return cls(
            fact.content, said_at, valid_from, fact.entity, fact.category, fact.key, fact.value
        )


@dataclass(frozen=True, slots=True)
class PromptCandidate:
    """A stored memory that the incoming fact may touch.

    `hint` says in a phrase what signals or the local judge think of it, if they see a change.
    """

    memory_id: UUID
    statement: PromptStatement
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """Asks which candidates the incoming statement changes. The likeliest come first.

    `again` are those that the model took for over or repeated, if it is asked about them once more.
    """

    incoming: PromptStatement
    candidates: tuple[PromptCandidate, ...]
    again: frozenset[UUID] | None = None
