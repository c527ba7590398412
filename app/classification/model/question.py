"""The question to a model: one incoming fact and the stored ones to compare it with."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.fact import BaseFact


@dataclass(frozen=True, slots=True)
class PromptStatement:
    """A text, its start and its slot. What the caller left out is None."""

    text: str
    valid_from: datetime | None = None
    entity: str | None = None
    category: str | None = None
    key: str | None = None
    value: str | None = None

    @classmethod
    def from_fact(cls, fact: BaseFact) -> "PromptStatement":
        return cls(fact.content, fact.valid_from, fact.entity, fact.category, fact.key, fact.value)


@dataclass(frozen=True, slots=True)
class PromptCandidate:
    """A stored memory that the incoming fact may touch.

    `evidence` says in phrases what signals and the local judge think of it.
    """

    memory_id: UUID
    statement: PromptStatement
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """Asks how the incoming statement stands to each candidate, the likeliest first."""

    incoming: PromptStatement
    candidates: tuple[PromptCandidate, ...]
