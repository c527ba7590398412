"""The opinions of judges on one memory, and what was not done of what they proposed.

The sentences name signals and judges but quote no text, so that they outlive an erasure.
"""

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from uuid import UUID

from app.domain.relation import LOCAL_FINDING, Finding, Judge, Judgment, Opinion, Relation


class Reason(StrEnum):
    """The reason why something that a judge proposed was not done."""

    GATE_CLOSED = "gate_closed"  # the other judges saw too little for the model to be asked
    MODEL_NONE = "model_none"  # the model saw no change
    OBJECTED = "objected"  # the local judge saw no change
    VETO = "veto"  # the two cannot be about the same thing
    UNSURE = "unsure"  # nobody was sure enough to act or to ask
    UNFIT = "unfit"  # the fact is about another entity or time than the memory
    SETTING = "setting"  # the settings forbid the operation
    CAP = "cap"  # judges have ended as many memories as they may; a review waits
    IN_REVIEW = "held"  # a review waits
    MOVED = "moved"  # the memory changed while it was judged
    FAILED = "failed"  # the model gave no answer


OVERRULING = (Reason.GATE_CLOSED, Reason.MODEL_NONE, Reason.OBJECTED, Reason.VETO)
"""The reasons by which one judge's opinion lost against another's."""


@dataclass(frozen=True, slots=True)
class NotDone:
    """A relation that some judge saw to the judged memory, and that was not carried out."""

    judgment: Judgment
    relation: Relation
    reason: Reason

    @property
    def memory_id(self) -> UUID:
        return self.judgment.memory_id


@dataclass(frozen=True, slots=True)
class JudgedMemory:
    """A memory in which a judge saw a change or a repetition, or from which a veto kept the fact.

    `signals` are the names of those that fired. `proposed` and `reason` are None if what was seen
    was done. Operations from before opinions were logged have the vetoes alone.
    """

    memory_id: UUID
    opinions: tuple[Opinion, ...] = ()
    signals: tuple[str, ...] = ()
    vetoes: tuple[str, ...] = ()
    proposed: Relation | None = None
    reason: Reason | None = None

    @property
    def is_disputed(self) -> bool:
        """Return True if one judge saw a change, and another none."""
        seen = {opinion.relation.effect.changes_stored for opinion in self.opinions}
        return len(seen) > 1


_MAX_REASONING = 200


def build_judged_memory(judgment: Judgment, not_done: NotDone | None) -> JudgedMemory:
    """Return the opinions on the memory of a judgment; each with a short reasoning."""
    opinions: list[Opinion] = []
    for opinion in judgment.opinions or _list_own_opinions(judgment):
        reasoning = opinion.reasoning
        if len(reasoning) > _MAX_REASONING:
            reasoning = reasoning[: _MAX_REASONING - 1] + "…"
        opinions.append(replace(opinion, reasoning=reasoning))
    return JudgedMemory(
        memory_id=judgment.memory_id,
        opinions=tuple(opinions),
        signals=tuple(dict.fromkeys(finding.name for finding in list_signals(judgment))),
        vetoes=judgment.vetoes[:1],
        proposed=not_done.relation if not_done else None,
        reason=not_done.reason if not_done else None,
    )


def _list_own_opinions(judgment: Judgment) -> list[Opinion]:
    """Return the opinions that a judgment without any shows: of its surest signal, and its own.

    If signals saw a change, the confidence of their judgment is that of the change.
    """
    opinions: list[Opinion] = []
    if signals := list_signals(judgment):
        best = max(signals, key=lambda finding: finding.confidence)
        reasoning = f"{best.name}: {best.explanation}"
        opinions.append(Opinion(Judge.SIGNALS, best.relation, best.confidence, reasoning))
    if judgment.decided_by is not Judge.SIGNALS or not (opinions or judgment.vetoes):
        opinions.append(
            Opinion(judgment.decided_by, judgment.relation, judgment.confidence, judgment.reasoning)
        )
    return opinions


def list_signals(judgment: Judgment) -> list[Finding]:
    """Return the findings that saw a change or a repetition, without that of the local judge."""
    return [
        finding
        for finding in judgment.findings
        if finding.relation.effect.changes_stored and finding.name != LOCAL_FINDING
    ]


def find_proposed(judgment: Judgment) -> Relation | None:
    """Return the surest change or repetition that a judge saw; None if all saw none."""
    if judgment.relation.effect.changes_stored:
        return judgment.relation
    changes = [(each.confidence, each.relation) for each in list_signals(judgment)]
    for opinion in judgment.opinions:
        if opinion.relation.effect.changes_stored:
            changes.append((opinion.confidence, opinion.relation))
    return max(changes, key=lambda pair: pair[0])[1] if changes else None


# --- sentences ---------------------------------------------------------------------------------

_NAMES = {
    Relation.DUPLICATE: "a repetition",
    Relation.UPDATE: "an update",
    Relation.CONTRADICTION: "a contradiction",
    Relation.RETRACTION: "an end",
    Relation.COMPLEMENT: "a complement",
}

_OUTCOMES = {
    Reason.GATE_CLOSED: "nothing was changed, and the model was not asked",
    Reason.MODEL_NONE: "nothing was changed",
    Reason.OBJECTED: "nothing was changed",
    Reason.VETO: "kept apart",
    Reason.UNSURE: "not sure enough to act or to ask",
    Reason.UNFIT: "not done, because the fact is about another entity or time than the memory",
    Reason.SETTING: "not done, because a setting forbids it",
    Reason.CAP: "asked, because judges have ended as many memories as they may",
    Reason.IN_REVIEW: "asked",
    Reason.MOVED: "not done, because the memory changed while it was judged",
    Reason.FAILED: "not done, because the model gave no answer",
}


def describe_judged_memory(judged: JudgedMemory) -> str:
    """Return a sentence: what each judge saw, and what came of it."""
    phrases: list[str] = []
    for opinion in judged.opinions:
        seen = _NAMES.get(opinion.relation, "none")
        judge = f"the {opinion.decided_by.value}"
        if opinion.decided_by is Judge.LOCAL:
            judge = "the local judge"
        elif opinion.decided_by is Judge.SIGNALS:
            signals = " and ".join(judged.signals)
            judge = f"the signal {signals}" if signals else "signals"
        phrases.append(f"{judge} saw {seen} ({format_confidence(opinion.confidence)})")
    outcome = "done" if judged.reason is None else _OUTCOMES[judged.reason]
    if not phrases:
        phrases = ["a veto was found"]
    sentence = f"{', '.join(phrases)}: {outcome}."
    return sentence[:1].upper() + sentence[1:]


def format_confidence(confidence: float) -> str:
    """Return a confidence cut to three digits, and without the zero before the point."""
    cut = math.floor(confidence * 1000) / 1000
    return f"{cut:.1f}" if cut in (0, 1) else f"{cut:g}".removeprefix("0")
