"""The sentences of a story: one for each operation, opinion, veto and review."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import assert_never
from uuid import UUID

from app.domain.context import to_safe_line
from app.domain.relation import Judge, Operation, Relation
from app.domain.version import Belief
from app.planning.opinions import JudgedMemory, Reason, describe_judged_memory
from app.planning.plan import ReviewStatus
from app.planning.why.names import (
    MAX_QUOTED,
    MemoryNames,
    format_moment,
    join_names,
    quote_text,
)
from app.planning.why.story import (
    Event,
    EventKind,
    Story,
    StoryEntry,
    StoryMaterial,
    StoryReview,
    find_judged_memories,
    find_valid_moment,
)
from app.planning.why.summary import describe_decider, summarize_memory


def build_story(material: StoryMaterial, as_of: datetime, known_at: datetime) -> Story:
    """Return the story as known at `known_at`; its summary is about the state at `as_of`."""
    names = MemoryNames(material.texts, material.memory.id)
    proposals = [proposal.rewind_to(known_at) for proposal in material.proposals]
    events = [_build_operation_event(entry, names, material.entries) for entry in material.entries]
    events += _build_opinion_events(material, names)
    events += [_build_proposal_event(proposal, names) for proposal in proposals]
    events += _build_decision_events(material, proposals, names)
    summary = summarize_memory(material.memory, material.entries, names, as_of)
    if any(proposal.status is ReviewStatus.PENDING for proposal in proposals):
        summary += " A review about it waits for a person."
    return Story(summary, tuple(sorted(events, key=lambda event: event.sort_key)))


# --- operations --------------------------------------------------------------------------------


def _build_operation_event(
    entry: StoryEntry, names: MemoryNames, entries: Sequence[StoryEntry]
) -> Event:
    settled = entry.settled
    clauses = [_describe_operation(entry, names, entries), *_describe_effects(entry, names)]
    sentences = [_finish_sentence("; ".join(filter(None, clauses)))]
    if entry.operation is not Operation.ERASE:
        sentences.append(_finish_sentence(f"Decided {describe_decider(entry)}: {entry.reasoning}"))
    changed = set(entry.ids)
    for judged in entry.judged:
        # The operation changed the memory though a judge saw no change.
        if judged.memory_id in changed and judged.is_disputed and judged.reason is None:
            sentences.append(describe_judged_memory(judged))
    if settled:
        note = names.find_safe_note(settled.note, entry.ids)
        sentences.append(f"It decided the review: {_describe_verdict(settled.after, note)}.")
    return Event(
        kind=EventKind(entry.operation.value),
        at=entry.at,
        valid=find_valid_moment(entry),
        sentence=" ".join(filter(None, sentences)),
        log_id=entry.log_id,
        review_id=settled.review_id if settled else None,
        decided_by=entry.decided_by,
        relation=entry.relation,
        confidence=entry.confidence,
        signals=entry.findings,
        memory_ids=entry.ids,
        actor=entry.actor,
    )


def _describe_operation(
    entry: StoryEntry, names: MemoryNames, entries: Sequence[StoryEntry]
) -> str:
    """Return a clause for the operation itself, without its effects on other versions."""
    target = names.name_memory(entry.target) if entry.target else "It"
    replaced = names.name_memories(entry.replaced)
    match entry.operation:
        case Operation.ADD:
            return f"{target} was stored, {_describe_start(entry)}"
        case Operation.UPDATE:
            done = f"replaced {replaced}" if replaced else "was stored as a successor"
            return f"{target} {done}, {_describe_start(entry)}"
        case Operation.MERGE:
            return f"{replaced} became one: {target}, {_describe_start(entry)}"
        case Operation.SUPERSEDE:
            return f"{target} was declared the successor of {replaced}"
        case Operation.DELETE:
            return f"{quote_text(entry.incoming_text)} was said" if entry.incoming_text else ""
        case Operation.NOOP:
            return _describe_repetition(entry, target)
        case Operation.AMEND if entry.links:
            return _describe_relationships(entry, names)
        case Operation.AMEND:
            return "; ".join([f"{target} was corrected", *_list_corrections(entry)])
        case Operation.REVERT:
            return _describe_revert(entry, names, entries)
        case Operation.ERASE:
            return _describe_erasure(entry.ids, names.about)
        case _:
            assert_never(entry.operation)


def _describe_start(entry: StoryEntry) -> str:
    """Return since when the target is true, and known if that differs."""
    start = find_valid_moment(entry)
    if start is None or start == entry.at:
        return "true from then on"
    return f"true from {format_moment(start)}, known since {format_moment(entry.at)}"


def _describe_repetition(entry: StoryEntry, target: str) -> str:
    if not entry.incoming_text:
        return f"Nothing changed for {target}" if entry.target else "Nothing was done"
    text = quote_text(entry.incoming_text)
    repetition = f"{text} was said, which {target} says already"
    if text == target:
        repetition = f"{text} was said again"
    return "; ".join([repetition, *_list_corrections(entry)])


def _list_corrections(entry: StoryEntry) -> list[str]:
    return [
        f"{name} {_format_value(new)} instead of {_format_value(old)}"
        for name, (old, new) in entry.corrected.items()
    ]


def _describe_relationships(entry: StoryEntry, names: MemoryNames) -> str:
    clauses = []
    for link in entry.links:
        source, target = names.name_memory(link.source), names.name_memory(link.target)
        link_type = link.type.value.replace("_", " ")
        clauses.append(f"{source} was linked to {target} ({link_type})")
    return "; ".join(clauses)


def _format_value(value: object) -> str:
    if value in (None, [], {}):
        return "nothing"
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return to_safe_line(text)[:MAX_QUOTED]


def _describe_revert(entry: StoryEntry, names: MemoryNames, entries: Sequence[StoryEntry]) -> str:
    undone = next((other for other in entries if other.log_id == entry.reverts), None)
    subject = "An operation"
    if undone:
        subject = f"The {undone.operation.value} of {format_moment(undone.at)}"
    stored = [f"{names.name_memory(memory_id)} was stored" for memory_id in entry.inserted]
    return "; ".join([f"{subject} was undone", *stored])


def _describe_erasure(ids: Sequence[UUID], about: UUID) -> str:
    others = len(ids) - (about in ids)
    of_others = f"of {others} others" if others > 1 else "of another memory"
    if about not in ids:
        return f"The text {of_others} was erased"
    return f"Its text and that {of_others} were erased" if others else "Its text was erased"


# --- effects of operations ---------------------------------------------------------------------


def _describe_effects(entry: StoryEntry, names: MemoryNames) -> list[str]:
    """Return a clause for each version that was stored before and changed.

    The end of a replaced version goes without saying.
    """
    is_silent = entry.operation in (Operation.UPDATE, Operation.MERGE)
    silent = entry.replaced if is_silent else ()
    clauses = []
    for memory_id in entry.ids:
        before, after = entry.before.get(memory_id), entry.after.get(memory_id)
        if before is None or after is None:
            continue
        effect = _describe_effect(before, after, silent=memory_id in silent)
        if effect:
            clauses.append(f"{names.name_memory(memory_id)} {effect}")
    return clauses


def _describe_effect(before: Belief, after: Belief, *, silent: bool) -> str:
    start = format_moment(after.valid_from)
    if after.void != before.void:
        return "was withdrawn" if after.void else f"stands again from {start}"
    if after.valid_from != before.valid_from:
        return f"is true from {start} instead of {format_moment(before.valid_from)}"
    if silent or after.valid_until == before.valid_until:
        return ""
    if after.valid_until is None:
        return "holds on without an end"
    instead = f" instead of {format_moment(before.valid_until)}" if before.valid_until else ""
    return f"ends at {format_moment(after.valid_until)}{instead}"


def _finish_sentence(sentence: str) -> str:
    """Return the sentence with a capital and one full stop; an empty one stays empty."""
    bare = sentence.rstrip(". ")
    return bare[:1].upper() + bare[1:] + "." if bare else ""


# --- opinions and vetoes -----------------------------------------------------------------------


def _build_opinion_events(material: StoryMaterial, names: MemoryNames) -> list[Event]:
    """Return the events for operations with vetoes, or with a proposal that nobody carried out.

    What was left to a person is told of the review.
    """
    entries = {entry.log_id: entry for entry in material.judging_entries}
    entries |= {entry.log_id: entry for entry in material.entries}
    events = []
    for entry in entries.values():
        judged = find_judged_memories(entry, material.chain)
        vetoed = [each for each in judged if each.vetoes]
        if vetoed:
            events.append(_build_veto_event(entry, vetoed, names))
        for each in judged:
            if not each.vetoes and each.reason not in (None, Reason.IN_REVIEW, Reason.CAP):
                events.append(_build_not_done_event(entry, each, names))
    return events


def _build_veto_event(
    entry: StoryEntry, vetoed: Sequence[JudgedMemory], names: MemoryNames
) -> Event:
    fact = _name_incoming_fact(entry, names)
    others = [f"{names.name_memory(each.memory_id)} ({each.vetoes[0]})" for each in vetoed]
    return Event(
        kind=EventKind.KEPT_APART,
        at=entry.at,
        valid=entry.incoming_from or entry.at,
        sentence=_finish_sentence(f"{fact} was kept apart from {join_names(others)}"),
        log_id=entry.log_id,
        review_id=None,
        decided_by="signals",
        relation=Relation.NONE,
        confidence=1.0,
        signals=(),
        memory_ids=_list_judged_ids(entry, vetoed),
        actor=entry.actor,
    )


def _build_not_done_event(entry: StoryEntry, judged: JudgedMemory, names: MemoryNames) -> Event:
    """Return the event of a change of the memory that a judge saw, and that was not made."""
    proposed = judged.proposed or Relation.NONE
    fact, memory = _name_incoming_fact(entry, names), names.name_memory(judged.memory_id)
    seen = [each.confidence for each in judged.opinions if each.relation is proposed]
    sentence = f"{fact} was stored beside {memory}. {describe_judged_memory(judged)}"
    if not entry.inserted:
        sentence = f"{fact} was compared with {memory}. {describe_judged_memory(judged)}"
    return Event(
        kind=EventKind.NOT_DONE,
        at=entry.at,
        valid=entry.incoming_from or entry.at,
        sentence=_finish_sentence(sentence),
        log_id=entry.log_id,
        review_id=None,
        decided_by=entry.decided_by,
        relation=proposed,
        confidence=max(seen, default=None),
        signals=(),
        memory_ids=_list_judged_ids(entry, [judged]),
        actor=entry.actor,
    )


def _list_judged_ids(entry: StoryEntry, judged: Sequence[JudgedMemory]) -> tuple[UUID, ...]:
    ids = [entry.inserted_target] if entry.inserted_target else []
    ids += [each.memory_id for each in judged]
    return tuple(dict.fromkeys(ids))


def _name_incoming_fact(entry: StoryEntry, names: MemoryNames) -> str:
    if entry.inserted_target:
        return names.name_memory(entry.inserted_target)
    if entry.incoming_text:
        return quote_text(entry.incoming_text)
    if entry.decided_by == Judge.SWEEP and entry.target:
        return names.name_memory(entry.target)
    return "A text that was erased"


# --- reviews -----------------------------------------------------------------------------------


def _build_proposal_event(proposal: StoryReview, names: MemoryNames) -> Event:
    change = "changes anything"
    if proposal.about:
        verb = proposal.relation.effect.verb
        change = f"{verb} {names.name_memories(proposal.about)}"
    source = proposal.source.replace("_", " ")
    reason = f": {proposal.reasoning}" if proposal.reasoning else ""
    fact = quote_text(proposal.incoming_text) if proposal.incoming_text else "a fact"
    if proposal.memory_id:
        fact = names.name_memory(proposal.memory_id)
    sentences = [
        _finish_sentence(f"Whether {fact} {change} was left to a person ({source}){reason}")
    ]
    for judged in proposal.judged:
        if judged.is_disputed:
            sentences.append(describe_judged_memory(replace(judged, reason=Reason.IN_REVIEW)))
    return Event(
        kind=EventKind.PROPOSED,
        at=proposal.at,
        valid=None,
        sentence=" ".join(sentences),
        log_id=proposal.log_id,
        review_id=proposal.review_id,
        decided_by=proposal.decided_by,
        relation=proposal.relation,
        confidence=proposal.confidence,
        signals=proposal.findings,
        memory_ids=proposal.ids,
    )


def _build_decision_events(
    material: StoryMaterial, proposals: Sequence[StoryReview], names: MemoryNames
) -> list[Event]:
    """Return an event for each decided review that no operation of the story reports."""
    operations = {entry.log_id for entry in material.entries}
    events = []
    for proposal in proposals:
        if proposal.decided_at is None or proposal.decision_log_id in operations:
            continue
        about = f" about {names.name_memories(proposal.about)}" if proposal.about else ""
        auxiliary = "" if proposal.status is ReviewStatus.EXPIRED else "was "
        note = names.find_safe_note(proposal.note, proposal.ids)
        sentence = f"The review{about} {auxiliary}{_describe_verdict(proposal.status, note)}"
        event = Event(
            kind=EventKind.DECIDED,
            at=proposal.decided_at,
            valid=None,
            sentence=_finish_sentence(sentence),
            log_id=proposal.decision_log_id,
            review_id=proposal.review_id,
            decided_by=proposal.settled_by,
            relation=proposal.relation,
            confidence=proposal.confidence,
            signals=proposal.findings,
            memory_ids=proposal.ids,
            actor=proposal.settling_actor,
        )
        events.append(event)
    return events


def _describe_verdict(status: ReviewStatus, note: str | None) -> str:
    return f"{status.value} ({quote_text(note)})" if note else status.value
