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
        return MemoryCheck([_report_unreadable_checkpoint(memory_id)])
    try:
        replayed = replay_memory(steps, since)
    except UnreadableOperation as problem:
        return MemoryCheck([_report_unreadable_operation(memory_id, str(problem.log_id))])
    differing = _list_differing_columns(stored.row, stored.logged, replayed)
    has_logged_words = not set(differing) & set(_HASHED)
    faults = [
        *_check_insertion(memory_id, replayed),
        *_check_order(memory_id, replayed),
        *_check_row(memory_id, differing),
        *_check_past(memory_id, stored.past, replayed),
        *_check_usage(memory_id, stored.usage, replayed),
        *_check_hashes(memory_id, stored.row, trusted=has_logged_words),
    ]
    return MemoryCheck(faults, _find_logged_ends(stored.row, replayed))


def _find_logged_ends(row: Mapping[str, Any], replayed: ReplayedMemory) -> dict[str, Any] | None:
    """Return the computed ends by the log, None if the table has the same."""
    logged = {name: replayed.row.get(name) for name in COMPUTED}
    stored = select_log_values(row, COMPUTED)
    return logged if logged != stored else None


# --- memories that cannot be compared ----------------------------------------------------------


def _report_orphan(memory_id: str, stored: StoredMemory, steps: Sequence[ReplayStep]) -> Fault:
    operations: list[str] = []
    for step in steps:
        if str(step.log_id) not in operations:
            operations.append(str(step.log_id))
    sources = [f"operation {log_id}" for log_id in operations]
    if stored.past:
        sources.append("a past belief")
    if stored.usage:
        sources.append("a counter")
    if stored.checkpoint:
        sources.append("a checkpoint")
    sentence = f"Memory {memory_id} is not stored, but told of by {', '.join(sources)}."
    return Fault(
        check="log",
        ids=(memory_id, *operations),
        sentence=sentence,
    )


def _report_uninserted(memory_id: str) -> Fault:
    return Fault(
        check="log",
        ids=(memory_id,),
        sentence=f"No operation of the log brought memory {memory_id} in.",
    )


def _report_unreadable_checkpoint(memory_id: str) -> Fault:
    sentence = f"The checkpoint of memory {memory_id} cannot be read."
    return Fault(
        check="checkpoints",
        ids=(memory_id,),
        sentence=sentence,
    )


def _report_unreadable_operation(memory_id: str, log_id: str) -> Fault:
    sentence = f"What operation {log_id} tells of memory {memory_id} is incomplete."
    return Fault(
        check="log",
        ids=(memory_id, log_id),
        sentence=sentence,
    )


# --- the log against the tables ----------------------------------------------------------------


def _list_differing_columns(
    row: Mapping[str, Any], logged: Sequence[str], replayed: ReplayedMemory
) -> list[str]:
    """Return the columns whose value is not that of the log, without those computed from chains."""
    differing = []
    for name in logged:
        expected = replayed.row.get(name, EMPTY.get(name))
        if name not in COMPUTED and to_log_value(row[name]) != expected:
            differing.append(name)
    return differing


def _check_insertion(memory_id: str, replayed: ReplayedMemory) -> Iterator[Fault]:
    operations = list(map(str, replayed.inserted_by))
    if not operations:
        yield _report_uninserted(memory_id)
    elif len(operations) > 1:
        by = ", ".join(operations)
        sentence = f"Memory {memory_id} was brought in by more than one operation: {by}."
        yield Fault(
            check="log",
            ids=(memory_id, *operations),
            sentence=sentence,
        )


def _check_order(memory_id: str, replayed: ReplayedMemory) -> Iterator[Fault]:
    for log_id in map(str, replayed.surprised):
        sentence = (
            f"Operation {log_id} found memory {memory_id} otherwise than the one before left it."
        )
        yield Fault(
            check="log",
            ids=(memory_id, log_id),
            sentence=sentence,
        )


def _check_row(memory_id: str, differing: Sequence[str]) -> Iterator[Fault]:
    if differing:
        names = ", ".join(differing)
        sentence = f"The log and the table do not say the same of memory {memory_id}: {names}."
        yield Fault(
            check="log",
            ids=(memory_id,),
            sentence=sentence,
        )


def _check_past(
    memory_id: str, past: Sequence[Mapping[str, Any]], replayed: ReplayedMemory
) -> Iterator[Fault]:
    logged = replayed.past_by_start
    stored = {to_log_value(belief["known_from"]): _to_logged_belief(belief) for belief in past}
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
        yield Fault(
            check="beliefs",
            ids=(memory_id,),
            sentence=sentence,
        )


def _to_logged_belief(row: Mapping[str, Any]) -> dict[str, Any]:
    return select_log_values(row, (*BELIEF, "known_until"))


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
    yield Fault(
        check="usage",
        ids=(memory_id,),
        sentence=sentence,
        remedy=remedy if replayed.access_count >= 0 else None,
    )


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
        yield Fault(
            check="hashes",
            ids=(memory_id,),
            sentence=sentence,
            remedy=remedy,
        )


def compute_from_words(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the folded slot and the hashes that a row of `memories` must have."""
    slot = Slot.from_words(row["entity"], row["category"], row["key"])
    content, value = row["content"], row["value"]
    return {
        "slot_entity": slot.entity,
        "slot_category": slot.category,
        "slot_key": slot.key,
        "slot_hash": slot.digest,
        "content_hash": hash_text(content),
        "fuzzy_hash": hash_text_loosely(content),
        "folded_hash": hash_value(content),
        "value_hash": None if value is None else hash_value(value),
        "derived_hash": _hash_derived_slot(row["derived"]),
    }


def _hash_derived_slot(derived: Mapping[str, str | None] | None) -> bytes | None:
    if derived is None:
        return None
    entity, key, value = derived["entity"], derived["key"], derived["value"]
    if entity is None or key is None or value is None:
        return None
    return DerivedSlot(entity, key, value).digest
