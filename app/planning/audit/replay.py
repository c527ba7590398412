"""Replaying the log (DESIGN §4, invariant 3): what it says that a memory is, was believed to be, and how often it was confirmed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from app.domain.relation import Operation
from app.domain.version import Belief

BELIEF = tuple(f.name for f in fields(Belief))

# Columns that are empty rather than NULL; the log leaves both out.
EMPTY: dict[str, Any] = {
    "details": {},
    "tags": [],
    "entities": [],
    "sources": [],
    "merged_from": [],
}


class UnreadableOperation(ValueError):
    """An operation says of a memory what no write leaves behind."""

    def __init__(self, log_id: UUID) -> None:
        super().__init__(f"{log_id} cannot be replayed")
        self.log_id = log_id


@dataclass(frozen=True, slots=True)
class MemoryState:
    """One memory before or after an operation, in the plain values of the log: times and ids are texts.

    `columns` are values of its row, those of the whole fact for an insertion; `metadata` are the values that were corrected.
    """

    columns: Mapping[str, Any] = field(default_factory=dict)
    belief: Mapping[str, Any] | None = None
    metadata: Mapping[str, Any] | None = None
    is_insertion: bool = False


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """One state of a memory, from one operation of the log.

    `confirmed` is 1 if the operation was a duplicate of the memory, and -1 if it took such a confirmation back.
    """

    log_id: UUID
    operation: str
    at: datetime
    state: MemoryState = MemoryState()
    before: bool = False
    confirmed: int = 0


@dataclass(slots=True)
class ReplayedMemory:
    """A memory as the log tells it, in plain values: its row, the beliefs held before, the operations that inserted it, its counters.

    `surprised`: operations that found the memory otherwise than the ones before had left it. `folded`: beliefs held before a checkpoint,
    by when they began; they are only equal to what they were (domain/checkpoint.py).
    """

    row: dict[str, Any] = field(default_factory=dict)
    past: list[dict[str, Any]] = field(default_factory=list)
    inserted_by: list[UUID] = field(default_factory=list)
    surprised: list[UUID] = field(default_factory=list)
    access_count: int = 0
    last_reinforced_at: str | None = None
    folded: dict[str, Any] = field(default_factory=dict)

    def add_step(self, step: ReplayStep) -> None:
        """Takes in what the next operation says. Raises Unreadable."""
        try:
            self._apply_step(step)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise UnreadableOperation(step.log_id) from None

    def _apply_step(self, step: ReplayStep) -> None:
        state = step.state
        if step.confirmed:
            self._count_confirmation(step)
        elif step.before:
            self._record_past_belief(step)
        elif step.operation == Operation.ERASE:
            self.row["revision"] += 1
        elif state.metadata is not None:
            self.row |= state.metadata
            self.row["revision"] += 1
        else:
            self._apply_state(step)

    def _count_confirmation(self, step: ReplayStep) -> None:
        self.access_count += step.confirmed
        if step.confirmed > 0:
            self.last_reinforced_at = to_log_value(step.at)

    def _record_past_belief(self, step: ReplayStep) -> None:
        met = step.state.metadata or {}
        if step.state.belief is not None:
            belief = _select_belief(step.state.belief)
            self.past.append({**belief, "known_until": to_log_value(step.at)})
            met = {**belief, "revision": step.state.columns["revision"]}
        if any(self.row.get(name, EMPTY.get(name)) != value for name, value in met.items()):
            self.surprised.append(step.log_id)

    def _apply_state(self, step: ReplayStep) -> None:
        if step.state.belief is None:
            raise UnreadableOperation(step.log_id)
        if step.state.is_insertion:
            self.inserted_by.append(step.log_id)
        self.row |= step.state.columns
        self.row |= _select_belief(step.state.belief)


def _select_belief(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a belief. Raise KeyError if one is missing."""
    return {name: stored[name] for name in BELIEF}


def replay_memory(
    steps: Iterable[ReplayStep], since: ReplayedMemory | None = None
) -> ReplayedMemory:
    """One memory, from everything that the log says of it, in order; `since`: what a checkpoint tells of it. Raises Unreadable."""
    told = since or ReplayedMemory()
    for step in steps:
        told.add_step(step)
    return told


def to_log_value(value: Any) -> Any:
    """A value of the database as the log writes it."""
    match value:
        case datetime():
            return value.astimezone(UTC).isoformat(timespec="microseconds")
        case UUID():
            return str(value)
        case list() | tuple():
            return [to_log_value(one) for one in value]
        case _:
            return value
