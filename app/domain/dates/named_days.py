"""Reads the days and months that the calendar names: "5 January", "Monday", "2024-03-05"."""

import re
from collections.abc import Sequence

from app.domain.dates.counted_days import CHOICES
from app.domain.dates.names import MONTHS, ORDINALS, ORDINARY_WORDS, UNITS, WEEKDAYS
from app.domain.dates.points import (
    DayOfShiftedMonth,
    DayOfThisMonth,
    NamedDay,
    NamedMonth,
    NamedWeekday,
    WeekdayOfWeek,
    WeekFrom,
)
from app.domain.dates.scan import ReadPoint, get_low, get_word, lows_match, skip_low
from app.domain.dates.words import Word, WordKind


def read_year(words: Sequence[Word], place: int) -> int | None:
    """Return the year at a place: four digits, or two behind an apostrophe."""
    word = get_word(words, place)
    if word.kind is WordKind.NUMBER and len(word.low) == 4 and word.low[0] in "12":
        return int(word.low)
    if word.kind is WordKind.SHORT_YEAR:
        return _widen_year(int(word.low[1:]))
    return None


def _widen_year(short: int) -> int:
    return 2000 + short if short < 60 else 1900 + short


def read_year_behind(words: Sequence[Word], place: int) -> tuple[int | None, int]:
    """Return the year of a day or month and the place behind it: "March 2024", "5 March, 2024"."""
    at = skip_low(words, place, "of", ",")
    year = read_year(words, at)
    if year is None:
        return None, place
    return year, at + 1


def _read_day_number(words: Sequence[Word], place: int) -> int | None:
    word = get_word(words, place)
    if word.kind is WordKind.NUMBER and len(word.low) <= 2:
        number = int(word.low)
    elif word.kind is WordKind.ORDINAL:
        number = int(word.low[:-2])
    else:
        number = ORDINALS.get(word.low, 0)
        if number == 20 and get_low(words, place + 1) == "-":
            return None
    return number if 1 <= number <= 31 else None


def _read_month_name(words: Sequence[Word], place: int) -> tuple[int, int] | None:
    """Return the month and the place behind it, with the dot of "Jan."."""
    word = get_word(words, place)
    month = MONTHS.get(word.low)
    if month is None:
        return None
    is_short = word.low not in ("march", "april", "may", "june", "july") and len(word.low) <= 4
    dotted = is_short and get_low(words, place + 1) == "."
    is_followed = read_year(words, place + 2) is not None or (
        _read_day_number(words, place + 2) is not None
    )
    return month, place + 1 + (dotted and is_followed)


