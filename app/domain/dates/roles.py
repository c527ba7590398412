"""Decides whether a phrase of time dates the fact itself, or an event or thing inside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from app.domain.dates import verbs
from app.domain.dates.clauses import Clause, Tense
from app.domain.dates.names import Unit
from app.domain.dates.phrases import Phrase, PhraseKind
from app.domain.dates.points import (
    Lean,
    NamedWeekday,
    ShiftedDay,
    ShiftedUnit,
    Which,
)
from app.domain.dates.reading import get_low
from app.domain.dates.words import Word


class Role(Enum):
    """What a phrase of time is to the fact."""

    STARTS = auto()  # the fact holds from its start on
    LASTS = auto()  # the fact holds in its interval
    EPISODE = auto()  # the fact held in its interval, and is past
    VALUE = auto()  # it dates something inside the fact
    OPEN = auto()  # it may be either


@dataclass(frozen=True, slots=True)
class Ruling:
    """The role of a phrase, and which one a date without its year or week means."""

    role: Role
    lean: Lean = Lean.PAST


_VALUE = Ruling(Role.VALUE)
_OPEN = Ruling(Role.OPEN)


def decide_role(words: Sequence[Word], phrase: Phrase, clause: Clause) -> Ruling:
    """Return the role of a phrase in its clause."""
    if _is_of_something_else(words, phrase) or _is_unreal(words, clause):
        return _VALUE
    if clause.is_subordinate:
        return _OPEN
    match phrase.kind:
        case PhraseKind.SINCE:
            return _decide_since(words, phrase, clause)
        case PhraseKind.UNTIL | PhraseKind.THROUGH:
            return _decide_until(words, phrase, clause)
        case PhraseKind.BETWEEN:
            return _decide_between(words, phrase, clause)
        case PhraseKind.LASTING:
            return _decide_lasting(words, phrase, clause)
        case PhraseKind.FROM:
            return _decide_from(words, phrase, clause)
        case PhraseKind.DURING:
            return _decide_during(words, phrase, clause)
        case PhraseKind.BY:
            return _VALUE


_NOT_ADVERBIAL = frozenset(
    "to for of about than with a an the my our his her their your like and or per".split()
)


def _is_of_something_else(words: Sequence[Word], phrase: Phrase) -> bool:
    """Return True for "Monday's meeting", "my Monday class" and "moved to Friday"."""
    if get_low(words, phrase.end) in ("'s", "'"):
        return True
    return not phrase.preposition and get_low(words, phrase.first - 1) in _NOT_ADVERBIAL


_UNREAL_OPENERS = frozenset("if when unless whenever once".split())
_UNREAL_MODALS = frozenset("would could might 'd wouldn couldn".split())


def _is_unreal(words: Sequence[Word], clause: Clause) -> bool:
    """Return True for questions, conditions and wishes."""
    if get_low(words, clause.end) == "?":
        return True
    if get_low(words, clause.first - 1) in _UNREAL_OPENERS:
        return True
    lows = _list_lows(words, clause)
    return lows[:1] in [[low] for low in _UNREAL_OPENERS] or bool(_UNREAL_MODALS & set(lows))


def _list_lows(words: Sequence[Word], clause: Clause) -> list[str]:
    return [word.low for word in words[clause.first : clause.end]]


def _has_any(words: Sequence[Word], clause: Clause, chosen: frozenset[str]) -> bool:
    return not chosen.isdisjoint(_list_lows(words, clause))


_SINGLING = frozenset(
    "first best worst biggest highest lowest most least largest longest fastest".split()
)
_FINITE = frozenset("is was are were has will isn wasn can".split())


def _decide_since(words: Sequence[Word], phrase: Phrase, clause: Clause) -> Ruling:
    if get_low(words, phrase.end) in _FINITE:
        return _VALUE
    if _has_any(words, clause, _SINGLING):
        return _VALUE
    if clause.tense in (Tense.PAST, Tense.PLUPERFECT):
        return _OPEN
    return Ruling(Role.STARTS)


_GRANTING = frozenset("have has got 've had give gave given".split())
_POSTPONING = frozenset("postponed delayed pushed extended deferred moved adjourned put".split())
_NEGATIONS = frozenset("not 't never".split())


def _decide_until(words: Sequence[Word], phrase: Phrase, clause: Clause) -> Ruling:
    if get_low(words, phrase.first - 1) in _GRANTING:
        return _VALUE
    if _has_any(words, clause, _POSTPONING):
        return _VALUE
    if clause.tense is Tense.FUTURE and _has_any(words, clause, _NEGATIONS):
        return _OPEN
    if clause.tense in (Tense.PAST, Tense.PLUPERFECT):
        return Ruling(Role.EPISODE) if _is_state(words, clause) else _OPEN
    return Ruling(Role.LASTS, Lean.FUTURE)


def _is_state(words: Sequence[Word], clause: Clause) -> bool:
    """Return True if the verb tells of a lasting state: "lived", "was"."""
    if clause.verb is None:
        return False
    lows = {get_low(words, clause.verb), get_low(words, clause.verb - 1)}
    return bool(lows & (verbs.STATES_PAST | {"used"}))


def _decide_between(words: Sequence[Word], phrase: Phrase, clause: Clause) -> Ruling:
    if _has_any(words, clause, verbs.RECURRING):
        return _VALUE
    if clause.tense in (Tense.PAST, Tense.PLUPERFECT, Tense.PERFECT):
        return Ruling(Role.EPISODE) if _is_state(words, clause) else _OPEN
    if _is_bare_weekday(phrase) and clause.tense not in (Tense.FUTURE, Tense.PROGRESSIVE):
        return _OPEN
    if _has_any(words, clause, verbs.EVENTS):
        return _VALUE
    return Ruling(Role.LASTS, Lean.FUTURE)


def _is_bare_weekday(phrase: Phrase) -> bool:
    return isinstance(phrase.point, NamedWeekday) and phrase.point.which is Which.BARE


def _decide_lasting(words: Sequence[Word], phrase: Phrase, clause: Clause) -> Ruling:
    if phrase.unit is Unit.HOUR and not phrase.is_coming:
        return _VALUE
    if _has_any(words, clause, verbs.RECURRING):
        return _VALUE
    match clause.tense:
        case Tense.PERFECT:
            return Ruling(Role.STARTS, Lean.PAST)
        case Tense.PAST | Tense.PLUPERFECT:
            return Ruling(Role.EPISODE) if _is_state(words, clause) else _VALUE
        case Tense.FUTURE | Tense.PROGRESSIVE:
            return Ruling(Role.STARTS) if phrase.is_past else Ruling(Role.LASTS, Lean.FUTURE)
    if phrase.is_past:
        return Ruling(Role.STARTS, Lean.PAST)
    if phrase.is_coming or clause.tense is Tense.MODAL or _is_being(words, clause):
        return Ruling(Role.LASTS, Lean.FUTURE)
    return _OPEN


def _is_being(words: Sequence[Word], clause: Clause) -> bool:
    if clause.verb is None:
        return get_low(words, clause.first) in verbs.STATE_OPENERS
    lows = {get_low(words, clause.verb), get_low(words, clause.verb - 1)}
    return bool(lows & (verbs.AUXILIARIES_PRESENT | {"'s", "stay"}))


def _decide_from(words: Sequence[Word], phrase: Phrase, clause: Clause) -> Ruling:
    if clause.tense in (Tense.PAST, Tense.PLUPERFECT):
        return Ruling(Role.STARTS) if _is_change(words, clause) else _OPEN
    if phrase.preposition == "from" and _is_past_point(phrase):
        return _VALUE
    return Ruling(Role.STARTS, Lean.FUTURE)


def _is_past_point(phrase: Phrase) -> bool:
    """Return True for "last year" and "two weeks ago"."""
    point = phrase.point
    return (isinstance(point, ShiftedUnit | ShiftedDay) and point.count < 0) or (
        isinstance(point, NamedWeekday) and point.which is Which.LAST
    )


def _is_change(words: Sequence[Word], clause: Clause) -> bool:
    """Return True if a new state holds after the verb: "moved to Lisbon", "became vegan"."""
    if clause.verb is None:
        return False
    for place in (clause.verb, clause.verb + 1):
        low = get_low(words, place)
        if low in verbs.CHANGES_PAST:
            allowed = verbs.CHANGE_BY_NEXT.get(low)
            return allowed is None or get_low(words, place + 1) in allowed
    return False


def _decide_during(words: Sequence[Word], phrase: Phrase, clause: Clause) -> Ruling:
    if _has_any(words, clause, verbs.RECURRING):
        return _VALUE
    match clause.tense:
        case Tense.PAST | Tense.PLUPERFECT | Tense.PERFECT:
            return _decide_during_past(words, clause)
        case Tense.NONE | Tense.MODAL:
            return _VALUE
    if _has_any(words, clause, verbs.EVENTS | verbs.SCHEDULING):
        return _VALUE
    if _is_now(phrase) and (clause.tense is Tense.PROGRESSIVE or _is_being(words, clause)):
        return Ruling(Role.LASTS, Lean.FUTURE)
    if isinstance(phrase.point, ShiftedUnit) and clause.tense in (Tense.PROGRESSIVE, Tense.FUTURE):
        return _OPEN
    return _VALUE


def _decide_during_past(words: Sequence[Word], clause: Clause) -> Ruling:
    if _has_any(words, clause, verbs.EVENTS):
        return _VALUE
    if _is_change(words, clause):
        return Ruling(Role.STARTS)
    if clause.tense is Tense.PAST and _is_state(words, clause):
        return Ruling(Role.EPISODE)
    return _VALUE


def _is_now(phrase: Phrase) -> bool:
    return isinstance(phrase.point, ShiftedUnit) and phrase.point.count == 0
