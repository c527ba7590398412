"""Finds reasons to leave a date open that its own clause does not show."""

from collections.abc import Sequence

from app.domain.dates.clauses import is_sentence_end
from app.domain.dates.combining import DatedPhrase
from app.domain.dates.intervals import Interval, Saying
from app.domain.dates.phrase_kinds import Phrase, PhraseKind
from app.domain.dates.points import Lean, NamedDay, NamedMonth, is_present_point
from app.domain.dates.roles import Role, Ruling
from app.domain.dates.scan import get_low
from app.domain.dates.verb_groups import COORDINATORS, SUBJECTS
from app.domain.dates.words import Word

# A text with more words before or behind the dated sentence says more than one fact.
_MOST_WORDS_BEFORE = 3
_MOST_WORDS_BEHIND = 12


def is_at_odds(phrase: Phrase, ruling: Ruling, interval: Interval | None, saying: Saying) -> bool:
    """Return True if the time that the phrase names does not fit the tense of its clause."""
    return (
        _is_unfinished_episode(phrase, ruling, interval, saying)
        or _is_unexpectedly_over(phrase, ruling, interval, saying)
        or _has_begun(ruling, interval, saying)
        or _is_origin(phrase, ruling, interval, saying)
        or _is_history(phrase, ruling, interval, saying)
    )


def is_over(interval: Interval, saying: Saying) -> bool:
    """Return True if the interval has ended."""
    return interval.end is not None and interval.end <= saying.at


def _is_unfinished_episode(
    phrase: Phrase, ruling: Ruling, interval: Interval | None, saying: Saying
) -> bool:
    """Return True if the words tell of the past, and end at a date to come."""
    is_stretch = phrase.kind in (PhraseKind.BETWEEN, PhraseKind.UNTIL, PhraseKind.THROUGH)
    if ruling.role is not Role.EPISODE or not is_stretch or interval is None:
        return False
    return interval.end is not None and not is_over(interval, saying)


def _is_unexpectedly_over(
    phrase: Phrase, ruling: Ruling, interval: Interval | None, saying: Saying
) -> bool:
    """Return True if a time without a verb of the past has ended: "I'm here until March", said in
    March, and "they show works from 1890 to 1910".
    """
    if ruling.role is not Role.LASTS or interval is None or not is_over(interval, saying):
        return False
    if phrase.kind is PhraseKind.BETWEEN:
        return True
    return isinstance(phrase.point, NamedMonth | NamedDay) and phrase.point.year is None


def _has_begun(ruling: Ruling, interval: Interval | None, saying: Saying) -> bool:
    """Return True if the words tell of a change to come in a month that has begun."""
    if ruling.role is not Role.STARTS or ruling.lean is not Lean.FUTURE:
        return False
    if interval is None or interval.start is None:
        return False
    return interval.start < saying.find_first_instant()


_NEVER_DATING = (PhraseKind.VAGUE, PhraseKind.AROUND)


def is_doubtful(
    words: Sequence[Word],
    chosen: DatedPhrase,
    values: Sequence[Phrase],
    left_open: Sequence[Phrase],
) -> bool:
    """Return True if other dates or other sentences make it doubtful what the phrase dates."""
    if any(phrase.kind not in _NEVER_DATING for phrase in left_open):
        return True
    is_counted = chosen.phrase.kind is PhraseKind.LASTING and chosen.phrase.point is None
    if is_counted and chosen.ruling.role is Role.LASTS and values:
        return True
    if chosen.ruling.role is Role.STARTS and _has_sequel(words, chosen, values):
        return True
    return not _is_about_all(words, chosen)


def _has_sequel(words: Sequence[Word], chosen: DatedPhrase, values: Sequence[Phrase]) -> bool:
    """Return True for "I started on statins in May and stopped in July"."""
    later = [each.first for each in values if each.first >= chosen.end]
    if not later:
        return False
    for place in range(chosen.end, later[0]):
        low, following = get_low(words, place), get_low(words, place + 1)
        if low in COORDINATORS:
            return following not in _NEW_SUBJECTS
        if low == "," and following in ("back", "returning"):
            return True
    return False


_NEW_SUBJECTS = SUBJECTS | frozenset("the a an my our his her their this that there".split())


def _is_about_all(words: Sequence[Word], chosen: DatedPhrase) -> bool:
    """Return True if the text says little besides the sentence that the phrase stands in."""
    first = chosen.first
    while first > 0 and not is_sentence_end(words, first - 1):
        first -= 1
    end = chosen.end
    while end < len(words) and not is_sentence_end(words, end):
        end += 1
    return first <= _MOST_WORDS_BEFORE and len(words) - end <= _MOST_WORDS_BEHIND


def _is_origin(phrase: Phrase, ruling: Ruling, interval: Interval | None, saying: Saying) -> bool:
    """Return True for "I have a postcard from 1912": the start has passed, and no verb says so."""
    if phrase.kind is not PhraseKind.FROM or phrase.preposition != "from" or phrase.first == 0:
        return False
    if ruling.lean is not Lean.NEAR or interval is None or interval.start is None:
        return False
    has_passed = interval.start < saying.find_first_instant()
    return has_passed and not is_present_point(phrase.point)


# What changed so many years ago is history, and its people are dead.
_YEARS_OF_HISTORY = 100


def _is_history(phrase: Phrase, ruling: Ruling, interval: Interval | None, saying: Saying) -> bool:
    """Return True for "in 1917 Lenin moved to Petrograd"."""
    if phrase.kind is not PhraseKind.DURING or ruling.role is not Role.STARTS:
        return False
    if interval is None or interval.start is None:
        return False
    return interval.start.year < saying.today.year - _YEARS_OF_HISTORY
