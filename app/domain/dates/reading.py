"""Reads points in time from words: days, months, weekdays, "two weeks ago", "the end of June"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import time

from app.domain.dates.names import (
    COUNTED_THINGS,
    DECADES,
    EASTER_DAYS,
    FEASTS,
    MONTHS,
    NUMBERS,
    ORDINALS,
    ORDINARY_WORDS,
    SEASONS,
    TENS,
    UNITS,
    WEEKDAYS,
    Unit,
)
from app.domain.dates.points import (
    DayOfThisMonth,
    Easter,
    Feast,
    LastPart,
    NamedDay,
    NamedDecade,
    NamedMonth,
    NamedQuarter,
    NamedSeason,
    NamedWeekday,
    NamedYear,
    Point,
    ShiftedDay,
    ShiftedUnit,
    WeekdayOfWeek,
    Weekend,
    Which,
)
from app.domain.dates.words import Word, WordKind


@dataclass(frozen=True, slots=True)
class ReadPoint:
    """A point that was read, and the place of the first word behind it.

    `is_named` is True if the words say by themselves that they are a date. "May" and "2019" are
    dates only behind a word such as "in" or "since". `is_vague` is True if the words leave the
    start of the point open, as "late 2019" does. `hour` is the time of the day, None if not said.
    """

    point: Point
    end: int
    is_named: bool = True
    is_vague: bool = False
    hour: time | None = None


_NOWHERE = Word("", "", 0, 0, WordKind.MARK)


def get_word(words: Sequence[Word], place: int) -> Word:
    """Return the word at a place, an empty mark outside of the text."""
    return words[place] if 0 <= place < len(words) else _NOWHERE


def get_low(words: Sequence[Word], place: int) -> str:
    """Return the lower-case word at a place, "" outside of the text."""
    return get_word(words, place).low


def skip_low(words: Sequence[Word], place: int, *lows: str) -> int:
    """Return the place behind the word if it is one of those, else the place itself."""
    return place + 1 if get_low(words, place) in lows else place


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
    if is_small and get_low(words, named_day) in (*_NAMED_DAYS, *WEEKDAYS):
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


def _read_year_behind(words: Sequence[Word], place: int) -> tuple[int | None, int]:
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


def _read_written_date(words: Sequence[Word], place: int) -> ReadPoint | None:
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


def _read_day_of_month(words: Sequence[Word], place: int) -> ReadPoint | None:
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
    is_sure = is_ordinal or get_low(words, place - 1) in _CLEAR_PREPOSITIONS | {"on"}
    if is_plain and not is_sure:
        return None
    year, end = _read_year_behind(words, month[1])
    return ReadPoint(NamedDay(year, month[0], day), end)


def _read_month(words: Sequence[Word], place: int) -> ReadPoint | None:
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
        year, end = _read_year_behind(words, day_place + 1)
        return ReadPoint(NamedDay(year, month, day), end)
    year, end = _read_year_behind(words, at)
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
    return get_low(words, place - 1) not in _CLEAR_PREPOSITIONS


_CLEAR_PREPOSITIONS = frozenset(
    "in since until till til 'til from by through thru during of early mid late".split()
)


def _read_weekday(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "Monday", "Monday 5 January" and "Monday the 5th"."""
    word = get_word(words, place)
    weekday = WEEKDAYS.get(word.low)
    if weekday is None or _is_everyday_word(words, place):
        return None
    if get_low(words, place + 1) == "." and get_low(words, place + 2) == "com":
        return None
    of_week = _read_weekday_of_week(words, place, weekday)
    if of_week is not None:
        return of_week
    at = skip_low(words, place + 1, ",")
    for reader in (_read_day_of_month, _read_month_and_day, _read_bare_ordinal):
        dated = reader(words, at)
        if dated is not None:
            return ReadPoint(dated.point, dated.end)
    return ReadPoint(NamedWeekday(weekday), place + 1, is_named=False)


def _read_weekday_of_week(words: Sequence[Word], place: int, weekday: int) -> ReadPoint | None:
    """Read "Tuesday last week", "Tuesday of next week"."""
    at = skip_low(words, place + 1, "of", ",")
    choice = _WHICH.get(get_low(words, at))
    if choice is None or get_low(words, at + 1) != "week":
        return None
    return ReadPoint(WeekdayOfWeek(weekday, choice[1]), at + 2)


def _read_month_and_day(words: Sequence[Word], place: int) -> ReadPoint | None:
    reading = _read_month(words, place)
    if reading is None or not isinstance(reading.point, NamedDay):
        return None
    return reading


