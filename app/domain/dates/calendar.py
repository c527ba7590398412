"""Stretches of the calendar and how to move between them. All of it is in local days."""

from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, date, timedelta

from app.domain.dates.dated_text import Precision
from app.domain.dates.names import UNIT_PRECISION, Unit


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of local days, half-open. `end` is None beyond the last year of the calendar."""

    start: date
    end: date | None
    precision: Precision


def make_day(year: int, month: int, day: int) -> date | None:
    """Return the day, or None if the calendar has no such day."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def add_days(day: date, count: int) -> date | None:
    """Return the day so many days later, or None outside of the calendar."""
    try:
        return day + timedelta(days=count)
    except OverflowError:
        return None


def add_months(day: date, count: int) -> date | None:
    """Return the same day of another month, its last day if it is shorter; None outside of the
    calendar.
    """
    years, month = divmod(day.month - 1 + count, 12)
    year = day.year + years
    if not MINYEAR <= year <= MAXYEAR:
        return None
    for last in (day.day, 30, 29, 28):
        moved = make_day(year, month + 1, min(day.day, last))
        if moved is not None:
            return moved
    return None


_MONTHS_OF_UNIT = {Unit.MONTH: 1, Unit.QUARTER: 3, Unit.YEAR: 12, Unit.DECADE: 120}
_DAYS_OF_UNIT = {Unit.DAY: 1, Unit.WEEK: 7, Unit.FORTNIGHT: 14}


def add_units(day: date, unit: Unit, count: int) -> date | None:
    """Return the day so many units later. Hours count as no days."""
    if unit in _MONTHS_OF_UNIT:
        return add_months(day, _MONTHS_OF_UNIT[unit] * count)
    return add_days(day, _DAYS_OF_UNIT.get(unit, 0) * count)


def find_unit_start(day: date, unit: Unit) -> date:
    """Return the first day of the week, month, quarter, year or decade that contains the day."""
    match unit:
        case Unit.WEEK | Unit.FORTNIGHT:
            return add_days(day, -day.weekday()) or day
        case Unit.MONTH:
            return day.replace(day=1)
        case Unit.QUARTER:
            return day.replace(month=day.month - (day.month - 1) % 3, day=1)
        case Unit.YEAR:
            return day.replace(month=1, day=1)
        case Unit.DECADE:
            return day.replace(year=max(MINYEAR, day.year - day.year % 10), month=1, day=1)
        case _:
            return day


def make_stretch(start: date | None, unit: Unit) -> Stretch | None:
    """Return one unit from that day on, or None if there is no such day."""
    if start is None:
        return None
    return Stretch(start, add_units(start, unit, 1), UNIT_PRECISION[unit])


def make_month(year: int, month: int) -> Stretch | None:
    """Return the month of that year."""
    return make_stretch(make_day(year, month, 1), Unit.MONTH)


def make_season(year: int, first_month: int) -> Stretch | None:
    """Return the three months from that month on."""
    start = make_day(year, first_month, 1)
    if start is None:
        return None
    return Stretch(start, add_months(start, 3), Precision.SEASON)


def find_easter(year: int) -> date | None:
    """Return Easter Sunday of the Western churches, by the rule of Meeus, Jones and Butcher."""
    golden = year % 19
    century, rest = divmod(year, 100)
    leap_centuries, century_rest = divmod(century, 4)
    shift = (century - (century + 8) // 25 + 1) // 3
    moon = (19 * golden + century - leap_centuries - shift + 15) % 30
    leap_years, year_rest = divmod(rest, 4)
    weekday = (32 + 2 * century_rest + 2 * leap_years - moon - year_rest) % 7
    late = (golden + 11 * moon + 22 * weekday) // 451
    month, day = divmod(moon + weekday - 7 * late + 114, 31)
    return make_day(year, month, day + 1)
