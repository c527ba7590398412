"""Judges an incoming statement against stored candidates: veto first, then reasons, then how sure
they make us.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

from app.classification.signals.antonyms import find_antonyms
from app.classification.signals.correction import find_correction
from app.classification.signals.duplicate import find_duplicate
from app.classification.signals.endings import find_ending
from app.classification.signals.explicit_change import find_changes, find_explicit_change
from app.classification.signals.finding import ACT_AT
from app.classification.signals.frames import find_frames
from app.classification.signals.identity import find_other_owner, find_vetoes
from app.classification.signals.negation import find_negation
from app.classification.signals.pair import Pair
from app.classification.signals.reading import parse_text
from app.classification.signals.relation import SignalJudgment, Statement
from app.classification.signals.renames import find_rename
from app.classification.signals.retraction import count_leftover, find_retraction
from app.classification.signals.single_valued import find_single_valued_change
from app.classification.signals.speech import find_speech
from app.classification.signals.stays import find_stay
from app.classification.signals.versions import find_version_change
from app.domain.corrections import is_correction
from app.domain.relation import Finding, Relation

Signal = Callable[[Pair], Iterator[Finding]]

SIGNALS: tuple[Signal, ...] = (
    find_duplicate,
    find_retraction,
    find_explicit_change,
    find_correction,
    find_single_valued_change,
    find_stay,
    find_version_change,
    find_antonyms,
    find_negation,
    find_rename,
)
FLAG_AT = 0.3
MANY_SHARED = 3
_MARKERS_OF_TIME = frozenset(
    "now currently recently begin switch move change lately nowadays anymore longer".split()
)
_CLEARLY_LATER = timedelta(hours=24)


def prepare_text(text: str) -> None:
    """Read all of a text that the signals will ask of it.

    Readings are cached, so this only moves the work to an earlier moment.
    """
    reading = parse_text(text)
    find_frames(reading)
    find_changes(text)
    find_ending(text, None)
    is_correction(text)
    _ = (reading.items, reading.folded, reading.is_question)


def judge_candidates(incoming: Statement, candidates: Sequence[Statement]) -> list[SignalJudgment]:
    """One judgment per candidate, in order."""
    pairs = [Pair(parse_text(incoming.text), parse_text(c.text), incoming, c) for c in candidates]
    judged = [_judge_pair(i, pair) for i, pair in enumerate(pairs)]
    for place, reason in _find_spared(judged, pairs).items():
        findings = judged[place].findings
        judged[place] = SignalJudgment(
            place, Relation.OVERLAP, 0.5, reason, findings, vetoes=(reason,)
        )
    return judged


def has_reason(incoming: str, stored: str) -> bool:
    """Return True if signals find anything, whatever keeps the texts apart, or words are shared.

    Reference 001 compares from three words of content in common.
    """
    pair = Pair(parse_text(incoming), parse_text(stored), Statement(incoming), Statement(stored))
    if len(pair.shared) >= MANY_SHARED:
        return True
    return any(True for signal in SIGNALS for _ in signal(pair))


def _judge_pair(place: int, pair: Pair) -> SignalJudgment:
    vetoed = tuple(find_vetoes(pair))
    if vetoed:
        return SignalJudgment(
            place, Relation.NONE, 1.0, f"kept apart: {vetoed[0]}", vetoes=vetoed, akin=pair.akin
        )
    other_owner = find_other_owner(pair)
    if other_owner:
        return SignalJudgment(place, Relation.NONE, 1.0, other_owner, akin=pair.akin)
    if pair.new.is_question or pair.old.is_question:
        return SignalJudgment(place, Relation.NONE, 1.0, "a question states nothing")
    if find_speech(pair.new.text) or find_speech(pair.old.text):
        return SignalJudgment(place, Relation.NONE, 1.0, "quoted speech states nothing")
    findings = tuple(finding for signal in SIGNALS for finding in signal(pair))
    if not findings:
        relation = Relation.OVERLAP if pair.shared else Relation.NONE
        return SignalJudgment(place, relation, 0.5, "no reason to change anything")
    # The same words change nothing; what does not change in the world is flagged, whatever else
    # speaks for a change.
    ruling = tuple(f for f in findings if f.name in ("same_text", "fixed_attribute"))
    return _weigh_findings(place, pair, ruling or findings)


def _weigh_findings(place: int, pair: Pair, findings: tuple[Finding, ...]) -> SignalJudgment:
    best = max(findings, key=lambda f: f.confidence)
    ends_stored = best.relation.effect.ends_stored
    support = _find_time_support(pair) if ends_stored else ""
    reasoning = f"{best.name}: {best.explanation}" + (f" ({support})" if support else "")
    if best.confidence < FLAG_AT:
        reasoning = f"no reason to change anything; {reasoning} proves too little"
        return SignalJudgment(place, Relation.OVERLAP, 0.5, reasoning, findings)
    is_sacred = pair.stored.kind == "constraint" and ends_stored
    flag = is_sacred or best.confidence < ACT_AT
    return SignalJudgment(place, best.relation, best.confidence, reasoning, findings, flag=flag)


def _find_time_support(pair: Pair) -> str:
    """Return the reason why time speaks for the incoming statement, or "". It is none alone."""
    marked = sorted(_MARKERS_OF_TIME & pair.new.words - pair.old.words)
    at, before = pair.incoming.at, pair.stored.at
    if marked:
        return f'says "{marked[0]}"'
    if at and before and at - before > _CLEARLY_LATER:
        return f"{(at - before).days} days later"
    return ""


def _find_spared(judged: Sequence[SignalJudgment], pairs: Sequence[Pair]) -> dict[int, str]:
    """Return the places of the candidates that are not meant, because others are, and why."""
    retracted = _list_places(judged, "retraction")
    denied = _list_places(judged, "negation")
    renamed = _list_places(judged, "rename:")
    # A retraction ends what it matches most closely; what it matches less closely stays.
    leftover = {place: count_leftover(pairs[place]) for place in retracted}
    nearest = min(leftover.values(), default=0)
    spared = [place for place in retracted if leftover[place] > nearest]
    # If both a fact and a special case of it are denied, the fact itself is meant.
    contents = {place: pairs[place].old.items for place in denied}
    for place in denied:
        if any(content < contents[place] for content in contents.values()):
            spared.append(place)
    reasons = dict.fromkeys(spared, "another candidate is closer to what is denied")
    if len(renamed) > 1:  # it is not plain who is meant
        reasons |= dict.fromkeys(renamed, "several bear the name")
    return reasons


def _list_places(judged: Sequence[SignalJudgment], reason: str) -> list[int]:
    """Return the places of the candidates whose reason begins so."""
    return [j.candidate for j in judged if j.findings and j.reasoning.startswith(reason)]