def _read_bare_ordinal(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "the 15th" as a day of the month of the saying."""
    at = skip_low(words, place, "the")
    word = get_word(words, at)
    is_first = word.low == "first" and get_low(words, place - 1) in _BEFORE_THE_FIRST
    is_ordinal = word.kind is WordKind.ORDINAL or is_first
    day = _read_day_number(words, at) if is_ordinal else None
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

_WHICH = {
    "last": (Which.LAST, -1),
    "past": (Which.LAST, -1),
    "previous": (Which.LAST, -1),
    "this": (Which.THIS, 0),
    "current": (Which.THIS, 0),
    "next": (Which.NEXT, 1),
    "coming": (Which.NEXT, 1),
    "following": (Which.NEXT, 1),
}
_PHASES = frozenset({"earlier", "later"})


def _read_chosen(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "last month", "next Monday", "this summer", "earlier this year"."""
    at = skip_low(words, place, *_PHASES)
    at = skip_low(words, at, "the", "this") if _is_double_choice(words, at) else at
    choice = _WHICH.get(get_low(words, at))
    if choice is None:
        return None
    which, count = choice
    name = get_low(words, at + 1)
    if get_low(words, at + 2) == "of" and get_low(words, at + 3) != "this":
        return None
    unit = UNITS.get(name)
    if name == "weekend":
        return ReadPoint(Weekend(count), at + 2)
    if name in WEEKDAYS and get_low(words, place - 1) != "of":
        return _read_chosen_weekday(words, at, which)
    if get_low(words, at) == "past":
        return None
    if unit is not None and name in ("week", "month", "quarter", "year", "decade", "fortnight"):
        return _read_chosen_unit(words, at + 1, unit, count)
    if name == "night" and which is Which.LAST:
        return ReadPoint(ShiftedUnit(Unit.DAY, -1), at + 2)
    if name in ("morning", "afternoon", "evening") and which is Which.THIS:
        return ReadPoint(ShiftedUnit(Unit.DAY, 0), at + 2)
    if name in SEASONS:
        return ReadPoint(NamedSeason(None, SEASONS[name], which), at + 2)
    if name in MONTHS:
        return ReadPoint(NamedMonth(None, MONTHS[name], which), at + 2)
    return None


def _read_chosen_unit(words: Sequence[Word], place: int, unit: Unit, count: int) -> ReadPoint:
    """Read "last month", and the Tuesday of "last week on Tuesday"."""
    at = skip_low(words, place + 1, "on")
    weekday = WEEKDAYS.get(get_low(words, at))
    if unit is Unit.WEEK and weekday is not None:
        return ReadPoint(WeekdayOfWeek(weekday, count), at + 1)
    return ReadPoint(ShiftedUnit(unit, count), place + 1)


def _read_chosen_weekday(words: Sequence[Word], place: int, which: Which) -> ReadPoint:
    weekday = WEEKDAYS[get_low(words, place + 1)]
    return ReadPoint(NamedWeekday(weekday, which), place + 2)


def _is_double_choice(words: Sequence[Word], place: int) -> bool:
    """Return True for "this past Monday" and "the coming week"."""
    following = get_low(words, place + 1)
    return get_low(words, place) in ("the", "this") and following in _WHICH


_NAMED_DAYS = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}


