"""Checks of one memory (DESIGN §4): its rows against the log, its hashes against its words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.fact import DerivedSlot, Slot
from app.domain.text import hash_text, hash_text_loosely, hash_value
from app.planning.audit.checkpoint import Checkpoint
from app.planning.audit.faults import Fault, Remedy, RemedyTable
from app.planning.audit.replay import (
    BELIEF,
    EMPTY,
    ReplayedMemory,
    ReplayStep,
    UnreadableOperation,
    replay_memory,
    select_log_values,
    to_log_value,
)

# The fields of a belief that are computed from the chain; a write claims the others.
COMPUTED = ("covered", "valid_until", "superseded_by", "superseded_at")

# The columns from which the hashes are made.
_HASHED = ("content", "value", "entity", "category", "key", "derived")


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """One memory as the tables hold it: its row, past beliefs, counters and checkpoint, if any.

    `logged` are the columns whose values the log repeats. Erased columns are not among them.
    """

    row: Mapping[str, Any] | None
    past: Sequence[Mapping[str, Any]]
    usage: Mapping[str, Any] | None
    checkpoint: Checkpoint | None = None
    logged: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class MemoryCheck:
    """The faults of one memory, and its computed ends by the log if the table has others."""

    faults: list[Fault]
    logged_ends: dict[str, Any] | None = None


def check_memory(memory_id: str, stored: StoredMemory, steps: Sequence[ReplayStep]) -> MemoryCheck:
    """Compare the rows of a memory with the log, and its hashes with its words.

    Whether its ends are right is left to `check_chain`.
    """
    if stored.row is None:
        return MemoryCheck([_report_orphan(memory_id, stored, steps)])
    if not steps and stored.checkpoint is None:
        return MemoryCheck([_report_uninserted(memory_id)])
    try:
        since = stored.checkpoint.resume_replay() if stored.checkpoint else None
    except (AttributeError, KeyError, TypeError):
        sentence = f"The checkpoint of memory {memory_id} cannot be read."
        return MemoryCheck([Fault("checkpoints", (memory_id,), sentence)])
    try:
        replayed = replay_memory(steps, since)
    except UnreadableOperation as problem:
        log_id = str(problem.log_id)
        sentence = f"What operation {log_id} tells of memory {memory_id} is incomplete."
        return MemoryCheck([Fault("log", (memory_id, log_id), sentence)])
    differing: list[str] = []
    for name in stored.logged:
        # The columns computed from chains are left to `check_chain`.
        expected = replayed.row.get(name, EMPTY.get(name))
        if name not in COMPUTED and to_log_value(stored.row[name]) != expected:
            differing.append(name)
    has_logged_words = not set(differing) & set(_HASHED)
    faults = [
        *_check_operations(memory_id, replayed, differing),
        *_check_past(memory_id, stored.past, replayed),
        *_check_usage(memory_id, stored.usage, replayed),
        *_check_hashes(memory_id, stored.row, trusted=has_logged_words),
    ]
    logged_ends = {name: replayed.row.get(name) for name in COMPUTED}
    is_same = logged_ends == select_log_values(stored.row, COMPUTED)
    return MemoryCheck(faults, None if is_same else logged_ends)


# --- memories that cannot be compared ----------------------------------------------------------


def _report_orphan(memory_id: str, stored: StoredMemory, steps: Sequence[ReplayStep]) -> Fault:
    operations = list(dict.fromkeys(str(step.log_id) for step in steps))
    sources = [f"operation {log_id}" for log_id in operations]
    if stored.past:
        sources.append("a past belief")
    if stored.usage:
        sources.append("a counter")
    if stored.checkpoint:
        sources.append("a checkpoint")
    sentence = f"Memory {memory_id} is not stored, but told of by {', '.join(sources)}."
    return Fault("log", (memory_id, *operations), sentence)


def _report_uninserted(memory_id: str) -> Fault:
    return Fault("log", (memory_id,), f"No operation of the log brought memory {memory_id} in.")


# --- the log against the tables ----------------------------------------------------------------


def _check_operations(
    memory_id: str, replayed: ReplayedMemory, differing: Sequence[str]
) -> Iterator[Fault]:
    """Check that one operation inserted the memory, and that the others led to its row."""
    operations = list(map(str, replayed.inserted_by))
    if not operations:
        yield _report_uninserted(memory_id)
    elif len(operations) > 1:
        by = ", ".join(operations)
        sentence = f"Memory {memory_id} was brought in by more than one operation: {by}."
        yield Fault("log", (memory_id, *operations), sentence)
    for log_id in map(str, replayed.surprised):
        sentence = (
            f"Operation {log_id} found memory {memory_id} otherwise than the one before left it."
        )
        yield Fault("log", (memory_id, log_id), sentence)
    if differing:
        names = ", ".join(differing)
        sentence = f"The log and the table do not say the same of memory {memory_id}: {names}."
        yield Fault("log", (memory_id,), sentence)


def _check_past(
    memory_id: str, past: Sequence[Mapping[str, Any]], replayed: ReplayedMemory
) -> Iterator[Fault]:
    logged = replayed.past_by_start
    stored = {
        to_log_value(belief["known_from"]): select_log_values(belief, (*BELIEF, "known_until"))
        for belief in past
    }
    for since in sorted(logged.keys() | stored.keys()):
        if logged.get(since) == stored.get(since):
            continue
        if since not in stored:
            difference = "is not kept"
        elif since not in logged:
            difference = "is not told by the log"
        else:
            difference = "is another in the log"
        sentence = f"What was believed of memory {memory_id} from {since} on {difference}."
        yield Fault("beliefs", (memory_id,), sentence)


def _check_usage(
    memory_id: str, usage: Mapping[str, Any] | None, replayed: ReplayedMemory
) -> Iterator[Fault]:
    right = {
        "access_count": replayed.access_count,
        "last_reinforced_at": replayed.last_reinforced_at,
    }
    stored = {"access_count": 0, "last_reinforced_at": None}
    if usage:
        stored = select_log_values(usage, right)
        stored["access_count"] = stored["access_count"] or 0
    if stored == right:
        return
    sentence = (
        f"Memory {memory_id} counts {stored['access_count']} confirmations, "
        f"the last at {stored['last_reinforced_at']}; "
        f"the log tells of {right['access_count']}, the last at {right['last_reinforced_at']}."
    )
    remedy = Remedy(RemedyTable.USAGE, memory_id, right)
    yield Fault("usage", (memory_id,), sentence, remedy if replayed.access_count >= 0 else None)


# --- words and hashes --------------------------------------------------------------------------


def _check_hashes(memory_id: str, row: Mapping[str, Any], *, trusted: bool) -> Iterator[Fault]:
    """Compare hashes with words. If the words are those of the log, they may be put right."""
    if row["erased_at"]:
        return
    right = compute_from_words(row)
    wrong = {name: value for name, value in right.items() if row[name] != value}
    if wrong:
        names = ", ".join(wrong)
        sentence = f"Memory {memory_id} is found by words that it does not hold: {names}."
        remedy = Remedy(RemedyTable.MEMORY, memory_id, wrong) if trusted else None
        yield Fault("hashes", (memory_id,), sentence, remedy)


def compute_from_words(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the folded slot and the hashes that a row of `memories` must have."""
    slot = Slot.from_words(row["entity"], row["category"], row["key"])
    content, value, derived = row["content"], row["value"], row["derived"]
    derived_hash: bytes | None = None
    if derived is not None:
        words = derived["entity"], derived["key"], derived["value"]
        derived_hash = None if None in words else DerivedSlot(*words).digest
    return {
        "slot_entity": slot.entity,
        "slot_category": slot.category,
        "slot_key": slot.key,
        "slot_hash": slot.digest,
        "content_hash": hash_text(content),
        "fuzzy_hash": hash_text_loosely(content),
        "folded_hash": hash_value(content),
        "value_hash": None if value is None else hash_value(value),
        "derived_hash": derived_hash,
    }
