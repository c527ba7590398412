"""The summary of a story: the state of the memory, and the operation that brought it about."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import assert_never
from uuid import UUID

from app.domain.relation import Operation
from app.domain.timeline import compute_memory_status
from app.domain.version import Memory, Status
from app.planning.why.names import MemoryNames, format_moment
from app.planning.why.story import StoryEntry


def summarize_memory(
    memory: Memory, entries: Sequence[StoryEntry], names: MemoryNames, as_of: datetime
) -> str:
    """Return a sentence about the state at `as_of`.

    It names what a memory that holds has replaced, and what ended a memory that holds no more.
    """
    belief = memory.belief
    start, known = format_moment(belief.valid_from), "known since then"
    if memory.created_at != belief.valid_from:
        known = f"known since {format_moment(memory.created_at)}"
    end = format_moment(belief.valid_until) if belief.valid_until else ""
    status = compute_memory_status(memory, as_of)
    match status:
        case Status.CURRENT | Status.SCHEDULED:
            verb = "Holds since" if status is Status.CURRENT else "Will hold from"
            until = f" until {end}" if end else ""
            return f"{verb} {start}{until}, {known}{_describe_origin(memory.id, entries, names)}."
        case Status.COVERED:
            return f"Held from {start} and will hold again, {known}; a temporary fact covers it."
        case Status.SUPERSEDED | Status.MERGED:
            verb = "became part of" if status is Status.MERGED else "replaced by"
            by = names.name_memory(belief.superseded_by) if belief.superseded_by else "another"
            decision = _describe_end_decision(memory.id, entries)
            return f"Held from {start} to {end}, {known}; {verb} {by}{decision}."
        case Status.RETRACTED:
            decision = _describe_end_decision(memory.id, entries)
            return f"Held from {start} to {end}, {known}; retracted{decision}."
        case Status.EXPIRED:
            return f"Held from {start} to its stated end {end}, {known}."
        case Status.REVERTED:
            decision = _describe_end_decision(memory.id, entries)
            since = format_moment(memory.created_at)
            return f"Was withdrawn{decision}, and counts as never true; it was known since {since}."
        case Status.ERASED:
            until = f" to {end}" if end else " on"
            return f"Its text was erased; its place in time, from {start}{until}, is kept."
        case _:
            assert_never(status)


def _describe_origin(memory_id: UUID, entries: Iterable[StoryEntry], names: MemoryNames) -> str:
    """Return a clause about the memories that this one replaced or was merged from, if any."""
    origin = next((entry for entry in entries if memory_id in entry.inserted), None)
    if origin is None or not origin.replaced:
        return ""
    verb = "unites" if origin.operation is Operation.MERGE else "replaced"
    return f"; {verb} {names.name_memories(origin.replaced)}{_describe_decision(origin)}"


def _describe_end_decision(memory_id: UUID, entries: Sequence[StoryEntry]) -> str:
    for entry in reversed(entries):
        before, after = entry.before.get(memory_id), entry.after.get(memory_id)
        if before is None or after is None:
            continue
        if (after.void, after.valid_until) != (before.void, before.valid_until):
            return _describe_decision(entry)
    return ""


def _describe_decision(entry: StoryEntry) -> str:
    return f" on {format_moment(entry.at)}, decided {describe_decider(entry)}"


_DECIDERS = {
    "caller": "by the caller",
    "rule": "by rule",
    "reviewer": "by a reviewer",
    "agent": "by the agent",
    "fallback": "by nobody",
    "sweep": "by the sweep",
}


def describe_decider(entry: StoryEntry) -> str:
    if entry.decided_by == "signals":
        surest = max(entry.findings, key=lambda finding: finding.confidence, default=None)
        name = f"{surest.name}, " if surest else ""
        return f"by signals ({name}{entry.confidence:.2f})"
    if entry.decided_by == "judge":
        return f"by the local judge ({entry.confidence:.2f})"
    if entry.decided_by == "model":
        return f"by the model ({entry.confidence:.2f})"
    return _DECIDERS.get(entry.decided_by, f"by {entry.decided_by}")
