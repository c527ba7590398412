"""Frames of attributes whose wording is listed in `data/attributes.toml`."""

from collections.abc import Sequence
from itertools import pairwise

from app.classification.signals import patterns
from app.classification.signals.frame import Frame, Value, find_attribute_value
from app.classification.signals.reading import Clause
from app.classification.signals.skeleton import collect_referents
from app.classification.signals.token import Token
from app.classification.signals.values import WEEKDAYS

_PAST_BE = frozenset(("was", "were"))
_TIMES = frozenset(
    ("week", "month", "year", "quarter", "spring", "summer", "autumn", "fall", "winter", *WEEKDAYS)
)
_SPEAKER = frozenset(("i",))


def find_known_frame(clause: Clause, bones: Sequence[Token]) -> Frame | None:
    """The frame of the longest pattern that fits the clause."""
    norms = [t.norm for t in bones]
    for pattern in patterns.find_patterns(norms):
        frame = _fill_pattern(pattern, clause, bones, norms)
        if frame:
            return frame
    return None


def _fill_pattern(
    pattern: patterns.Pattern, clause: Clause, bones: Sequence[Token], norms: Sequence[str]
) -> Frame | None:
    places = patterns.find_slot_spans(pattern, norms)
    if places is None or _is_past(pattern, bones, clause):
        return None
    phrases = {slot: bones[start:end] for slot, (start, end) in places.items()}
    subject = collect_referents(phrases["S"]) if "S" in phrases else _SPEAKER
    value = (
        _make_constant_value(pattern.constant)
        if pattern.constant
        else find_attribute_value(phrases["V"], pattern.attribute.kinds)
    )
    if not subject or value is None:
        return None
    return _make_known_frame(
        pattern, clause, subject, value, collect_referents(phrases.get("O", ()))
    )


def _make_constant_value(word: str) -> Value:
    return Value(frozenset((word,)), "constant", frozenset(), word)


def _make_known_frame(
    pattern: patterns.Pattern,
    clause: Clause,
    subject: frozenset[str],
    value: Value,
    other: frozenset[str],
) -> Frame:
    negated = clause.negated and pattern.constant is None
    modal = (clause.modal and not pattern.literals & {"should", "can"}) or (
        pattern.attribute.tensed and _is_to_come(pattern, clause)
    )
    rest = value.rest | other
    attribute = pattern.attribute
    return Frame(
        attribute.name,
        subject,
        value.items,
        value.kind,
        rest,
        value.spoken,
        negated,
        modal,
        pattern.change,
        attribute.fixed,
    )


def _is_past(pattern: patterns.Pattern, bones: Sequence[Token], clause: Clause) -> bool:
    """Return True if a state is told as gone by ("lived in"); "has lived in" goes on."""
    if (
        pattern.change
        or not pattern.attribute.tensed
        or any(t.norm == "have" for t in clause.tokens)
    ):
        return False
    verbs = {t.text.lower() for t in bones if t.norm in pattern.literals and t.kind == "word"}
    if "be" in pattern.literals:
        return bool(_PAST_BE & verbs)
    return any(v.endswith("ed") for v in verbs) or "sat" in verbs


def _is_to_come(pattern: patterns.Pattern, clause: Clause) -> bool:
    """Return True if a change is announced rather than told: "will move", "is moving", "starts next
    week".
    """
    norms = [t.norm for t in clause.tokens]
    if "now" in norms or "already" in norms:
        return False
    if (
        "will" in norms
        or "shall" in norms
        or "tomorrow" in norms
        or ("next" in norms and _names_time(norms))
    ):
        return True
    return pattern.change and any(
        a.norm == "be" and b.norm in pattern.literals and b.text.endswith("ing")
        for a, b in pairwise(clause.tokens)
    )


def _names_time(norms: Sequence[str]) -> bool:
    return any(a == "next" and b in _TIMES for a, b in pairwise(norms))
