"""The words of this package: how two statements relate, and what is said about it."""

from dataclasses import dataclass
from datetime import datetime

from app.domain.dates.dated_text import DatedBy
from app.domain.relation import Finding, Relation


@dataclass(frozen=True, slots=True)
class Statement:
    """A short fact; `at` is when it began to hold (None: unknown).

    A given slot outranks what its text says. A temporary statement has a stated end, which its text
    does not name. `dated_by` are the words of the text that date it.
    """

    text: str
    at: datetime | None = None
    entity: str | None = None
    key: str | None = None
    kind: str = "fact"
    is_temporary: bool = False
    dated_by: DatedBy | None = None


@dataclass(frozen=True, slots=True)
class SignalJudgment:
    """The relation to the candidate at place `candidate`.

    `flag`: plausible but unproven. The incoming statement is stored beside the candidate, and a
    review proposes the relation. `akin`: the two have words or an attribute in common, so that
    keeping them apart is worth telling.
    """

    candidate: int
    relation: Relation
    confidence: float
    reasoning: str
    findings: tuple[Finding, ...] = ()
    vetoes: tuple[str, ...] = ()
    flag: bool = False
    akin: bool = True
