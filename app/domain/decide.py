"""From several judgments to one decision: the most confident one decides, and a tie between different operations decides nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from app.domain.relation import Operation, Relation

TIE = 0.05

_OPERATIONS = {
    Relation.DUPLICATE: Operation.NOOP,
    Relation.UPDATE: Operation.UPDATE,
    Relation.CONTRADICTION: Operation.UPDATE,
    Relation.RETRACTION: Operation.DELETE,
    Relation.COMPLEMENT: Operation.MERGE,
    Relation.OVERLAP: Operation.ADD,
    Relation.NONE: Operation.ADD,
}


def operation_of(relation: Relation) -> Operation:
    """The operation that a relation leads to (DESIGN §3)."""
    return _OPERATIONS[relation]


class JudgmentLike(Protocol):
    """What deciding needs of a judgment."""

    @property
    def relation(self) -> Relation: ...
    @property
    def confidence(self) -> float: ...
    @property
    def flag(self) -> bool: ...


J = TypeVar("J", bound=JudgmentLike)


@dataclass(frozen=True, slots=True)
class Choice(Generic[J]):
    """The operation, the judgments that it acts on (the surest first), and those that a person should look at."""

    operation: Operation
    acts_on: tuple[J, ...] = ()
    flagged: tuple[J, ...] = ()


def decide_operation(judgments: Sequence[J], is_sure: Callable[[J], bool]) -> Choice[J]:
    """What the judgments lead to. `is_sure`: whether a judgment is confident enough for its judge.

    Two sure ones within .05 of each other that lead to different operations stop each other: ADD, both flagged.
    """
    proposals = [j for j in judgments if operation_of(j.relation) is not Operation.ADD]
    sure = sorted((j for j in proposals if is_sure(j) and not j.flag), key=lambda j: -j.confidence)
    flagged = tuple(j for j in proposals if j.relation.retires and (j.flag or not is_sure(j)))
    if not sure:
        return Choice(Operation.ADD, flagged=flagged)
    best = sure[0]
    operation = operation_of(best.relation)
    rivals = [
        j
        for j in sure
        if operation_of(j.relation) is not operation and best.confidence - j.confidence <= TIE
    ]
    if rivals:
        return Choice(Operation.ADD, flagged=(best, *rivals, *flagged))
    alike = tuple(j for j in sure if operation_of(j.relation) is operation)
    return Choice(operation, alike if best.relation.retires else alike[:1], flagged)
