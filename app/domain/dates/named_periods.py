"""Reads longer periods and feasts: "Q3 2025", "the summer of 2019", "the end of June"."""

import re
from collections.abc import Sequence
from dataclasses import replace

from app.domain.dates.counted_days import CHOICES, read_chosen, read_near_day
from app.domain.dates.named_days import DATE_PREPOSITIONS, read_month, read_year, read_year_behind
from app.domain.dates.names import (
    COUNTED_THINGS,
    DECADES,
    EASTER_DAYS,
    FEASTS,
    MONTHS,
    SEASONS,
    UNITS,
    Unit,
)
from app.domain.dates.points import (
    Easter,
    Feast,
    LastPart,
    NamedDay,
    NamedDecade,
    NamedQuarter,
    NamedSeason,
    NamedYear,
    ShiftedUnit,
)
from app.domain.dates.scan import ReadPoint, get_low, get_word, skip_low
from app.domain.dates.words import Word, WordKind

_SHORT_ENDS = {"eow": Unit.WEEK, "eom": Unit.MONTH, "eoq": Unit.QUARTER, "eoy": Unit.YEAR}


def read_last_part(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "the end of June", "the end of the month", "end of year"."""
    at = skip_low(words, place, "the")
    at = skip_low(words, at, "very")
    unit = _SHORT_ENDS.get(get_low(words, at))
    if unit is not None:
        return ReadPoint(LastPart(ShiftedUnit(unit, 0)), at + 1)
    if get_low(words, at) != "end" or get_low(words, at + 1) not in ("of", *MONTHS):
        return None
    at = skip_low(words, at + 1, "of")
    unit_place = skip_low(words, at, "the", "this")
    unit = UNITS.get(get_low(words, unit_place))
    if unit is not None and not get_low(words, unit_place).endswith("s"):
        return ReadPoint(LastPart(ShiftedUnit(unit, 0)), unit_place + 1)
    whole = _read_whole(words, at)
    if whole is None:
        return None
    return replace(whole, point=LastPart(whole.point), is_named=True)


_STARTS = frozenset({"start", "beginning"})


def read_first_part(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "the start of June" as June, and "early 2019" as 2019."""
    at = skip_low(words, place, "the")
    low = get_low(words, at)
    if low in _STARTS and get_low(words, at + 1) == "of":
        unit_place = skip_low(words, at + 2, "the", "this")
        unit = UNITS.get(get_low(words, unit_place))
        if unit is not None and not get_low(words, unit_place).endswith("s"):
            return ReadPoint(ShiftedUnit(unit, 0), unit_place + 1)
        return _name(_read_whole(words, at + 2))
    if low in ("early", "mid", "late", "middle"):
        behind = skip_low(words, at + 1, "-", "of")
        whole = _name(_read_whole(words, behind))
        return replace(whole, is_vague=low != "early") if whole is not None else None
    return None


def _name(reading: ReadPoint | None) -> ReadPoint | None:
    return replace(reading, is_named=True) if reading is not None else None


def _read_whole(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read a month, quarter, season or year, as parts are taken of."""
    for reader in (
        read_chosen,
        read_quarter,
        read_season,
        read_month,
        read_bare_year,
        read_near_day,
    ):
        reading = reader(words, place)
        if reading is not None and not isinstance(reading.point, NamedDay):
            return reading
    return None


_QUARTER_NAMES = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4}


def read_quarter(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "Q3 2025" and "the third quarter of 2025"."""
    word = get_word(words, place)
    if word.kind is WordKind.QUARTER:
        year, end = read_year_behind(words, place + 1)
        return ReadPoint(NamedQuarter(year, int(word.low[1])), end)
    at = skip_low(words, place, "the")
    quarter = _QUARTER_NAMES.get(get_low(words, at))
    if quarter is None or get_low(words, at + 1) != "quarter":
        return None
    year, end = read_year_behind(words, at + 2)
    if year is None:
        return None
    return ReadPoint(NamedQuarter(year, quarter), end)


def read_season(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "spring 2024", "the summer of 2019" and "summer"."""
    at = skip_low(words, place, "the")
    first_month = SEASONS.get(get_low(words, at))
    if first_month is None:
        return None
    year, end = read_year_behind(words, at + 1)
    if year is not None:
        return ReadPoint(NamedSeason(year, first_month), end)
    if get_low(words, place - 1) not in DATE_PREPOSITIONS:
        return None
    return ReadPoint(NamedSeason(None, first_month), at + 1, is_named=False)


def read_bare_year(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "2019" and "'19"."""
    year = read_year(words, place)
    if year is None or _is_count(words, place, year):
        return None
    return ReadPoint(NamedYear(year), place + 1, is_named=False)


_BEFORE_COUNTS = frozenset("to by at from over around about through than".split())
_RANGE_WORDS = frozenset("to until till through".split())
_NO_PLURALS = frozenset("is was has as this his its yes vs perhaps always less us".split())


def _is_count(words: Sequence[Word], place: int, year: int) -> bool:
    """Return True for the number of "up to 1200" and of "in 2000 steps"."""
    before, behind = get_low(words, place - 1), get_low(words, place + 1)
    # Both years of "from 1871 to 1890".
    is_in_range = (before == "from" and behind in _RANGE_WORDS) or (
        get_low(words, place - 3) == "from" and before in _RANGE_WORDS
    )
    is_likely = 1900 <= year <= 2100 or (year >= 1700 and is_in_range)
    if not is_likely and before in _BEFORE_COUNTS:
        return True
    following = get_word(words, place + 1)
    if following.low in UNITS or following.low in COUNTED_THINGS:
        return True
    is_plural = following.low.endswith("s") and following.kind is WordKind.WORD
    return is_plural and not following.is_capitalised and following.low not in _NO_PLURALS | {"'s"}


def read_decade(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "the 2000s", "the 90s" and "the late nineties"."""
    at = skip_low(words, place, "the")
    is_vague = get_low(words, at) in ("mid", "late")
    at = skip_low(words, at, "early", "mid", "late")
    at = skip_low(words, at, "-")
    word = get_word(words, at)
    if word.kind is WordKind.DECADE:
        digits = re.sub(r"[^0-9]", "", word.low)
        year = int(digits)
        if len(digits) != 4:
            year += 2000 if year < 30 else 1900
        return ReadPoint(NamedDecade(year), at + 1, is_named=False, is_vague=is_vague)
    if word.low in DECADES and get_low(words, place) == "the":
        decade = NamedDecade(1900 + DECADES[word.low])
        return ReadPoint(decade, at + 1, is_named=False, is_vague=is_vague)
    return None


def read_feast(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "Christmas", "New Year's Eve", "last Christmas" and "Easter 2024"."""
    at = skip_low(words, place, *CHOICES, "the")
    is_chosen = get_low(words, place) in CHOICES
    is_lower = not get_word(words, at).is_capitalised
    if is_lower and get_low(words, at - 1) not in _BEFORE_FEASTS:
        return None
    for length in (4, 3, 2, 1):
        name = tuple(get_low(words, i) for i in range(at, at + length))
        if name in FEASTS:
            year, end = read_year_behind(words, at + length)
            return ReadPoint(Feast(year, *FEASTS[name]), end, is_named=is_chosen)
        if name in EASTER_DAYS:
            year, end = read_year_behind(words, at + length)
            return ReadPoint(Easter(year, EASTER_DAYS[name]), end, is_named=is_chosen)
    return None


_BEFORE_FEASTS = frozenset({*DATE_PREPOSITIONS, *CHOICES, "at", "on", "over", "the"})
