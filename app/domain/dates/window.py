"""The time that a question asks about: "in March", "last year", "since Monday"."""

from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from app.domain.dates.doubts import names_no_day
from app.domain.dates.facts import TimedText
from app.domain.dates.intervals import Saying, find_interval
from app.domain.dates.phrase_kinds import Phrase, PhraseKind
from app.domain.dates.points import (
    DayOfShiftedMonth,
    InShiftedYear,
    Lean,
    NamedDay,
    NamedDecade,
    NamedMonth,
    NamedQuarter,
    NamedSeason,
    NamedYear,
    ShiftedDay,
    ShiftedUnit,
    WeekFrom,
)


@dataclass(frozen=True, slots=True)
class Window:
    """A half-open time in UTC, and the words of a question that name it.

    None is an end that the words leave open.
    """

    text: str
    start: datetime | None
    end: datetime | None


# Weekdays, weekends and feasts come again, and a question about one is mostly about all of them.
_WHOLE = (
    *(NamedDay, NamedMonth, NamedQuarter, NamedSeason, NamedYear, NamedDecade, InShiftedYear),
    *(DayOfShiftedMonth, ShiftedUnit, WeekFrom),
)
_OPEN_ENDED = (PhraseKind.SINCE, PhraseKind.FROM, PhraseKind.UNTIL, PhraseKind.THROUGH)
# "In the last two weeks" is a time, "a week" and "for two weeks" are lengths.
_LEAST_WORDS = 4


def find_window(timed: TimedText, now: datetime, zone: tzinfo) -> Window | None:
    """Return the time that a question asks about, which has begun.

    None if its words name no such time, or more than one. Relative dates count from `now`,
    which is aware, in `zone`.
    """
    if len(timed.phrases) != 1:
        return None
    phrase = timed.phrases[0]
    if isinstance(phrase.point, ShiftedDay):  # "two years ago" is a year, not a day
        phrase = replace(phrase, point=ShiftedUnit(phrase.point.unit, phrase.point.count))
    if not _names_one_time(phrase) or names_no_day(timed.words, phrase):
        return None
    interval = find_interval(phrase, Saying(now, zone), Lean.PAST)
    if interval is None or (interval.start and interval.start >= now):
        return None
    [(first, last)] = timed.spans
    return Window(timed.text[first:last], interval.start, interval.end)


def _names_one_time(phrase: Phrase) -> bool:
    match phrase.kind:
        case PhraseKind.LASTING:
            return phrase.point is None and phrase.end - phrase.first >= _LEAST_WORDS
        case PhraseKind.DURING | PhraseKind.WHOLE | PhraseKind.BETWEEN:
            return not phrase.is_vague and isinstance(phrase.point, _WHOLE)
        case _:
            return phrase.kind in _OPEN_ENDED and not phrase.is_vague