def _read_near_day(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "yesterday" and "the day after tomorrow"."""
    at = skip_low(words, place, "earlier", "later")
    count = _NAMED_DAYS.get(get_low(words, at))
    if count is not None and not _is_name(words, at):
        return ReadPoint(ShiftedUnit(Unit.DAY, count), at + 1)
    at = skip_low(words, place, "the")
    lows = tuple(get_low(words, i) for i in range(at, at + 3))
    if lows == ("day", "before", "yesterday"):
        return ReadPoint(ShiftedUnit(Unit.DAY, -2), at + 3)
    if lows == ("day", "after", "tomorrow"):
        return ReadPoint(ShiftedUnit(Unit.DAY, 2), at + 3)
    unit = UNITS.get(lows[0])
    if unit is not None and lows[1:] in (("before", "last"), ("after", "next")):
        return ReadPoint(ShiftedUnit(unit, -2 if lows[2] == "last" else 2), at + 3)
    return None


def _is_name(words: Sequence[Word], place: int) -> bool:
    """Return True for the "Today" of "USA Today"."""
    before = get_word(words, place - 1)
    return get_word(words, place).is_capitalised and before.is_capitalised


def read_count(words: Sequence[Word], place: int) -> tuple[int, int] | None:
    """Return a small number and the place behind it: "2", "two", "twenty-five", "a couple of"."""
    word = get_word(words, place)
    at = skip_low(words, place, "a")
    if get_low(words, at) == "couple":
        return 2, skip_low(words, at + 1, "of", "more")
    if word.kind is WordKind.NUMBER:
        return int(word.low), place + 1
    if word.low in TENS:
        at = skip_low(words, place + 1, "-")
        ones = NUMBERS.get(get_low(words, at), 0)
        if 1 <= ones <= 9 and get_low(words, at) not in ("a", "an"):
            return TENS[word.low] + ones, at + 1
    if word.low in NUMBERS:
        return NUMBERS[word.low], place + 1
    return None


def read_length(words: Sequence[Word], place: int) -> tuple[int, Unit, int] | None:
    """Return count, unit and the place behind them: "three weeks", "a year and a half"."""
    at = skip_low(words, place, *_ROUGHLY)
    if get_low(words, at) == "half" and get_low(words, at + 1) in ("a", "an"):
        return _halve_unit(words, 0, at + 2)
    counted = read_count(words, at)
    if counted is None or get_low(words, place - 1) in ("-", *TENS):
        return None
    count, at = counted
    if _lows_match(words, at, ("and", "a", "half")):
        return _halve_unit(words, count, at + 3)
    unit = UNITS.get(get_low(words, at))
    if unit is None:
        return None
    if _lows_match(words, at + 1, ("and", "a", "half")):
        halved = _halve_unit(words, count, at)
        return (halved[0], halved[1], at + 4) if halved is not None else None
    return count, unit, at + 1


def _lows_match(words: Sequence[Word], place: int, lows: tuple[str, ...]) -> bool:
    return all(get_low(words, place + i) == low for i, low in enumerate(lows))


def _halve_unit(words: Sequence[Word], count: int, place: int) -> tuple[int, Unit, int] | None:
    """Return so many and a half of the unit at the place, in months."""
    if UNITS.get(get_low(words, place)) is not Unit.YEAR:
        return None
    return 12 * count + 6, Unit.MONTH, place + 1


_ROUGHLY = frozenset(
    "about around almost nearly over roughly approximately just like exactly".split()
)


def _read_ago(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "two weeks ago" and "three days from now"."""
    length = read_length(words, place)
    if length is None or length[1] is Unit.HOUR:
        return None
    count, unit, at = length
    is_back = get_low(words, at) == "back" and get_low(words, at + 1) not in ("in", "on", "when")
    if get_low(words, at) == "ago" or is_back:
        return ReadPoint(ShiftedDay(unit, -count), at + 1)
    if get_low(words, at) == "from" and get_low(words, at + 1) in ("now", "today"):
        return ReadPoint(ShiftedDay(unit, count), at + 2)
    is_bounded = get_low(words, place - 1) == "in" and get_low(words, place) not in ("over", "just")
    if is_bounded and get_low(words, at) not in ("'", "of", "-", "or", "to"):
        return ReadPoint(ShiftedDay(unit, count), at, is_named=False)
    return None


def _read_last_part(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "the end of June", "the end of the month", "end of year"."""
    at = skip_low(words, place, "the")
    at = skip_low(words, at, "very")
    if get_low(words, at) != "end" or get_low(words, at + 1) != "of":
        return None
    at += 2
    unit_place = skip_low(words, at, "the", "this")
    unit = UNITS.get(get_low(words, unit_place))
    if unit is not None and not get_low(words, unit_place).endswith("s"):
        return ReadPoint(LastPart(ShiftedUnit(unit, 0)), unit_place + 1)
    whole = _read_whole(words, at)
    if whole is None:
        return None
    return replace(whole, point=LastPart(whole.point), is_named=True)


def _read_weekend(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "the weekend" as the coming one."""
    if not _lows_match(words, place, ("the", "weekend")):
        return None
    return ReadPoint(Weekend(0), place + 2, is_named=False)


_STARTS = frozenset({"start", "beginning"})


def _read_first_part(words: Sequence[Word], place: int) -> ReadPoint | None:
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
        _read_chosen,
        _read_quarter,
        _read_season,
        _read_month,
        _read_year,
        _read_near_day,
    ):
        reading = reader(words, place)
        if reading is not None and not isinstance(reading.point, NamedDay):
            return reading
    return None


_QUARTER_NAMES = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4}


