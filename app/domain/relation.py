"""How an incoming fact stands to a stored one, and who says so."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID


class Relation(StrEnum):
    """DESIGN §1; what each leads to is `plan`'s business."""

    DUPLICATE = "DUPLICATE"
    UPDATE = "UPDATE"
    CONTRADICTION = "CONTRADICTION"
    RETRACTION = "RETRACTION"
    COMPLEMENT = "COMPLEMENT"
    OVERLAP = "OVERLAP"
    NONE = "NONE"


class Judge(StrEnum):
    """Who decided."""

    CALLER = "caller"
    RULE = "rule"


@dataclass(frozen=True, slots=True)
class Judgment:
    """A relation to one stored memory, with confidence (0 to 1), the reason in a sentence, and who made it."""

    memory_id: UUID
    relation: Relation
    confidence: float
    reasoning: str
    decided_by: Judge


@dataclass(frozen=True, slots=True)
class Decision:
    """Why an operation was chosen."""

    relation: Relation
    confidence: float
    decided_by: Judge
    reasoning: str

    @classmethod
    def after(cls, judgment: Judgment) -> "Decision":
        return cls(judgment.relation, judgment.confidence, judgment.decided_by, judgment.reasoning)
