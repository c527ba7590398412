"""Reads what counts from the day of the saying: "yesterday", "next month", "two weeks ago"."""

from collections.abc import Sequence

from app.domain.dates.names import MONTHS, NUMBERS, SEASONS, TENS, UNITS, WEEKDAYS, Unit
from app.domain.dates.points import (
    NamedMonth,
    NamedSeason,
    NamedWeekday,
    ShiftedDay,
    ShiftedUnit,
    WeekdayOfWeek,
    Weekend,
    Which,
)
from app.domain.dates.scan import ReadPoint, get_low, get_word, lows_match, skip_low
from app.domain.dates.words import Word, WordKind

CHOICES = {
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


def read_chosen(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "last month", "next Monday", "this summer", "earlier this year"."""
    at = skip_low(words, place, *_PHASES)
    if get_low(words, at + 1) in CHOICES:  # "this past Monday", "the coming week"
        at = skip_low(words, at, "the", "this")
    choice = CHOICES.get(get_low(words, at))
    if choice is None:
        return None
    which, count = choice
    name = get_low(words, at + 1)
    if get_low(words, at + 2) == "of" and get_low(words, at + 3) != "this":
        return None
    unit = UNITS.get(name)
    if name == "weekend":
        return ReadPoint(Weekend(count), at + 2)
    is_of = get_low(words, place - 1) == "of" and get_low(words, place - 2) != "as"
    if name in WEEKDAYS and not is_of:
        return ReadPoint(NamedWeekday(WEEKDAYS[name], which), at + 2)
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


NAMED_DAYS = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}


def read_near_day(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "yesterday" and "the day after tomorrow"."""
    at = skip_low(words, place, "earlier", "later")
    count = NAMED_DAYS.get(get_low(words, at))
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
    at = skip_low(words, place, *ROUGHLY)
    if get_low(words, at) == "half" and get_low(words, at + 1) in ("a", "an"):
        return _halve_unit(words, 0, at + 2)
    counted = read_count(words, at)
    if counted is None or get_low(words, place - 1) in ("-", *TENS):
        return None
    count, at = counted
    if lows_match(words, at, ("and", "a", "half")):
        return _halve_unit(words, count, at + 3)
    unit = UNITS.get(get_low(words, at))
    if unit is None:
        return None
    if lows_match(words, at + 1, ("and", "a", "half")):
        halved = _halve_unit(words, count, at)
        return (halved[0], halved[1], at + 4) if halved is not None else None
    return count, unit, at + 1


def _halve_unit(words: Sequence[Word], count: int, place: int) -> tuple[int, Unit, int] | None:
    """Return so many and a half of the unit at the place, in months."""
    if UNITS.get(get_low(words, place)) is not Unit.YEAR:
        return None
    return 12 * count + 6, Unit.MONTH, place + 1


ROUGHLY = frozenset(
    "about around almost nearly over roughly approximately just like exactly".split()
)


def read_ago(words: Sequence[Word], place: int) -> ReadPoint | None:
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
    if get_low(words, place - 1) == "in" and lows_match(words, at, ("'", "time")):
        return ReadPoint(ShiftedDay(unit, count), at + 2)
    is_bounded = get_low(words, place - 1) == "in" and get_low(words, place) not in ("over", "just")
    if is_bounded and get_low(words, at) not in ("'", "of", "-", "or", "to"):
        return ReadPoint(ShiftedDay(unit, count), at, is_named=False)
    return None


def read_weekend(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read "the weekend" as the coming one."""
    if not lows_match(words, place, ("the", "weekend")):
        return None
    return ReadPoint(Weekend(0), place + 2, is_named=False)


def read_now(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read the "now" of "from now on" as today."""
    before = get_low(words, place - 1)
    is_now = get_low(words, place) == "now" and before in ("from", "between")
    is_at_once = get_low(words, place) == "immediately" and before == "effective"
    if not is_now and not is_at_once:
        return None
    return ReadPoint(ShiftedUnit(Unit.DAY, 0), place + 1)