def _read_quarter(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "Q3 2025" and "the third quarter of 2025"."""
    word = get_word(words, place)
    if word.kind is WordKind.QUARTER:
        year, end = _read_year_behind(words, place + 1)
        return ReadPoint(NamedQuarter(year, int(word.low[1])), end)
    at = skip_low(words, place, "the")
    quarter = _QUARTER_NAMES.get(get_low(words, at))
    if quarter is None or get_low(words, at + 1) != "quarter":
        return None
    year, end = _read_year_behind(words, at + 2)
    if year is None:
        return None
    return ReadPoint(NamedQuarter(year, quarter), end)


def _read_season(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "spring 2024", "the summer of 2019" and "summer"."""
    at = skip_low(words, place, "the")
    first_month = SEASONS.get(get_low(words, at))
    if first_month is None:
        return None
    year, end = _read_year_behind(words, at + 1)
    if year is not None:
        return ReadPoint(NamedSeason(year, first_month), end)
    if get_low(words, place - 1) not in _CLEAR_PREPOSITIONS:
        return None
    return ReadPoint(NamedSeason(None, first_month), at + 1, is_named=False)


def _read_year(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "2019" and "'19"."""
    year = read_year(words, place)
    if year is None or _is_count(words, place, year):
        return None
    return ReadPoint(NamedYear(year), place + 1, is_named=False)


_BEFORE_COUNTS = frozenset("to by at from over around about through than".split())
_NO_PLURALS = frozenset("is was has as this his its yes vs perhaps always less us".split())


def _is_count(words: Sequence[Word], place: int, year: int) -> bool:
    """Return True for the number of "up to 1200" and of "in 2000 steps"."""
    if not 1900 <= year <= 2100 and get_low(words, place - 1) in _BEFORE_COUNTS:
        return True
    following = get_word(words, place + 1)
    if following.low in UNITS or following.low in COUNTED_THINGS:
        return True
    is_plural = following.low.endswith("s") and following.kind is WordKind.WORD
    return is_plural and not following.is_capitalised and following.low not in _NO_PLURALS | {"'s"}


def _read_decade(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "the 2000s", "the 90s" and "the late nineties"."""
    at = skip_low(words, place, "the")
    is_vague = get_low(words, at) in ("mid", "late")
    at = skip_low(words, at, "early", "mid", "late")
    at = skip_low(words, at, "-")
    word = get_word(words, at)
    if word.kind is WordKind.DECADE:
        digits = re.sub(r"[^0-9]", "", word.low)
        year = int(digits) if len(digits) == 4 else _widen_decade(int(digits))
        return ReadPoint(NamedDecade(year), at + 1, is_named=False, is_vague=is_vague)
    if word.low in DECADES and get_low(words, place) == "the":
        decade = NamedDecade(1900 + DECADES[word.low])
        return ReadPoint(decade, at + 1, is_named=False, is_vague=is_vague)
    return None


def _widen_decade(short: int) -> int:
    return 2000 + short if short < 30 else 1900 + short


def _read_feast(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "Christmas", "New Year's Eve", "last Christmas" and "Easter 2024"."""
    at = skip_low(words, place, *_WHICH, "the")
    is_lower = not get_word(words, at).is_capitalised
    if is_lower and get_low(words, at - 1) not in _BEFORE_FEASTS:
        return None
    for length in (4, 3, 2, 1):
        name = tuple(get_low(words, i) for i in range(at, at + length))
        if name in FEASTS:
            year, end = _read_year_behind(words, at + length)
            return ReadPoint(Feast(year, *FEASTS[name]), end, is_named=at > place)
        if name in EASTER_DAYS:
            year, end = _read_year_behind(words, at + length)
            return ReadPoint(Easter(year, EASTER_DAYS[name]), end, is_named=at > place)
    return None


_BEFORE_FEASTS = frozenset({*_CLEAR_PREPOSITIONS, *_WHICH, "at", "on", "over"})


def _read_now(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read the "now" of "from now on" as today."""
    before = get_low(words, place - 1)
    is_now = get_low(words, place) == "now" and before in ("from", "between")
    is_at_once = get_low(words, place) == "immediately" and before == "effective"
    if not is_now and not is_at_once:
        return None
    return ReadPoint(ShiftedUnit(Unit.DAY, 0), place + 1)


_READERS = (
    _read_now,
    _read_weekend,
    _read_written_date,
    _read_last_part,
    _read_first_part,
    _read_day_of_month,
    _read_near_day,
    _read_ago,
    _read_quarter,
    _read_chosen,
    _read_month,
    _read_weekday,
    _read_season,
    _read_decade,
    _read_feast,
    _read_year,
    _read_bare_ordinal,
)
