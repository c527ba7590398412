"""Finds reasons to leave a date open, whatever its role."""

from collections.abc import Sequence

from app.domain.dates.combining import DatedPhrase
from app.domain.dates.intervals import Interval, Saying
from app.domain.dates.phrase_kinds import Phrase, PhraseKind
from app.domain.dates.points import NamedDay, NamedMonth
from app.domain.dates.reading import is_hour_only, read_point
from app.domain.dates.roles import Role
from app.domain.dates.scan import get_low, get_word
from app.domain.dates.words import Word, WordKind

# A text with more words before or behind the dated sentence says more than one fact.
_MOST_WORDS_BEFORE = 3
_MOST_WORDS_BEHIND = 12
# What changed so many years ago is history, and its people are dead.
_YEARS_OF_HISTORY = 100
_NEVER_DATING = (PhraseKind.VAGUE, PhraseKind.AROUND)


def names_no_day(words: Sequence[Word], phrase: Phrase) -> bool:
    """Return True if the words leave open when the time starts or ends."""
    if phrase.is_vague or phrase.kind in _NEVER_DATING:
        return True
    if get_low(words, phrase.end) not in ("and", "or", "&", "/"):
        return False
    other = read_point(words, phrase.end + 1)  # "on Monday and Tuesday", "in May or June"
    return other is not None and not is_hour_only(other)


def is_at_odds(phrase: Phrase, role: Role, interval: Interval, saying: Saying) -> bool:
    """Return True if the time that the phrase names does not fit what it is to its fact."""
    match role:
        case Role.STARTED | Role.STARTS:
            return _names_no_start(phrase, role, interval, saying)
        case Role.LASTS:
            # "I'm here until March", said in March, and "they show works from 1890 to 1910".
            is_fixed = phrase.kind is PhraseKind.BETWEEN or _leaves_year_open(phrase)
            return is_fixed and is_over(interval, saying)
        case Role.EPISODE if interval.start is not None and interval.start > saying.at:
            return True
        case Role.EPISODE:
            is_stretch = phrase.kind in (PhraseKind.BETWEEN, PhraseKind.UNTIL, PhraseKind.THROUGH)
            return is_stretch and interval.end is not None and not is_over(interval, saying)
        case _:
            return False


def is_over(interval: Interval, saying: Saying) -> bool:
    """Return True if the interval has ended."""
    return interval.end is not None and interval.end <= saying.at


def _names_no_start(phrase: Phrase, role: Role, interval: Interval, saying: Saying) -> bool:
    """Return True for a stretch, a plan in a month that has begun, and for history: "in 1917 Lenin
    moved to Petrograd".
    """
    if interval.start is None or phrase.until is not None:
        return True
    if role is Role.STARTS:
        return interval.start < saying.find_first_instant() and _leaves_year_open(phrase)
    is_long_ago = interval.start.year < saying.today.year - _YEARS_OF_HISTORY
    return phrase.kind is PhraseKind.DURING and is_long_ago


def _leaves_year_open(phrase: Phrase) -> bool:
    return isinstance(phrase.point, NamedMonth | NamedDay) and phrase.point.year is None


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
    if is_counted and chosen.role is Role.LASTS and values:
        return True
    return not _is_about_all(words, chosen)


def _is_about_all(words: Sequence[Word], chosen: DatedPhrase) -> bool:
    """Return True if the text says little besides the sentence that the phrase stands in."""
    first = chosen.first
    while first > 0 and not _is_sentence_end(words, first - 1):
        first -= 1
    end = chosen.end
    while end < len(words) and not _is_sentence_end(words, end):
        end += 1
    return first <= _MOST_WORDS_BEFORE and len(words) - end <= _MOST_WORDS_BEHIND


_SENTENCE_ENDS = (".", "!", "?", ";", "\n", "。", "！", "？")
_ABBREVIATIONS = frozenset("dr mr mrs ms st prof jr sr no approx e g i vs etc inc ltd co".split())


def _is_sentence_end(words: Sequence[Word], place: int) -> bool:
    """Return True for a mark that ends a sentence, other than the dot of "Dr." and "St."."""
    low = get_low(words, place)
    if low not in _SENTENCE_ENDS:
        return False
    is_inside = place + 1 < len(words) and words[place].end == words[place + 1].start
    is_short = low == "." and get_low(words, place - 1) in _ABBREVIATIONS
    return not is_short and not (is_inside and get_word(words, place + 1).kind is not WordKind.MARK)
