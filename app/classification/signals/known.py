"""Frames of attributes whose wording is listed in `data/attributes.toml`."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from app.classification.signals import patterns
from app.classification.signals.frame import Frame, Value, find_attribute_value
from app.classification.signals.reading import Clause
from app.classification.signals.skeleton import collect_referents
from app.classification.signals.token import Token
from app.domain.dates.names import WEEKDAY_NAMES

_PAST_BE = frozenset(("was", "were"))
_TIMES = frozenset(
    (
        "week",
        "month",
        "year",
        "quarter",
        "spring",
        "summer",
        "autumn",
        "fall",
        "winter",
        *WEEKDAY_NAMES,
    )
)
_SPEAKER = frozenset(("i",))


def find_known_frame(clause: Clause, bones: Sequence[Token]) -> Frame | None:
    """The frame of the longest pattern that fits the clause."""
    norms = [t.norm for t in bones]
    for pattern in patterns.find_patterns(norms):
        places = patterns.find_slot_spans(pattern, norms)
        if places is None or _is_past(pattern, bones, clause):
            continue
        phrases = {slot: bones[start:end] for slot, (start, end) in places.items()}
        frame = _fill_pattern(pattern, clause, phrases)
        if frame:
            return frame
    return None


def _fill_pattern(
    pattern: patterns.Pattern, clause: Clause, phrases: Mapping[str, Sequence[Token]]
) -> Frame | None:
    attribute, constant = pattern.attribute, pattern.constant
    subject = collect_referents(phrases["S"]) if "S" in phrases else _SPEAKER
    value: Value | None
    if constant:
        value = Value(frozenset((constant,)), "constant", frozenset(), constant)
    else:
        value = find_attribute_value(phrases["V"], attribute.kinds)
    if not subject or value is None:
        return None
    is_to_come = attribute.tensed and _is_to_come(pattern, clause)
    return Frame(
        attribute.name,
        subject,
        value.items,
        value.kind,
        value.rest | collect_referents(phrases.get("O", ())),
        value.spoken,
        clause.negated and constant is None,
        is_to_come or (clause.modal and not pattern.literals & {"should", "can"}),
        pattern.change,
        attribute.fixed,
    )


def _is_past(pattern: patterns.Pattern, bones: Sequence[Token], clause: Clause) -> bool:
    """Return True if a state is told as gone by ("lived in"); "has lived in" goes on."""
    if pattern.change or not pattern.attribute.tensed:
        return False
    if any(t.norm == "have" for t in clause.tokens):
        return False
    verbs = {t.text.lower() for t in bones if t.norm in pattern.literals and t.kind == "word"}
    if "be" in pattern.literals:
        return bool(_PAST_BE & verbs)
    return any(v.endswith("ed") for v in verbs) or "sat" in verbs


def _is_to_come(pattern: patterns.Pattern, clause: Clause) -> bool:
    """Return True if a change is announced rather than told: "will move", "is moving", "starts next
    week".
    """
    norms = {t.norm for t in clause.tokens}
    pairs = list(pairwise(clause.tokens))
    if not norms.isdisjoint(("now", "already")):
        return False
    if not norms.isdisjoint(("will", "shall", "tomorrow")):
        return True
    if any(a.norm == "next" and b.norm in _TIMES for a, b in pairs):
        return True
    return pattern.change and any(
        a.norm == "be" and b.norm in pattern.literals and b.text.endswith("ing") for a, b in pairs
    )