def read_written_date(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "2024-03-05" and the unambiguous ones of "25/12/2024"."""
    word = get_word(words, place)
    if word.kind is WordKind.ISO_DATE:
        year, month, day = map(int, word.low[:10].split("-"))
        return ReadPoint(NamedDay(year, month, day), place + 1)
    if word.kind is WordKind.MONTH_YEAR:
        month, year = map(int, word.low.split("/"))
        return ReadPoint(NamedMonth(year, month), place + 1, is_named=False)
    if word.kind is WordKind.ISO_MONTH:
        year, month = map(int, word.low.split("-"))
        return ReadPoint(NamedMonth(year, month), place + 1)
    if word.kind is not WordKind.SLASHED_DATE:
        return None
    pieces = re.split(r"[/.]", word.low)
    if "." in word.low and len(pieces[2]) != 4:
        return None
    point = _order_parts(pieces)
    return ReadPoint(point, place + 1) if point is not None else None


def _order_parts(pieces: list[str]) -> NamedDay | None:
    """Return the day of three numbers if only one order of them makes a date."""
    first, second, year = (int(piece) for piece in pieces)
    if len(pieces[0]) == 4:
        return NamedDay(first, second, year)
    if len(pieces[2]) == 3:
        return None
    if len(pieces[2]) == 2:
        year = _widen_year(year)
    if first == second or first > 12 >= second:
        return NamedDay(year, second, first)
    if second > 12 >= first:
        return NamedDay(year, first, second)
    return None


def read_day_of_month(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "5 January", "the 5th of January 2024" and "the fifth of May"."""
    at = skip_low(words, place, "the")
    day = _read_day_number(words, at)
    if day is None:
        return None
    is_ordinal = get_word(words, at).kind is not WordKind.NUMBER
    behind = skip_low(words, at + 1, "day") if is_ordinal else at + 1
    behind = skip_low(words, behind, "of")
    month = _read_month_name(words, behind)
    if month is None:
        return None
    is_plain = get_low(words, behind) == "may" and not get_word(words, behind).is_capitalised
    is_sure = is_ordinal or get_low(words, place - 1) in DATE_PREPOSITIONS | {"on"}
    if is_plain and not is_sure:
        return None
    year, end = read_year_behind(words, month[1])
    return ReadPoint(NamedDay(year, month[0], day), end)


def read_month(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "January 5th, 2024", "March 2024" and "March"."""
    name = _read_month_name(words, place)
    if name is None:
        return None
    month, at = name
    day_place = skip_low(words, at, "the")
    day = _read_day_number(words, day_place)
    is_doubtful = _is_everyday_word(words, place)
    is_ordinal = get_word(words, day_place).kind is WordKind.ORDINAL
    if day is not None and (is_ordinal or not is_doubtful) and get_low(words, at + 1) not in UNITS:
        year, end = read_year_behind(words, day_place + 1)
        return ReadPoint(NamedDay(year, month, day), end)
    year, end = read_year_behind(words, at)
    if year is not None:
        return ReadPoint(NamedMonth(year, month), end)
    if is_doubtful:
        return None
    return ReadPoint(NamedMonth(None, month), at, is_named=False)


def _is_everyday_word(words: Sequence[Word], place: int) -> bool:
    """Return True for the "may" of "I may go", which no preposition makes a month."""
    word = get_word(words, place)
    if word.low not in ORDINARY_WORDS or word.is_capitalised:
        return False
    return get_low(words, place - 1) not in DATE_PREPOSITIONS


DATE_PREPOSITIONS = frozenset(
    "in since until till til from by through during of early mid late".split()
)


def read_weekday(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "Monday", "Monday 5 January" and "Monday the 5th"."""
    word = get_word(words, place)
    weekday = WEEKDAYS.get(word.low)
    if weekday is None or _is_everyday_word(words, place):
        return None
    if get_low(words, place + 1) == "." and get_low(words, place + 2) == "com":
        return None
    at = skip_low(words, place + 1, "of", ",")
    choice = CHOICES.get(get_low(words, at))
    if choice is not None and get_low(words, at + 1) == "week":  # "Tuesday last week"
        return ReadPoint(WeekdayOfWeek(weekday, choice[1]), at + 2)
    at = skip_low(words, place + 1, ",")
    for reader in (read_day_of_month, read_month, read_bare_ordinal):
        dated = reader(words, at)
        if dated is not None and not isinstance(dated.point, NamedMonth):
            return ReadPoint(dated.point, dated.end)
    return ReadPoint(NamedWeekday(weekday), place + 1, is_named=False)


_COMMENCING = (("w", "/", "c"), ("wc",), ("week", "commencing"), ("week", "beginning"))


def read_week_from(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "w/c 12 May" and "the week commencing Monday 12 May"."""
    start = skip_low(words, place, "the")
    for opening in _COMMENCING:
        if not lows_match(words, start, opening):
            continue
        at = skip_low(words, start + len(opening), "on")
        for reader in (read_weekday, read_written_date, read_day_of_month, read_month):
            day = reader(words, at)
            if day is not None and isinstance(day.point, NamedDay | NamedWeekday):
                return ReadPoint(WeekFrom(day.point), day.end)
    return None


def read_bare_ordinal(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "the 15th" as a day of the month of the saying."""
    at = skip_low(words, place, "the")
    word = get_word(words, at)
    is_first = word.low == "first" and get_low(words, place - 1) in _BEFORE_THE_FIRST
    is_ordinal = word.kind is WordKind.ORDINAL or is_first
    day = _read_day_number(words, at) if is_ordinal else None
    of_month = CHOICES.get(get_low(words, at + 2))
    is_of_month = get_low(words, at + 1) == "of" and get_low(words, at + 3) == "month"
    if day is not None and of_month is not None and is_of_month:
        return ReadPoint(DayOfShiftedMonth(day, of_month[1]), at + 4)
    following = get_word(words, at + 1)
    is_of_noun = following.kind is WordKind.WORD and following.low not in _BEHIND_ORDINALS
    if day is None or at == place or is_of_noun:
        return None
    return ReadPoint(DayOfThisMonth(day), at + 1, is_named=False)


_BEHIND_ORDINALS = frozenset(
    """
    to until till through thru and at so because cos for with i we he she they but or then as by
    when if after onwards
    """.split()
)
_BEFORE_THE_FIRST = ("on", "since", "until", "till", "by")
