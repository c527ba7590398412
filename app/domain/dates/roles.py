"""Decides whether a phrase of time dates the fact itself, or an event or thing inside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import pairwise

from app.domain.dates import verbs
from app.domain.dates.changes import is_change_verb, is_coming_ending, is_ending
from app.domain.dates.clauses import Clause
from app.domain.dates.names import NUMBERS, UNITS, Unit
from app.domain.dates.phrase_kinds import Phrase, PhraseKind
from app.domain.dates.points import (
    Easter,
    Feast,
    LastPart,
    Lean,
    NamedDay,
    NamedMonth,
    NamedWeekday,
    NamedYear,
    ShiftedDay,
    ShiftedUnit,
    WeekFrom,
    Which,
    is_coming_point,
    is_past_point,
    is_present_point,
)
from app.domain.dates.reading import is_hour_only, read_point
from app.domain.dates.scan import get_low, get_word
from app.domain.dates.verb_classes import (
    has_any,
    is_being_clause,
    is_coming_change,
    is_coming_state,
    is_core_state_verb,
    is_leaving_for,
    is_personal,
    is_present_state,
    is_state_verb,
)
from app.domain.dates.verb_groups import Tense, is_participle, list_verbs
from app.domain.dates.words import Word, WordKind


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
_EPISODE = Ruling(Role.EPISODE)
_STARTED = Ruling(Role.STARTS, Lean.PAST)
_STARTS_LATER = Ruling(Role.STARTS, Lean.FUTURE)
_STARTS_NEAR = Ruling(Role.STARTS, Lean.NEAR)
_LASTS = Ruling(Role.LASTS, Lean.FUTURE)
_TODAY = ShiftedUnit(Unit.DAY, 0)


def decide_role(words: Sequence[Word], phrase: Phrase, clause: Clause) -> Ruling:
    """Return the role of a phrase in its clause."""
    if _is_of_something_else(words, phrase, clause) or _is_unreal(words, clause):
        return _VALUE
    ruling = _decide_by_kind(words, phrase, clause)
    if ruling.role is Role.VALUE:
        return _VALUE
    if clause.is_subordinate or clause.is_later or _is_aside(words, phrase, clause):
        return _OPEN
    return _OPEN if _names_no_day(words, phrase, clause) else ruling


def _names_no_day(words: Sequence[Word], phrase: Phrase, clause: Clause) -> bool:
    """Return True if the words leave open when the time starts.

    What ends "at the end of March" holds until then, and not longer.
    """
    if phrase.is_vague or _is_around_feast(phrase):
        return True
    if _starts_at_end(phrase) and not is_ending(words, clause.verb):
        return True
    return _is_one_of_two(words, phrase)


def _is_aside(words: Sequence[Word], phrase: Phrase, clause: Clause) -> bool:
    """Return True for the date in "Tom, our manager since 2019, is leaving"."""
    is_closed = get_low(words, phrase.end) == "," and clause.is_verb_behind
    is_first = phrase.first == clause.first or get_low(words, phrase.first - 1) == ","
    before = words[max(0, clause.first - 1) : phrase.first]
    return is_closed and not is_first and any(word.low == "," for word in before)


def _is_one_of_two(words: Sequence[Word], phrase: Phrase) -> bool:
    """Return True for "on Monday and Tuesday" and "in May or June"."""
    if get_low(words, phrase.end) not in ("and", "or", "&", "/"):
        return False
    other = read_point(words, phrase.end + 1)
    return other is not None and not is_hour_only(other)


def _is_around_feast(phrase: Phrase) -> bool:
    """Return True for "over Christmas", which is longer than the day."""
    is_around = phrase.preposition in ("over", "at", "during")
    return is_around and isinstance(phrase.point, Feast | Easter)


def _starts_at_end(phrase: Phrase) -> bool:
    """Return True for "I moved at the end of March", which names no day."""
    is_end = phrase.kind in (PhraseKind.UNTIL, PhraseKind.THROUGH)
    return isinstance(phrase.point, LastPart) and not is_end


def _decide_by_kind(words: Sequence[Word], phrase: Phrase, clause: Clause) -> Ruling:
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
        case PhraseKind.REST | PhraseKind.WHOLE:
            return _decide_whole(words, phrase, clause)
        case PhraseKind.BY:
            return _decide_by(words, clause)
        case PhraseKind.AROUND | PhraseKind.VAGUE:
            return _decide_vague(words, clause)


_NOT_ADVERBIAL = frozenset(
    """
    to for of about than with a an the my our his her their your like and or per every each any no
    until till black good time
    """.split()
)


def _is_of_something_else(words: Sequence[Word], phrase: Phrase, clause: Clause) -> bool:
    """Return True for "Monday's meeting", "my Monday class" and "the meeting on Monday is off"."""
    if get_low(words, phrase.end) in ("'s", "'"):
        return True
    if not phrase.preposition and get_low(words, phrase.first - 1) in _NOT_ADVERBIAL:
        return True
    if _is_subject(words, phrase, clause):
        return True
    is_free = phrase.kind in (PhraseKind.SINCE, PhraseKind.UNTIL, PhraseKind.THROUGH)
    if is_free or not clause.is_verb_behind:
        return False
    before = words[clause.first : phrase.first]
    return any(word.kind is WordKind.WORD and word.low not in _FILLERS for word in before)


def _is_subject(words: Sequence[Word], phrase: Phrase, clause: Clause) -> bool:
    """Return True for "Today is my birthday" and "Monday was hard"."""
    is_bare = phrase.kind is PhraseKind.DURING and not phrase.preposition
    is_before_verb = clause.is_verb_behind and clause.verb.first == phrase.end
    return is_bare and is_before_verb and clause.verb.is_being


_FILLERS = frozenset(
    """
    so well btw and but ok okay yes yeah oh also now then anyway hey hi fyi note update just only
    however actually
    """.split()
)
_UNREAL_OPENERS = frozenset("if when unless whenever once".split())
_UNREAL_WORDS = frozenset(
    """
    would could might 'd wouldn couldn wish hope hoping maybe perhaps supposed dreamt dreamed
    """.split()
)


def _is_unreal(words: Sequence[Word], clause: Clause) -> bool:
    """Return True for questions, conditions and wishes."""
    if get_low(words, clause.sentence[1]) == "?":
        return True
    if get_low(words, clause.first - 1) in _UNREAL_OPENERS:
        return True
    if get_low(words, clause.first) in _UNREAL_OPENERS:
        return True
    if get_low(words, clause.verb.first - 1) in ("almost", "nearly", "never"):
        return True
    is_guess = clause.tense is Tense.MODAL and get_low(words, clause.verb.head) == "have"
    return is_guess or has_any(words, clause, _UNREAL_WORDS)


_SINGLING = frozenset("first best worst biggest highest lowest largest longest fastest".split())
_COUNTING = frozenset("times twice thrice".split())
_FINITE = frozenset("is was are were has will isn wasn can".split())


def _decide_since(words: Sequence[Word], phrase: Phrase, clause: Clause) -> Ruling:
    following = get_low(words, phrase.end)
    is_reason = following in _FINITE or following in verbs.CHANGES
    if is_reason or has_any(words, clause, _SINGLING | _COUNTING):
        return _VALUE
    if clause.tense is Tense.PERFECT and _is_tally(words, clause):
        return _VALUE
    if clause.tense in (Tense.PAST, Tense.PLUPERFECT):
        return _OPEN
    return _STARTED


_AMOUNTS = frozenset("many several few over about around almost nearly".split())
_GROWTH = frozenset(
    """
    doubled tripled trebled halved risen grown fallen dropped increased decreased gained lost
    improved declined
    """.split()
)


def _is_tally(words: Sequence[Word], clause: Clause) -> bool:
    """Return True for "I've read four books" and "sales have doubled", counted since a date."""
    verb = clause.verb
    low, following = get_low(words, verb.head), get_word(words, verb.head + 1)
    if low in _GROWTH:
        return True
    is_number = following.text[:1].isdigit() or following.low in NUMBERS
    is_amount = (is_number and following.low not in ("a", "an")) or following.low in _AMOUNTS
    return is_amount and not verb.is_being and low not in ("had", "owned", "kept", "worked")


_GRANTING = frozenset("have has got 've had give gave given".split())
_NEGATIONS = frozenset("not 't never cannot nothing no".split())


def _decide_until(words: Sequence[Word], phrase: Phrase, clause: Clause) -> Ruling:
    before = get_low(words, phrase.first - 1)
    is_count = before in ("long", "sleeps") or (before in UNITS and before.endswith("s"))
    if is_count or before in _GRANTING:
        return _VALUE
    if has_any(words, clause, verbs.POSTPONING | _WAITING) or _is_deadline(words, phrase, clause):
        return _VALUE
    if _is_negated_beginning(words, clause):
        return _OPEN
    if clause.tense is Tense.PERFECT and has_any(words, clause, frozenset({"not", "'t"})):
        return _OPEN
    if clause.tense in (Tense.PAST, Tense.PLUPERFECT):
        is_paid = get_low(words, clause.verb.head) == "paid"
        return _EPISODE if is_state_verb(words, clause.verb) and not is_paid else _OPEN
    return _LASTS


_WAITING = frozenset("wait waiting countdown".split())


def _is_deadline(words: Sequence[Word], phrase: Phrase, clause: Clause) -> bool:
    """Return True for "it must be renewed until 10 March" and "I need to pay until Friday"."""
    if clause.tense is Tense.MODAL and get_low(words, clause.verb.head) in verbs.DONE_ONCE:
        return True
    lows = [word.low for word in words[clause.first : phrase.first]]
    return any(pair[0] == "to" and pair[1] in verbs.DONE_ONCE for pair in pairwise(lows))


def _is_negated_beginning(words: Sequence[Word], clause: Clause) -> bool:
    """Return True for "the shop won't open until Friday", which tells of an event."""
    verb = words[clause.verb.first : clause.verb.head + 2] if clause.verb.first >= 0 else ()
    lows = {word.low for word in verb}
    return not lows.isdisjoint(_NEGATIONS) and not lows.isdisjoint(verbs.BEGINNINGS)


_PAST_TENSES = (Tense.PAST, Tense.PLUPERFECT)


def _decide_between(words: Sequence[Word], phrase: Phrase, clause: Clause) -> Ruling:
    if has_any(words, clause, verbs.RECURRING | verbs.AMOUNTS):
        return _VALUE
    if clause.tense in (*_PAST_TENSES, Tense.PERFECT):
        is_event = has_any(words, clause, verbs.EVENTS | verbs.POSTPONING)
        is_active = not clause.verb.is_being and _names_year(phrase)
        is_state = (is_active and not is_event) or is_state_verb(words, clause.verb)
        return _EPISODE if is_state else _OPEN
    if has_any(words, clause, verbs.EVENTS):
        return _VALUE
    is_years = isinstance(phrase.point, NamedYear)
    is_note = clause.tense is Tense.NONE and not is_being_clause(words, clause)
    if not phrase.preposition and (is_note or is_years):
        return _OPEN
    is_single = clause.tense in (Tense.FUTURE, Tense.PROGRESSIVE) or is_coming_state(words, clause)
    if _is_bare_weekday(phrase) and not is_single:
        return _OPEN
    return _LASTS


def _names_year(phrase: Phrase) -> bool:
    """Return True for "from 2010 to 2014" and "from May to June 2014"."""
    if phrase.preposition != "from":
        return False
    match phrase.until:
        case NamedDay(year=year) | NamedMonth(year=year) | NamedYear(year=year):
            return year is not None
        case _:
            return False


def _is_bare_weekday(phrase: Phrase) -> bool:
    return isinstance(phrase.point, NamedWeekday) and phrase.point.which is Which.BARE


def _decide_lasting(words: Sequence[Word], phrase: Phrase, clause: Clause) -> Ruling:
    if phrase.unit is Unit.HOUR and not phrase.is_coming:
        return _VALUE
    if has_any(words, clause, verbs.RECURRING):
        return _VALUE
    if phrase.preposition in ("over", "in", "during") and phrase.is_past:
        return _VALUE
    if not phrase.preposition:
        is_state = is_core_state_verb(words, clause.verb)
        return _STARTED if clause.tense is Tense.PERFECT and is_state else _VALUE
    match clause.tense:
        case Tense.PERFECT:
            return _decide_lasting_perfect(words, clause)
        case Tense.PAST | Tense.PLUPERFECT if is_state_verb(words, clause.verb):
            return _STARTED if _lasts_until_now(words, phrase) else _EPISODE
        case Tense.PAST | Tense.PLUPERFECT:
            return _VALUE
    if phrase.is_past:
        return _STARTED
    is_coming = phrase.is_coming or clause.tense in (
        Tense.FUTURE,
        Tense.PROGRESSIVE,
        Tense.MODAL,
    )
    if is_coming or is_being_clause(words, clause):
        return _LASTS
    return _OPEN


def _lasts_until_now(words: Sequence[Word], phrase: Phrase) -> bool:
    """Return True for "had this car for eleven years now"."""
    return get_low(words, phrase.end - 1) in ("now", "already")


_FINISHED = frozenset("paid saved booked bought ordered planned reserved agreed".split())


def _decide_lasting_perfect(words: Sequence[Word], clause: Clause) -> Ruling:
    """Return that "I've lived here for a year" counts back, and that "I've paid for a year" does
    not. "She has been banned for a year" may count in either direction.
    """
    verb = clause.verb
    low = get_low(words, verb.head)
    if low in _FINISHED or (verb.is_being and low == "to"):
        return _VALUE
    is_lasting = low in ("married", "divorced", "laid")
    if verb.is_being and low in verbs.PASSIVE_CHANGES and not is_lasting:
        return _OPEN
    return _STARTED


def _decide_from(words: Sequence[Word], phrase: Phrase, clause: Clause) -> Ruling:
    if clause.tense in _PAST_TENSES and not _is_present_too(words, clause):
        return _STARTED if is_change_verb(words, clause.verb) else _OPEN
    if phrase.preposition == "from":
        if is_past_point(phrase.point):
            return _VALUE
        if _is_predicate(phrase, clause):
            return _OPEN
    return _STARTS_LATER if clause.tense is Tense.FUTURE else _STARTS_NEAR


_UNCHANGED_FORMS = frozenset("shut cut put set let hit cost split spread".split())


def _is_present_too(words: Sequence[Word], clause: Clause) -> bool:
    """Return True for "we shut", whose past and present look alike."""
    before = get_low(words, clause.verb.first - 1)
    return get_low(words, clause.verb.head) in _UNCHANGED_FORMS and before in _NOT_THIRD


_NOT_THIRD = frozenset("i you we they".split())


def _is_predicate(phrase: Phrase, clause: Clause) -> bool:
    """Return True for "my first day was 3 May" and "the job is in May"."""
    is_before = clause.verb.first == phrase.first - 1 and not clause.is_verb_behind
    return clause.verb.is_being and is_before


def _decide_during(words: Sequence[Word], phrase: Phrase, clause: Clause) -> Ruling:
    if has_any(words, clause, verbs.RECURRING) or _is_predicate(phrase, clause):
        return _VALUE
    if clause.tense in (*_PAST_TENSES, Tense.PERFECT):
        return _decide_during_past(words, phrase, clause)
    if clause.tense is not Tense.MODAL and is_coming_ending(words, clause.verb):
        return _VALUE if is_past_point(phrase.point) else _STARTS_LATER
    is_leaving = get_low(words, clause.verb.head) == "leave"
    if is_leaving or has_any(words, clause, verbs.EVENTS | verbs.SCHEDULING):
        return _VALUE
    if is_coming_change(words, clause):
        return _VALUE if is_past_point(phrase.point) else _STARTS_LATER
    if is_present_point(phrase.point) and is_present_state(words, clause):
        return _LASTS if phrase.point != _TODAY or _lasts_all_day(words, phrase, clause) else _OPEN
    is_week_or_longer = is_present_point(phrase.point) and phrase.point != _TODAY
    if is_week_or_longer and has_any(words, clause, verbs.PRESENT_STATES):
        return _LASTS
    is_coming = is_coming_point(phrase.point) or isinstance(phrase.point, WeekFrom)
    if is_coming and is_coming_state(words, clause):
        return _STARTS_LATER if isinstance(phrase.point, ShiftedDay) else _LASTS
    return _VALUE


_FIRST_PERSON = frozenset("i im we my our".split())
_MOODS = frozenset("mood pain agony tears shock love limit edge fire trouble luck".split())
_STATES_OF_DAYS = verbs.STATE_PARTICIPLES | frozenset(
    """
    in on at off out away home working staying covering acting helping training wfh remote
    unavailable available
    """.split()
)


def _lasts_all_day(words: Sequence[Word], phrase: Phrase, clause: Clause) -> bool:
    """Return True for "I'm off today"; moods, ages and doings of a day are left open."""
    is_general = get_low(words, phrase.first) == "today" and phrase.first == clause.first
    if is_general and not has_any(words, clause, _FIRST_PERSON):
        return False
    if has_any(words, clause, _MOODS) or is_leaving_for(words, clause):
        return False
    head = clause.verb.head if clause.verb.head >= 0 else clause.first
    lows = {get_low(words, head), get_low(words, head + 1)}
    return not lows.isdisjoint(_STATES_OF_DAYS)


def _decide_during_past(words: Sequence[Word], phrase: Phrase, clause: Clause) -> Ruling:
    if has_any(words, clause, verbs.EVENTS) or is_coming_point(phrase.point):
        return _VALUE
    if _belongs_to_other_verb(words, phrase, clause):
        return _VALUE
    if _is_beginning_of_thing(words, clause):
        return _VALUE
    if is_change_verb(words, clause.verb):
        return _OPEN if _is_narrative(words, clause) else _STARTED
    if clause.verb.is_being and get_low(words, clause.verb.head) in verbs.DOABLE_PARTICIPLES:
        return _OPEN
    measures = (WordKind.NUMBER, WordKind.OTHER)
    is_measure = get_word(words, clause.verb.head).kind in measures
    if clause.tense is Tense.PAST and is_core_state_verb(words, clause.verb) and not is_measure:
        return _OPEN if _is_long_ago(phrase) else _EPISODE
    return _VALUE


def _is_long_ago(phrase: Phrase) -> bool:
    """Return True for "two years ago I lived in Rome", which names no day."""
    return isinstance(phrase.point, ShiftedDay) and phrase.point.unit is not Unit.DAY


_BREAKS = frozenset("after before following upon despite besides".split())


def _belongs_to_other_verb(words: Sequence[Word], phrase: Phrase, clause: Clause) -> bool:
    """Return True for "he studied at Leeds, graduating in 1917" and "was ready to ship in May"."""
    if clause.is_verb_behind:
        return False
    for place in range(clause.verb.head + 1, phrase.first):
        low, following = get_low(words, place), get_low(words, place + 1)
        if low in _BREAKS or (low == "," and following.endswith(("ing", "ed"))):
            return True
        if low == "to" and following == "be":
            return True
    return False


def _is_beginning_of_thing(words: Sequence[Word], clause: Clause) -> bool:
    """Return True for "the session began on Monday" and "it stopped raining"."""
    low = get_low(words, clause.verb.head)
    has_subject = clause.verb.first > clause.first
    is_thing = has_subject and not is_personal(words, clause)
    return low in ("started", "began", "stopped") and is_thing


def _is_narrative(words: Sequence[Word], clause: Clause) -> bool:
    """Return True if the sentence tells several things of the past."""
    groups = list_verbs(words, *clause.sentence)
    return sum(group.tense in _PAST_TENSES for group in groups) > 2


def _decide_whole(words: Sequence[Word], phrase: Phrase, clause: Clause) -> Ruling:
    if clause.tense in _PAST_TENSES:
        is_told = phrase.kind is PhraseKind.WHOLE
        return _VALUE if not is_told or _belongs_to_other_verb(words, phrase, clause) else _EPISODE
    is_habit = phrase.point == _TODAY or has_any(words, clause, verbs.RECURRING)
    if is_habit or clause.tense is Tense.PERFECT:
        return _VALUE
    is_lasting = phrase.kind is PhraseKind.REST or clause.tense is Tense.FUTURE
    return _LASTS if is_lasting or is_present_state(words, clause) else _OPEN


def _decide_vague(words: Sequence[Word], clause: Clause) -> Ruling:
    """Return that it is open when a change or a state of the past took place."""
    verb = clause.verb
    is_lasting = is_change_verb(words, verb) or is_core_state_verb(words, verb)
    return _OPEN if clause.tense is Tense.PAST and is_lasting else _VALUE


def _decide_by(words: Sequence[Word], clause: Clause) -> Ruling:
    """Return a start for "by June we will be on Databricks"; the rest are deadlines."""
    is_being = clause.verb.is_being and not is_participle(words, clause.verb.head)
    return _STARTS_LATER if clause.tense is Tense.FUTURE and is_being else _VALUE
