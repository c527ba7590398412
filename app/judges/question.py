"""What a judge is asked: one incoming fact against stored ones."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.memory import Fact


@dataclass(frozen=True, slots=True)
class Statement:
    """A text, since when it holds, and what it is about, as far as said."""

    text: str
    valid_from: datetime | None = None
    entity: str | None = None
    category: str | None = None
    key: str | None = None
    value: str | None = None

    @classmethod
    def of(cls, fact: Fact) -> "Statement":
        return cls(fact.content, fact.valid_from, fact.entity, fact.category, fact.key, fact.value)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stored memory that the incoming fact may touch."""

    memory_id: UUID
    statement: Statement


@dataclass(frozen=True, slots=True)
class Question:
    """How does the incoming statement stand to each of the candidates, the likeliest first?"""

    incoming: Statement
    candidates: tuple[Candidate, ...]
