"""The words of a story: sentences about operations, reviews, vetoes, and how a memory stands. Dates are in UTC."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from app.domain.context import to_safe_line
from app.domain.relation import Operation, Relation
from app.domain.timeline import compute_memory_status
from app.domain.version import Belief, Memory, Status
from app.planning.plan import ReviewStatus
from app.planning.why.story import (
    Event,
    EventKind,
    Story,
    StoryEntry,
    StoryMaterial,
    StoryReview,
    VetoedMemory,
    find_valid_moment,
    find_vetoed_memories,
)

MAX_QUOTED = 100
MAX_LISTED = 3


def build_story(material: StoryMaterial, as_of: datetime, known_at: datetime) -> Story:
    """The story as known at `known_at`; its summary says how the memory stands at `as_of`."""
    words = MemoryNames(material.texts, material.memory.id)
    proposals = [proposal.rewind_to(known_at) for proposal in material.proposals]
    told = [_build_operation_event(entry, words, material.entries) for entry in material.entries]
    operations = {entry.log_id for entry in material.entries}
    others = [entry for entry in material.apart if entry.log_id not in operations]
    apart = [
        (entry, pairs)
        for entry in (*material.entries, *others)
        if (pairs := find_vetoed_memories(entry, material.chain))
    ]
    told += [_build_veto_event(entry, pairs, words) for entry, pairs in apart]
    told += [_build_proposal_event(proposal, words) for proposal in proposals]
    decided = [p for p in proposals if p.decided_at and p.decision_log_id not in operations]
    told += [
        _build_decision_event(proposal, proposal.decided_at, words)
        for proposal in decided
        if proposal.decided_at
    ]
    waiting = any(p.status is ReviewStatus.PENDING for p in proposals)
    summary = _summarize_memory(material.memory, material.entries, words, as_of)
    return Story(
        summary + (" A review about it waits for a person." if waiting else ""),
        tuple(sorted(told, key=lambda e: e.sort_key)),
    )


@dataclass(frozen=True, slots=True)
class MemoryNames:
    """How memories are named in the story of one of them: by their text, unless it is gone."""

    texts: Mapping[UUID, str | None]
    about: UUID

    def name_memory(self, memory_id: UUID) -> str:
        if memory_id not in self.texts:
            return f"memory {memory_id}"
        text = self.texts[memory_id]
        return "an erased memory" if text is None else quote_text(text)

    def find_safe_note(self, note: str | None, about: Iterable[UUID]) -> str | None:
        """A person's note, unless it may quote what was erased."""
        return None if any(self.texts.get(i, "") is None for i in about) else note

    def name_memories(self, ids: Iterable[UUID]) -> str:
        return _join_names([self.name_memory(i) for i in ids])


def quote_text(text: str) -> str:
    """The text in quotation marks, on one line, cut where it is long."""
    line = to_safe_line(text)
    return f"“{line if len(line) <= MAX_QUOTED else line[: MAX_QUOTED - 1] + '…'}”"


def _join_names(words: Sequence[str]) -> str:
    shown = list(words[:MAX_LISTED])
    if len(words) > MAX_LISTED:
        shown.append(f"{len(words) - MAX_LISTED} more")
    return (
        shown[0]
        if len(shown) == 1
        else ", ".join(shown[:-1]) + " and " + shown[-1]
        if shown
        else ""
    )


def format_moment(time: datetime) -> str:
    """A date where the time is midnight, else the time to the minute."""
    time = time.astimezone(UTC)
    return (
        f"{time:%Y-%m-%d}"
        if (time.hour, time.minute, time.second, time.microsecond) == (0, 0, 0, 0)
        else f"{time:%Y-%m-%d %H:%M} UTC"
    )


# --- operations --------------------------------------------------------------------------------------------------------


