"""Reads points in time from words: days, months, weekdays, "two weeks ago", "the end of June"."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import time

from app.domain.dates.counted_days import (
    CHOICES,
    NAMED_DAYS,
    ROUGHLY,
    read_ago,
    read_chosen,
    read_near_day,
    read_now,
    read_weekend,
)
from app.domain.dates.named_days import (
    read_bare_ordinal,
    read_day_of_month,
    read_month,
    read_week_from,
    read_weekday,
    read_written_date,
)
from app.domain.dates.named_periods import (
    read_bare_year,
    read_decade,
    read_feast,
    read_first_part,
    read_last_part,
    read_quarter,
    read_season,
)
from app.domain.dates.names import (
    DECADES,
    EASTER_DAYS,
    FEASTS,
    MONTHS,
    NUMBERS,
    ORDINALS,
    SEASONS,
    UNITS,
    WEEKDAYS,
    Unit,
)
from app.domain.dates.points import (
    InShiftedYear,
    LastPart,
    NamedDay,
    NamedDecade,
    NamedMonth,
    NamedQuarter,
    NamedSeason,
    NamedYear,
    ShiftedUnit,
)
from app.domain.dates.scan import ReadPoint, get_low, get_word, skip_low
from app.domain.dates.words import Word, WordKind


def read_point(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Return the point whose words start at that place, the longest one first."""
    word = get_word(words, place)
    if word.kind in _NEVER_DATES or (word.kind is WordKind.WORD and word.low not in _FIRST_WORDS):
        return None
    hour, at = _read_hour(words, place)
    for reader in _READERS:
        reading = reader(words, at)
        if reading is not None and (hour is None or _is_day(reading)):
            dated = _extend_by_year(words, replace(reading, hour=hour))
            return _extend_by_hour(words, dated)
    if hour is not None:
        return ReadPoint(ShiftedUnit(Unit.DAY, 0), at, is_named=False, hour=hour)
    return None


_LONGER_POINTS = NamedMonth | NamedQuarter | NamedSeason | NamedYear | NamedDecade | LastPart


def _is_day(reading: ReadPoint) -> bool:
    """Return False for the "last month" of "we moved it to 9:45 last month"."""
    point = reading.point
    if isinstance(point, ShiftedUnit):
        return point.unit is Unit.DAY
    return not isinstance(point, _LONGER_POINTS)


def is_hour_only(reading: ReadPoint) -> bool:
    """Return True for "5pm", which names no day."""
    today = ShiftedUnit(Unit.DAY, 0)
    return reading.hour is not None and not reading.is_named and reading.point == today


_PARTS_OF_DAY = frozenset("morning afternoon evening night lunchtime".split())
_HOURS = {"noon": time(12), "midday": time(12)}
_JOINERS = ("on", "of", ",")


def _read_hour(words: Sequence[Word], place: int) -> tuple[time | None, int]:
    """Return the time of "5pm on Friday" and of "8 tomorrow morning", and the place behind it."""
    word = get_word(words, place)
    hour = _parse_hour(word)
    if hour is not None:
        return hour, skip_low(words, place + 1, *_JOINERS)
    is_small = word.kind is WordKind.NUMBER and len(word.low) <= 2 and int(word.low) < 24
    named_day = skip_low(words, place + 1, "on")
    is_hour = get_low(words, place - 1) in _BEFORE_HOURS
    if is_small and is_hour and get_low(words, named_day) in (*NAMED_DAYS, *WEEKDAYS):
        is_late = get_low(words, named_day + 1) in ("afternoon", "evening", "night")
        return time((int(word.low) + 12 * is_late) % 24), named_day
    return None, place


_BEFORE_HOURS = frozenset("until till til by at from since through before after around".split())


def _parse_hour(word: Word) -> time | None:
    if word.kind is not WordKind.HOUR:
        return _HOURS.get(word.low)
    digits = [int(part) for part in re.findall(r"[0-9]+", word.low)]
    hour = digits[0] % 12 if word.low.endswith(("am", "pm")) else digits[0]
    minute = digits[1] if len(digits) > 1 else 0
    hour += 12 * word.low.endswith("pm")
    return time(hour, minute) if hour < 24 and minute < 60 else None


def _extend_by_year(words: Sequence[Word], reading: ReadPoint) -> ReadPoint:
    """Take in the year of "March last year" and "5 May of next year"."""
    point = reading.point
    if not isinstance(point, NamedDay | NamedMonth | NamedQuarter | NamedSeason):
        return reading
    at = skip_low(words, reading.end, "of", ",")
    choice = CHOICES.get(get_low(words, at))
    if point.year is not None or choice is None or get_low(words, at + 1) != "year":
        return reading
    return replace(reading, point=InShiftedYear(point, choice[1]), end=at + 2, is_named=True)


def _extend_by_hour(words: Sequence[Word], reading: ReadPoint) -> ReadPoint:
    """Take in the part of the day: "Monday morning" is Monday, "Monday at 5pm" has an hour."""
    end = reading.end
    if get_low(words, end) in _PARTS_OF_DAY:
        return replace(reading, end=end + 1)
    place = skip_low(words, end, "at", ",")
    hour = _parse_hour(get_word(words, place))
    if reading.hour is None and hour is not None:
        return replace(reading, end=place + 1, hour=hour)
    return reading


_READERS = (
    read_now,
    read_weekend,
    read_week_from,
    read_written_date,
    read_last_part,
    read_first_part,
    read_day_of_month,
    read_near_day,
    read_ago,
    read_quarter,
    read_chosen,
    read_month,
    read_weekday,
    read_season,
    read_decade,
    read_feast,
    read_bare_year,
    read_bare_ordinal,
)

# What no date starts with is passed over at once.
_NEVER_DATES = (WordKind.MARK, WordKind.OTHER, WordKind.LINE_BREAK)
_FIRST_WORDS = frozenset(
    """
    the a an half couple early mid late middle earlier later end start beginning now immediately
    eow eom eoq eoy very w wc
    """.split()
) | frozenset(
    {
        *MONTHS,
        *WEEKDAYS,
        *SEASONS,
        *NUMBERS,
        *ORDINALS,
        *DECADES,
        *UNITS,
        *CHOICES,
        *NAMED_DAYS,
        *ROUGHLY,
        *_HOURS,
        *(name[0] for name in (*FEASTS, *EASTER_DAYS)),
    }
)
