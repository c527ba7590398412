"""Reads points in time from words: days, months, weekdays, "two weeks ago", "the end of June"."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import time

from app.domain.dates.counted_days import (
    NAMED_DAYS,
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
from app.domain.dates.names import WEEKDAYS, Unit
from app.domain.dates.points import ShiftedUnit
from app.domain.dates.scan import ReadPoint, get_low, get_word, skip_low
from app.domain.dates.words import Word, WordKind


def read_point(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Return the point whose words start at that place, the longest one first."""
    hour, at = _read_hour(words, place)
    for reader in _READERS:
        reading = reader(words, at)
        if reading is not None:
            return _extend_by_hour(words, replace(reading, hour=hour))
    if hour is not None:
        return ReadPoint(ShiftedUnit(Unit.DAY, 0), at, is_named=False, hour=hour)
    return None


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
    if is_small and get_low(words, named_day) in (*NAMED_DAYS, *WEEKDAYS):
        is_late = get_low(words, named_day + 1) in ("afternoon", "evening", "night")
        return time((int(word.low) + 12 * is_late) % 24), named_day
    return None, place


def _parse_hour(word: Word) -> time | None:
    if word.kind is not WordKind.HOUR:
        return _HOURS.get(word.low)
    digits = [int(part) for part in re.findall(r"[0-9]+", word.low)]
    hour = digits[0] % 12 if word.low.endswith(("am", "pm")) else digits[0]
    minute = digits[1] if len(digits) > 1 else 0
    hour += 12 * word.low.endswith("pm")
    return time(hour, minute) if hour < 24 and minute < 60 else None


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
