"""Replaying the log (DESIGN §4, invariant 3): the rows that its operations must have left."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from app.domain.relation import Operation
from app.domain.version import Belief

BELIEF = tuple(f.name for f in fields(Belief))

# Columns that are empty rather than NULL. The log leaves out both.
EMPTY: dict[str, Any] = {
    "details": {},
    "tags": [],
    "entities": [],
    "sources": [],
    "merged_from": [],
}


class UnreadableOperation(ValueError):
    """A state of an operation is not one that a write leaves."""

    def __init__(self, log_id: UUID) -> None:
        super().__init__(f"{log_id} cannot be replayed")
        self.log_id = log_id


@dataclass(frozen=True, slots=True)
class MemoryState:
    """One memory before or after an operation, in the plain values of the log.

    Times and ids are texts. `columns` are values of its row; an insertion has those of the whole
    fact. `metadata` are the values of a correction. `confirmations` are those that a merged memory
    begins with.
    """

    columns: Mapping[str, Any] = field(default_factory=dict)
    belief: Mapping[str, Any] | None = None
    metadata: Mapping[str, Any] | None = None
    is_insertion: bool = False
    confirmations: int = 0


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """One state of a memory, from one operation of the log.

    `confirmed` is 1 if the operation was a duplicate of the memory, and -1 if it took such a
    confirmation back.
    """

    log_id: UUID
    operation: str
    at: datetime
    state: MemoryState = MemoryState()
    before: bool = False
    confirmed: int = 0


@dataclass(slots=True)
class ReplayedMemory:
    """A memory as the log left it, in plain values.

    `row` has the columns of the memory, `past` its earlier beliefs, `inserted_by` the operations
    that inserted it. `surprised` are operations whose state before differs from the state that the
    earlier operations left. `folded` has the beliefs of a checkpoint, by the time when each began;
    they are known by their hashes only (planning/audit/checkpoint.py).
    """

    row: dict[str, Any] = field(default_factory=dict)
    past: list[dict[str, Any]] = field(default_factory=list)
    inserted_by: list[UUID] = field(default_factory=list)
    surprised: list[UUID] = field(default_factory=list)
    access_count: int = 0
    last_reinforced_at: str | None = None
    folded: dict[str, Any] = field(default_factory=dict)

    def add_step(self, step: ReplayStep) -> None:
        """Replay the next state. Raise UnreadableOperation if it is not one that a write leaves."""
        try:
            self._apply_step(step)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise UnreadableOperation(step.log_id) from None

    @property
    def past_by_start(self) -> dict[str, Any]:
        """The earlier beliefs, by the known time from which each was believed."""
        recent = {belief["known_from"]: belief for belief in self.past}
        return self.folded | recent

    def _apply_step(self, step: ReplayStep) -> None:
        if step.confirmed:
            self.access_count += step.confirmed
            if step.confirmed > 0:
                self.last_reinforced_at = to_log_value(step.at)
        elif step.before:
            self._compare_with_state_before(step)
        elif step.operation == Operation.ERASE:
            self.row["revision"] += 1
        elif step.state.metadata is not None:
            self.row |= step.state.metadata
            self.row["revision"] += 1
        elif step.state.belief is None:
            raise UnreadableOperation(step.log_id)
        else:
            if step.state.is_insertion:
                self.inserted_by.append(step.log_id)
                if step.state.confirmations:
                    self.access_count += step.state.confirmations
                    self.last_reinforced_at = to_log_value(step.at)
            self.row |= step.state.columns
            self.row |= _select_belief(step.state.belief)

    def _compare_with_state_before(self, step: ReplayStep) -> None:
        expected = step.state.metadata or {}
        if step.state.belief is not None:
            belief = _select_belief(step.state.belief)
            self.past.append({**belief, "known_until": to_log_value(step.at)})
            expected = {**belief, "revision": step.state.columns["revision"]}
        for name, value in expected.items():
            if self.row.get(name, EMPTY.get(name)) != value:
                self.surprised.append(step.log_id)
                return


def _select_belief(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a belief. Raise KeyError if one is missing."""
    return {name: stored[name] for name in BELIEF}


def replay_memory(
    steps: Iterable[ReplayStep], since: ReplayedMemory | None = None
) -> ReplayedMemory:
    """Replay one memory from its steps, in order, on top of the state of a checkpoint, if any.

    Raise UnreadableOperation for a state that no write leaves.
    """
    replayed = since or ReplayedMemory()
    for step in steps:
        replayed.add_step(step)
    return replayed


def select_log_values(row: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return some columns of a row as the log writes them."""
    return {name: to_log_value(row[name]) for name in names}


def to_log_value(value: Any) -> Any:
    """Return a value of the database as the log writes it: times and ids become texts."""
    match value:
        case datetime():
            return value.astimezone(UTC).isoformat(timespec="microseconds")
        case UUID():
            return str(value)
        case list() | tuple():
            return list(map(to_log_value, value))
        case _:
            return value