def _build_operation_event(
    entry: StoryEntry, words: MemoryNames, entries: Sequence[StoryEntry]
) -> Event:
    clauses = [
        clause
        for clause in (_describe_operation(entry, words, entries), *_describe_effects(entry, words))
        if clause
    ]
    reason = (
        f"Decided {_describe_decider(entry)}: {entry.reasoning}"
        if entry.operation is not Operation.ERASE
        else ""
    )
    settled = entry.settled
    review = (
        f"It decided the review: {_describe_verdict(settled.after, words.find_safe_note(settled.note, entry.ids))}."
        if settled
        else ""
    )
    return Event(
        kind=EventKind(entry.operation.value),
        at=entry.at,
        valid=find_valid_moment(entry),
        sentence=" ".join(
            part
            for part in (_finish_sentence("; ".join(clauses)), _finish_sentence(reason), review)
            if part
        ),
        log_id=entry.log_id,
        review_id=settled.review_id if settled else None,
        decided_by=entry.decided_by,
        relation=entry.relation,
        confidence=entry.confidence,
        signals=entry.findings,
        memory_ids=entry.ids,
    )


def _describe_operation(
    entry: StoryEntry, words: MemoryNames, entries: Sequence[StoryEntry]
) -> str:
    """What was done, without what followed from it for others."""
    target = words.name_memory(entry.target) if entry.target else "It"
    replaced = words.name_memories(entry.replaced)
    match entry.operation:
        case Operation.ADD:
            return f"{target} was stored, {_describe_start(entry)}"
        case Operation.UPDATE:
            return (
                f"{target} replaced {replaced}, {_describe_start(entry)}"
                if replaced
                else f"{target} was stored as a successor, {_describe_start(entry)}"
            )
        case Operation.MERGE:
            return f"{replaced} became one: {target}, {_describe_start(entry)}"
        case Operation.SUPERSEDE:
            return f"{target} was declared the successor of {replaced}"
        case Operation.DELETE:
            return f"{quote_text(entry.said)} was said" if entry.said else ""
        case Operation.NOOP:
            return _describe_repetition(entry, target)
        case Operation.AMEND:
            return "; ".join(
                _describe_relationships(entry, words)
                or [f"{target} was corrected", *_describe_corrections(entry)]
            )
        case Operation.REVERT:
            return "; ".join(
                [
                    f"{_describe_reverted(entry, entries)} was undone",
                    *(f"{words.name_memory(i)} was stored" for i in entry.inserted),
                ]
            )
        case Operation.ERASE:
            return _describe_erasure(entry.ids, words.about)


def _describe_erasure(ids: Sequence[UUID], about: UUID) -> str:
    others = len(ids) - (about in ids)
    beside = f"that of {others} others" if others > 1 else "that of another memory"
    if about not in ids:
        return f"{beside} was erased".replace("that", "the text", 1)
    return f"Its text and {beside} were erased" if others else "Its text was erased"


def _describe_repetition(entry: StoryEntry, target: str) -> str:
    if not entry.said:
        return f"Nothing changed for {target}" if entry.target else "Nothing was done"
    said = quote_text(entry.said)
    return (
        f"{said} was said again"
        if said == target
        else f"{said} was said, which {target} says already"
    )


def _describe_start(entry: StoryEntry) -> str:
    """When the target is true from, told apart from when it became known."""
    start = find_valid_moment(entry)
    return (
        "true from then on"
        if start is None or start == entry.at
        else f"true from {format_moment(start)}, known since {format_moment(entry.at)}"
    )


def _describe_relationships(entry: StoryEntry, words: MemoryNames) -> list[str]:
    named = [
        (
            words.name_memory(link.source),
            words.name_memory(link.target),
            link.type.value.replace("_", " "),
        )
        for link in entry.links
    ]
    return [f"{source} was linked to {target} ({kind})" for source, target, kind in named]


def _describe_corrections(entry: StoryEntry) -> list[str]:
    return [
        f"{name} {_format_value(new)} instead of {_format_value(old)}"
        for name, (old, new) in entry.corrected.items()
    ]


def _format_value(value: object) -> str:
    if value in (None, [], {}):
        return "nothing"
    return to_safe_line(", ".join(map(str, value)) if isinstance(value, list) else str(value))[
        :MAX_QUOTED
    ]


def _describe_reverted(entry: StoryEntry, entries: Sequence[StoryEntry]) -> str:
    undone = next((e for e in entries if e.log_id == entry.reverts), None)
    return (
        f"The {undone.operation.value} of {format_moment(undone.at)}" if undone else "An operation"
    )


