"""What must hold of stored memories (DESIGN §4), and in plain words what does not: of one memory against the log, of one chain."""

import json
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from app.domain.fact import DerivedSlot, Fact
from app.domain.relation import Operation
from app.domain.timeline import settle_chain
from app.domain.version import Version
from app.planning.audit.checkpoint import Checkpoint
from app.planning.audit.replay import (
    BELIEF,
    EMPTY,
    ReplayedMemory,
    ReplayStep,
    UnreadableOperation,
    replay_memory,
    to_log_value,
)

# Computed from the chain; what a belief holds beside is claimed.
COMPUTED = ("valid_until", "superseded_by", "superseded_at")
# What the hashes are made from.
_HASHED = ("content", "value", "entity", "category", "key", "derived")

_ANY_TIME = datetime.max.replace(tzinfo=UTC)  # dates what a chain would change


class RemedyTable(StrEnum):
    """The tables in which something can be put right."""

    AGENT = "agent"
    MEMORY = "memory"
    USAGE = "usage"
    OPERATION = "operation"


@dataclass(frozen=True, slots=True)
class Remedy:
    """Values that columns of one row must have, as computed from what else is stored. `id` is None for the agent's own row."""

    place: RemedyTable
    id: str | None
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that does not hold: which rule, the ids of the memories, operations or reviews that break it, and a sentence."""

    check: str
    ids: tuple[str, ...]
    sentence: str
    remedy: Remedy | None = None


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
    """The faults of one memory; and its computed ends as the log tells them, where they are not those of the table."""

    faults: list[Fault]
    logged_ends: dict[str, Any] | None = None


# --- one memory --------------------------------------------------------------------------------------------------------


def check_memory(memory_id: str, stored: StoredMemory, steps: Sequence[ReplayStep]) -> MemoryCheck:
    """Compares what is stored of a memory with the log, and its hashes with its text. Ends are left to `check_chain`."""
    if stored.row is None:
        return MemoryCheck([_report_orphan(memory_id, stored, steps)])
    if not steps and stored.checkpoint is None:
        return MemoryCheck(
            [Fault("log", (memory_id,), f"No operation of the log brought memory {memory_id} in.")]
        )
    try:
        since = stored.checkpoint.resume_replay() if stored.checkpoint else None
    except (AttributeError, KeyError, TypeError):
        return MemoryCheck(
            [
                Fault(
                    "checkpoints",
                    (memory_id,),
                    f"The checkpoint of memory {memory_id} cannot be read.",
                )
            ]
        )
    try:
        told = replay_memory(steps, since)
    except UnreadableOperation as problem:
        log_id = str(problem.log_id)
        return MemoryCheck(
            [
                Fault(
                    "log",
                    (memory_id, log_id),
                    f"What operation {log_id} tells of memory {memory_id} is incomplete.",
                )
            ]
        )
    other = _list_differing_columns(stored.row, stored.logged, told)
    faults = [
        *_check_story(memory_id, told),
        *_check_row(memory_id, other),
        *_check_past(memory_id, stored.past, told),
        *_check_usage(memory_id, stored.usage, told),
        *_check_hashes(memory_id, stored.row, trusted=not set(other) & set(_HASHED)),
    ]
    ends = {name: told.row.get(name) for name in COMPUTED}
    return MemoryCheck(
        faults,
        None if ends == {name: to_log_value(stored.row[name]) for name in COMPUTED} else ends,
    )


def _report_orphan(memory_id: str, stored: StoredMemory, steps: Sequence[ReplayStep]) -> Fault:
    operations = dict.fromkeys(str(step.log_id) for step in steps)
    told_by = (
        [f"operation {i}" for i in operations]
        + ["a past belief"] * bool(stored.past)
        + ["a counter"] * bool(stored.usage)
    )
    told_by += ["a checkpoint"] * bool(stored.checkpoint)
    return Fault(
        "log",
        (memory_id, *operations),
        f"Memory {memory_id} is not stored, but told of by {', '.join(told_by)}.",
    )


def _list_differing_columns(
    row: Mapping[str, Any], logged: Sequence[str], replayed: ReplayedMemory
) -> list[str]:
    """Return the columns whose value is not that of the log, without those computed from chains."""
    return [
        name
        for name in logged
        if name not in COMPUTED
        and to_log_value(row[name]) != replayed.row.get(name, EMPTY.get(name))
    ]


def _check_story(memory_id: str, replayed: ReplayedMemory) -> Iterator[Fault]:
    if not replayed.inserted_by:
        yield Fault("log", (memory_id,), f"No operation of the log brought memory {memory_id} in.")
    elif len(replayed.inserted_by) > 1:
        by = tuple(map(str, replayed.inserted_by))
        yield Fault(
            "log",
            (memory_id, *by),
            f"Memory {memory_id} was brought in by more than one operation: {', '.join(by)}.",
        )
    for log_id in map(str, replayed.surprised):
        yield Fault(
            "log",
            (memory_id, log_id),
            f"Operation {log_id} found memory {memory_id} otherwise than the one before left it.",
        )


def _check_row(memory_id: str, differing: Sequence[str]) -> Iterator[Fault]:
    if differing:
        yield Fault(
            "log",
            (memory_id,),
            f"The log and the table do not say the same of memory {memory_id}: {', '.join(differing)}.",
        )


def _check_past(
    memory_id: str, past: Sequence[Mapping[str, Any]], replayed: ReplayedMemory
) -> Iterator[Fault]:
    held = replayed.folded | {belief["known_from"]: belief for belief in replayed.past}
    kept = {
        to_log_value(belief["known_from"]): {
            name: to_log_value(belief[name]) for name in (*BELIEF, "known_until")
        }
        for belief in past
    }
    for since in sorted(held.keys() | kept.keys()):
        if held.get(since) == kept.get(since):
            continue
        what = (
            "is not kept"
            if since not in kept
            else "is not told by the log"
            if since not in held
            else "is another in the log"
        )
        yield Fault(
            "beliefs",
            (memory_id,),
            f"What was believed of memory {memory_id} from {since} on {what}.",
        )


def _check_usage(
    memory_id: str, usage: Mapping[str, Any] | None, replayed: ReplayedMemory
) -> Iterator[Fault]:
    right = {
        "access_count": replayed.access_count,
        "last_reinforced_at": replayed.last_reinforced_at,
    }
    counted = {name: to_log_value(usage[name]) if usage else None for name in right}
    if (counted["access_count"] or 0, counted["last_reinforced_at"]) != (
        right["access_count"],
        right["last_reinforced_at"],
    ):
        sentence = (
            f"Memory {memory_id} counts {counted['access_count'] or 0} confirmations, the last at {counted['last_reinforced_at']}; "
            f"the log tells of {right['access_count']}, the last at {right['last_reinforced_at']}."
        )
        remedy = Remedy(RemedyTable.USAGE, memory_id, right) if replayed.access_count >= 0 else None
        yield Fault("usage", (memory_id,), sentence, remedy)


def _check_hashes(memory_id: str, row: Mapping[str, Any], *, trusted: bool) -> Iterator[Fault]:
    """`trusted`: the words are those of the log, so that what is computed from them may be put right."""
    if row["erased_at"]:
        return
    right = compute_from_words(row)
    if wrong := {name: value for name, value in right.items() if row[name] != value}:
        remedy = Remedy(RemedyTable.MEMORY, memory_id, wrong) if trusted else None
        yield Fault(
            "hashes",
            (memory_id,),
            f"Memory {memory_id} is found by words that it does not hold: {', '.join(wrong)}.",
            remedy,
        )


def compute_from_words(row: Mapping[str, Any]) -> dict[str, Any]:
    """The folded slot and the hashes that a row of `memories` must have."""
    fact = Fact(**{name: row[name] for name in ("content", "entity", "category", "key", "value")})
    derived = row["derived"]
    return {
        "slot_entity": fact.slot.entity,
        "slot_category": fact.slot.category,
        "slot_key": fact.slot.key,
        "slot_hash": fact.slot.digest,
        "content_hash": fact.content_hash,
        "fuzzy_hash": fact.fuzzy_hash,
        "folded_hash": fact.folded_hash,
        "value_hash": fact.value_hash,
        "derived_hash": DerivedSlot(**derived).digest
        if derived and None not in derived.values()
        else None,
    }


# --- one chain ---------------------------------------------------------------------------------------------------------


def check_chain(
    chain: Sequence[Version], logged_ends: Mapping[str, Mapping[str, Any]]
) -> Iterator[Fault]:
    """Whether the chain has its first version, and every version the end that the chain gives it (DESIGN §2).

    `told_ends`: the computed ends that the log tells, where they are not those of the table. An end is put right only where the chain
    and the log agree on it.
    """
    if all(version.id != version.chain_id for version in chain):
        first = chain[0]
        yield Fault(
            "chains",
            (str(first.id), str(first.chain_id)),
            f"Memory {first.id} is in the chain of {first.chain_id}, which is not.",
        )
    for stated, settled in zip(chain, settle_chain(chain, _ANY_TIME), strict=True):
        yield from _check_end(stated, _collect_ends(settled), logged_ends.get(str(stated.id)))


def _collect_ends(version: Version) -> dict[str, Any]:
    return {name: to_log_value(getattr(version.belief, name)) for name in COMPUTED}


def _check_end(
    version: Version, right: Mapping[str, Any], logged_ends: Mapping[str, Any] | None
) -> Iterator[Fault]:
    stated = _collect_ends(version)
    memory_id = str(version.id)
    if not _same_end(stated, right):
        agreed = logged_ends is not None and _same_end(logged_ends, right)
        remedy = (
            Remedy(RemedyTable.MEMORY, memory_id, logged_ends) if logged_ends and agreed else None
        )
        sentence = (
            f"Memory {memory_id} {_describe_ends(stated)}; by its chain it {_describe_ends(right)}."
        )
        ids = dict.fromkeys(
            i for i in (memory_id, stated["superseded_by"], right["superseded_by"]) if i
        )
        yield Fault("chains", tuple(ids), sentence, remedy)
    elif logged_ends and _same_end(logged_ends, right):
        sentence = f"Memory {memory_id} was superseded at {stated['superseded_at']}; the log says at {logged_ends['superseded_at']}."
        yield Fault(
            "chains", (memory_id,), sentence, Remedy(RemedyTable.MEMORY, memory_id, logged_ends)
        )
    elif logged_ends:
        yield Fault(
            "log",
            (memory_id,),
            f"Memory {memory_id} {_describe_ends(stated)}, as its chain says; by the log it {_describe_ends(logged_ends)}.",
        )


def _same_end(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return (one["valid_until"], one["superseded_by"]) == (
        other["valid_until"],
        other["superseded_by"],
    )


def _describe_ends(ends: Mapping[str, Any]) -> str:
    at = f"ends at {ends['valid_until']}" if ends["valid_until"] else "has no end"
    return at + (f", superseded by {ends['superseded_by']}" if ends["superseded_by"] else "")


# --- undoing -----------------------------------------------------------------------------------------------------------


def check_reverts(operations: Sequence[Mapping[str, Any]]) -> Iterator[Fault]:
    """Whether `reverted_by` names what undid each operation and still stands. Given are those that undid or were undone, newest first."""
    known: set[Any] = set()
    wrong: list[Fault] = []
    for entry in reversed(operations):
        wrong += _check_revert(entry, known)
        known.add(entry["id"])
    yield from wrong
    undone_by: dict[Any, list[Any]] = {}
    for entry in operations:
        standing = undone_by.get(entry["id"], [])
        if entry["reverts"] is not None and not standing:
            undone_by.setdefault(entry["reverts"], []).append(entry["id"])
        yield from _check_reverted_by(entry, standing, trusted=not wrong)


def _check_revert(entry: Mapping[str, Any], earlier: Container[Any]) -> Iterator[Fault]:
    log_id, undid = str(entry["id"]), entry["reverts"]
    if (undid is not None) != (entry["operation"] == Operation.REVERT):
        ids = (log_id, *([str(undid)] if undid else []))
        yield Fault(
            "reverts",
            ids,
            f"Operation {log_id} is of the kind {entry['operation']} and undid {undid or 'nothing'}.",
        )
    elif undid is not None and undid not in earlier:
        yield Fault(
            "reverts",
            (log_id, str(undid)),
            f"Operation {log_id} undid {undid}, which this agent had not done before.",
        )


def _check_reverted_by(
    entry: Mapping[str, Any], standing: Sequence[Any], *, trusted: bool
) -> Iterator[Fault]:
    """`trusted`: every `reverts` is sound, so that `reverted_by` may be put right by them."""
    log_id, stated = str(entry["id"]), entry["reverted_by"]
    if len(standing) > 1:
        by = tuple(map(str, standing))
        yield Fault(
            "reverts",
            (log_id, *by),
            f"Operation {log_id} was undone more than once: by {', '.join(by)}.",
        )
    elif standing != [i for i in [stated] if i is not None]:
        right = str(standing[0]) if standing else None
        sentence = f"Operation {log_id} says that it was undone by {stated or 'none'}; by the log it was undone by {right or 'none'}."
        ids = tuple(str(i) for i in (log_id, stated, right) if i is not None)
        yield Fault(
            "reverts",
            ids,
            sentence,
            Remedy(RemedyTable.OPERATION, log_id, {"reverted_by": right}) if trusted else None,
        )


# --- kept answers ------------------------------------------------------------------------------------------------------

_ID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def check_answer(stored_answer: Mapping[str, Any]) -> Iterator[Fault]:
    """Whether an answer under an idempotency key has its shape, names every id that it mentions, and quotes nothing erased."""
    key, fingerprint, answer = (
        stored_answer["key"],
        stored_answer["fingerprint"],
        stored_answer["answer"],
    )
    if not (
        200 <= stored_answer["status"] < 600
        and isinstance(stored_answer["headers"], dict)
        and len(fingerprint or bytes(32)) == 32
    ):
        yield Fault(
            "idempotency",
            (key,),
            f"What is kept under the idempotency key {key!r} is not an answer that a call could have had.",
        )
    if answer is None:
        return
    if unnamed := {i.decode() for i in _ID.findall(answer)} - {
        str(i) for i in stored_answer["mentioned_ids"]
    }:
        sentence = f"The answer under the idempotency key {key!r} mentions {', '.join(sorted(unnamed))} unsaid; erasing would miss it."
        yield Fault("idempotency", (key, *sorted(unnamed)), sentence)
    if quoted := set(stored_answer["erased"]) & _find_quoted_memories(answer):
        sentence = f"The answer under the idempotency key {key!r} still quotes {', '.join(sorted(quoted))}, erased since."
        yield Fault("erased", (key, *sorted(quoted)), sentence)


def _find_quoted_memories(answer: bytes) -> set[str]:
    """The memories of which an answer in JSON holds the content."""
    try:
        waiting = [json.loads(line) for line in answer.splitlines()]
    except ValueError:
        return set()
    found: set[str] = set()
    while waiting:
        match waiting.pop():
            case {"id": str(memory_id), "content": str(), **rest}:
                found.add(memory_id)
                waiting += rest.values()
            case dict() as inner:
                waiting += inner.values()
            case list() as inner:
                waiting += inner
    return found
