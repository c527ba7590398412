"""Reads phrases with two ends: "from May to June", "between 2010 and 2014", "3-7 June"."""

import re
from collections.abc import Sequence
from dataclasses import replace

from app.domain.dates.counted_days import CHOICES
from app.domain.dates.phrase_kinds import Phrase, PhraseKind
from app.domain.dates.points import (
    InShiftedYear,
    NamedDay,
    NamedMonth,
    NamedWeekday,
    NamedYear,
    Point,
    WeekdayOfWeek,
)
from app.domain.dates.reading import is_hour_only, read_point
from app.domain.dates.scan import ReadPoint, get_low, get_word, skip_low
from app.domain.dates.words import Word, WordKind

RANGE_WORDS = ("to", "until", "till", "til", "through", "-", "–", "—")


def read_range(words: Sequence[Word], place: int) -> Phrase | None:
    """Read "from May to June", "between 2010 and 2014", "2010-2014"."""
    opening = get_low(words, place)
    at = skip_low(words, place, "from", "between")
    special = _read_week_range(words, place) or _read_day_range(words, place, at)
    if special is not None:
        return special
    years_place = skip_low(words, place, "from", "in")
    years = get_word(words, years_place)
    if years.kind is WordKind.YEAR_RANGE:
        return Phrase(
            PhraseKind.BETWEEN,
            place,
            years_place + 1,
            point=NamedYear(int(years.low[:4])),
            until=NamedYear(int(years.low[-4:])),
        )
    joiners = ("and",) if opening == "between" else RANGE_WORDS
    start = _read_start_of_range(words, at)
    if start is None or get_low(words, start.end) not in joiners:
        return None
    joiner = get_low(words, start.end)
    end_place = skip_low(words, start.end + 1, "and")
    end_place = skip_low(words, end_place, "including")
    end = read_point(words, end_place)
    if end is None or (at == place and not _may_be_bare_range(start, end, joiner)):
        return None
    return Phrase(
        PhraseKind.BETWEEN,
        place,
        end.end,
        point=share_year(start.point, end.point),
        until=end.point,
        is_through=joiner == "through",
    )


def _read_week_range(words: Sequence[Word], place: int) -> Phrase | None:
    """Read "last week, Monday through Wednesday"."""
    if get_low(words, place + 1) != "week" or get_low(words, place) not in CHOICES:
        return None
    weeks = CHOICES[get_low(words, place)][1]
    days = read_range(words, skip_low(words, place + 2, ","))
    if days is None:
        return None
    first, last = days.point, days.until
    if not isinstance(first, NamedWeekday) or not isinstance(last, NamedWeekday):
        return None
    return replace(
        days,
        first=place,
        point=WeekdayOfWeek(first.weekday, weeks),
        until=WeekdayOfWeek(last.weekday, weeks),
    )


def _read_day_range(words: Sequence[Word], place: int, at: int) -> Phrase | None:
    """Read "3-7 June 2026" and "June 3-7"."""
    days = at if get_word(words, at).kind is WordKind.DAY_RANGE else at + 1
    if get_word(words, days).kind is not WordKind.DAY_RANGE:
        return None
    month = read_point(words, at if days > at else days + 1)
    if month is None or not isinstance(month.point, NamedMonth):
        return None
    first, last = re.split(r"[-–—]", get_word(words, days).low)
    year, number = month.point.year, month.point.month
    return Phrase(
        PhraseKind.BETWEEN,
        place,
        max(month.end, days + 1),
        point=NamedDay(year, number, int(first)),
        until=NamedDay(year, number, int(last)),
    )


def _read_start_of_range(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read the first point, also the "1" of "from 1 to 5 May"."""
    start = read_point(words, place)
    if start is not None:
        return None if is_hour_only(start) else start
    word = get_word(words, place)
    if word.kind not in (WordKind.NUMBER, WordKind.ORDINAL):
        return None
    if get_low(words, place + 1) not in (*RANGE_WORDS, "and"):
        return None
    end = read_point(words, place + 2)
    if end is None or not isinstance(end.point, NamedDay):
        return None
    number = int(word.low.rstrip("stndrh"))
    return ReadPoint(NamedDay(end.point.year, end.point.month, number), place + 1)


def _may_be_bare_range(start: ReadPoint, end: ReadPoint, joiner: str) -> bool:
    """Return True for "2010 - 2014" and "May through June 2024", without an opening word."""
    is_week = isinstance(start.point, NamedWeekday) and isinstance(end.point, WeekdayOfWeek)
    if type(start.point) is not type(end.point) and not is_week:
        return False
    is_years = isinstance(start.point, NamedYear)
    return is_years or start.is_named or end.is_named or joiner == "through"


def share_year(start: Point, end: Point) -> Point:
    """Give the start the year or week of the end: "from May to June 2024"."""
    if isinstance(start, NamedWeekday) and isinstance(end, WeekdayOfWeek):
        return WeekdayOfWeek(start.weekday, end.weeks - (start.weekday > end.weekday))
    if isinstance(start, NamedDay | NamedMonth) and isinstance(end, InShiftedYear):
        last = end.point
        if start.year is not None or not isinstance(last, NamedDay | NamedMonth):
            return start
        return InShiftedYear(start, end.years - (start.month > last.month))
    if isinstance(start, NamedDay) and isinstance(end, NamedDay | NamedMonth):
        return NamedDay(_earlier_year(start, end), start.month, start.day)
    if isinstance(start, NamedMonth) and isinstance(end, NamedDay | NamedMonth):
        return NamedMonth(_earlier_year(start, end), start.month)
    return start


def _earlier_year(start: NamedDay | NamedMonth, end: NamedDay | NamedMonth) -> int | None:
    if start.year is not None or end.year is None:
        return start.year
    return end.year - (start.month > end.month)