def _describe_effects(entry: StoryEntry, words: MemoryNames) -> list[str]:
    """What became of the versions that stood before, those left out whose end goes without saying."""
    silent = entry.replaced if entry.operation in (Operation.UPDATE, Operation.MERGE) else ()
    changes = [
        (i, entry.before[i], entry.after[i])
        for i in entry.ids
        if i in entry.before and i in entry.after
    ]
    return [
        f"{words.name_memory(i)} {effect}"
        for i, before, after in changes
        if (effect := _describe_effect(before, after, silent=i in silent))
    ]


def _describe_effect(before: Belief, after: Belief, *, silent: bool) -> str:
    if after.void != before.void:
        return (
            "was withdrawn"
            if after.void
            else f"stands again from {format_moment(after.valid_from)}"
        )
    if after.valid_from != before.valid_from:
        return f"is true from {format_moment(after.valid_from)} instead of {format_moment(before.valid_from)}"
    if silent or after.valid_until == before.valid_until:
        return ""
    if after.valid_until is None:
        return "holds on without an end"
    instead = f" instead of {format_moment(before.valid_until)}" if before.valid_until else ""
    return f"ends at {format_moment(after.valid_until)}{instead}"


_JUDGES = {
    "caller": "by the caller",
    "rule": "by rule",
    "reviewer": "by a reviewer",
    "fallback": "by nobody",
    "sweep": "by the sweep",
}


def _describe_decider(entry: StoryEntry) -> str:
    if entry.decided_by == "signals":
        return f"by signals ({_describe_surest_signal(entry)})"
    if entry.decided_by == "model":
        return f"by the model ({entry.confidence:.2f})"
    return _JUDGES.get(entry.decided_by, f"by {entry.decided_by}")


def _describe_surest_signal(entry: StoryEntry) -> str:
    named = max(entry.findings, key=lambda finding: finding.confidence, default=None)
    return f"{named.name}, {entry.confidence:.2f}" if named else f"{entry.confidence:.2f}"


def _finish_sentence(sentence: str) -> str:
    """With a capital and one full stop; nothing stays nothing."""
    bare = sentence.rstrip(". ")
    return bare[:1].upper() + bare[1:] + "." if bare else ""


# --- beside the operations ---------------------------------------------------------------------------------------------


def _build_veto_event(
    entry: StoryEntry, pairs: Sequence[VetoedMemory], words: MemoryNames
) -> Event:
    fact = (
        words.name_memory(entry.target)
        if entry.target in entry.inserted and entry.target
        else quote_text(entry.said or "")
    )
    fact = "A text that was erased" if fact == quote_text("") else fact
    apart = _join_names([f"{words.name_memory(pair.memory_id)} ({pair.veto})" for pair in pairs])
    ids = [
        *([entry.target] if entry.target in entry.inserted and entry.target else []),
        *(pair.memory_id for pair in pairs),
    ]
    return Event(
        kind=EventKind.KEPT_APART,
        at=entry.at,
        valid=entry.said_from or entry.at,
        sentence=_finish_sentence(f"{fact} was kept apart from {apart}"),
        log_id=entry.log_id,
        review_id=None,
        decided_by="signals",
        relation=Relation.NONE,
        confidence=1.0,
        signals=(),
        memory_ids=tuple(dict.fromkeys(ids)),
    )


def _build_proposal_event(proposal: StoryReview, words: MemoryNames) -> Event:
    fact = (
        words.name_memory(proposal.memory_id)
        if proposal.memory_id
        else quote_text(proposal.said)
        if proposal.said
        else "a fact"
    )
    about = (
        f" {_PROPOSED.get(proposal.relation.value, 'changes')} {words.name_memories(proposal.about)}"
        if proposal.about
        else " changes anything"
    )
    reason = f": {proposal.reasoning}" if proposal.reasoning else ""
    sentence = (
        f"Whether {fact}{about} was left to a person ({proposal.source.replace('_', ' ')}){reason}"
    )
    return _build_review_event(
        proposal, EventKind.PROPOSED, proposal.at, sentence, proposal.log_id, proposal.decided_by
    )


