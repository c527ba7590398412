"""How an incoming fact stands to a stored one, and who says so."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID


class Relation(StrEnum):
    """DESIGN §1; what each leads to is the plan's business."""

    DUPLICATE = "DUPLICATE"
    UPDATE = "UPDATE"
    CONTRADICTION = "CONTRADICTION"
    RETRACTION = "RETRACTION"
    COMPLEMENT = "COMPLEMENT"
    OVERLAP = "OVERLAP"
    NONE = "NONE"

    @property
    def retires(self) -> bool:
        """Whether the stored fact ends by it."""
        return self in (Relation.UPDATE, Relation.CONTRADICTION, Relation.RETRACTION)


class Judge(StrEnum):
    """Who decided."""

    CALLER = "caller"
    RULE = "rule"
    SIGNALS = "signals"
    MODEL = "model"
    FALLBACK = "fallback"
    SWEEP = "sweep"
    REVIEWER = "reviewer"


class Classify(StrEnum):
    """Which judges are asked (reference 000's classifyBeforeWrite, and more)."""

    OFF = "off"
    RULES = "rules"
    SIGNALS = "signals"
    CASCADE = "cascade"
    MODEL = "model"

    @property
    def reads_signals(self) -> bool:
        return self in (Classify.SIGNALS, Classify.CASCADE)

    @property
    def asks_model(self) -> bool:
        return self in (Classify.CASCADE, Classify.MODEL)


@dataclass(frozen=True, slots=True)
class Finding:
    """One named reason for a relation; `confidence` is its measured reliability, between 0 and 1."""

    name: str
    relation: Relation
    confidence: float
    explanation: str


@dataclass(frozen=True, slots=True)
class Judgment:
    """A relation to one stored memory, with confidence (0 to 1), the reason in a sentence, and who made it.

    `findings` are the signals that fired, `vetoes` say why the two cannot be about the same thing. `flag`: plausible but
    unproven; a person should look. `akin`: the two have something in common, so that a veto is worth keeping.
    """

    memory_id: UUID
    relation: Relation
    confidence: float
    reasoning: str
    decided_by: Judge
    findings: tuple[Finding, ...] = ()
    vetoes: tuple[str, ...] = ()
    flag: bool = False
    akin: bool = True


@dataclass(frozen=True, slots=True)
class ModelCost:
    """What asking a model took: which model, with which prompt; HTTP calls, tokens, milliseconds. `trouble`: why it was not used."""

    model: str
    prompt_version: str
    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    ms: float = 0.0
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """Why an operation was chosen."""

    relation: Relation
    confidence: float
    decided_by: Judge
    reasoning: str
    findings: tuple[Finding, ...] = ()

    @classmethod
    def from_judgment(cls, judgment: Judgment) -> "Decision":
        return cls(
            judgment.relation,
            judgment.confidence,
            judgment.decided_by,
            judgment.reasoning,
            judgment.findings,
        )


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