_PROPOSED = {
    "UPDATE": "replaces",
    "CONTRADICTION": "replaces",
    "RETRACTION": "ends",
    "COMPLEMENT": "completes",
}


def _build_decision_event(proposal: StoryReview, at: datetime, words: MemoryNames) -> Event:
    about = f" about {words.name_memories(proposal.about)}" if proposal.about else ""
    was = "" if proposal.status is ReviewStatus.EXPIRED else "was "
    sentence = f"The review{about} {was}{_describe_verdict(proposal.status, words.find_safe_note(proposal.note, proposal.ids))}"
    return _build_review_event(
        proposal, EventKind.DECIDED, at, sentence, proposal.decision_log_id, proposal.settled_by
    )


def _describe_verdict(status: ReviewStatus, note: str | None) -> str:
    return status.value + (f" ({quote_text(note)})" if note else "")


def _build_review_event(
    proposal: StoryReview,
    kind: EventKind,
    at: datetime,
    sentence: str,
    log_id: UUID | None,
    by: str | None,
) -> Event:
    return Event(
        kind=kind,
        at=at,
        valid=None,
        sentence=_finish_sentence(sentence),
        log_id=log_id,
        review_id=proposal.review_id,
        decided_by=by,
        relation=proposal.relation,
        confidence=proposal.confidence,
        signals=proposal.findings,
        memory_ids=proposal.ids,
    )


# --- how it stands -----------------------------------------------------------------------------------------------------


def _summarize_memory(
    memory: Memory, entries: Sequence[StoryEntry], words: MemoryNames, as_of: datetime
) -> str:
    """How the memory stands, and what made it so: what it replaced while it holds, what ended it afterwards."""
    status, belief = compute_memory_status(memory, as_of), memory.belief
    known = (
        "known since then"
        if memory.created_at == belief.valid_from
        else f"known since {format_moment(memory.created_at)}"
    )
    start, end = (
        format_moment(belief.valid_from),
        format_moment(belief.valid_until) if belief.valid_until else None,
    )
    origin = next((e for e in entries if memory.id in e.inserted), None)
    ending = next(
        (e for e in reversed(entries) if memory.id in e.before and _changes_end(e, memory.id)), None
    )
    match status:
        case Status.CURRENT | Status.SCHEDULED:
            holds = "Holds since" if status is Status.CURRENT else "Will hold from"
            return f"{holds} {start}{f' until {end}' if end else ''}, {known}{_describe_origin(origin, words)}."
        case Status.SUPERSEDED | Status.MERGED:
            how = "became part of" if status is Status.MERGED else "replaced by"
            by = words.name_memory(belief.superseded_by) if belief.superseded_by else "another"
            return f"Held from {start} to {end}, {known}; {how} {by}{_describe_decision(ending)}."
        case Status.RETRACTED:
            return f"Held from {start} to {end}, {known}; retracted{_describe_decision(ending)}."
        case Status.EXPIRED:
            return f"Held from {start} to its stated end {end}, {known}."
        case Status.REVERTED:
            return f"Was withdrawn{_describe_decision(ending)}, and counts as never true; it was known since {format_moment(memory.created_at)}."
        case Status.ERASED:
            until = f" to {end}" if end else " on"
            return f"Its text was erased; its place in time, from {start}{until}, is kept."


def _changes_end(entry: StoryEntry, memory_id: UUID) -> bool:
    before, after = entry.before[memory_id], entry.after.get(memory_id)
    return after is not None and (after.void, after.valid_until) != (
        before.void,
        before.valid_until,
    )


def _describe_origin(entry: StoryEntry | None, words: MemoryNames) -> str:
    if entry is None or not entry.replaced:
        return ""
    verb = "unites" if entry.operation is Operation.MERGE else "replaced"
    return f"; {verb} {words.name_memories(entry.replaced)}{_describe_decision(entry)}"


def _describe_decision(entry: StoryEntry | None) -> str:
    return f" on {format_moment(entry.at)}, decided {_describe_decider(entry)}" if entry else ""
