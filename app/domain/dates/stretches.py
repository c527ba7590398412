"""Finds the stretch of the calendar that a point means on a day."""

from dataclasses import replace
from datetime import MAXYEAR, MINYEAR, date

from app.domain.dates.calendar import (
    Stretch,
    add_days,
    add_months,
    add_units,
    find_easter,
    find_unit_start,
    make_day,
    make_month,
    make_season,
    make_stretch,
)
from app.domain.dates.dated_text import Precision
from app.domain.dates.names import UNIT_PRECISION, Unit
from app.domain.dates.points import (
    DayOfShiftedMonth,
    DayOfThisMonth,
    Easter,
    Feast,
    InShiftedYear,
    LastPart,
    Lean,
    NamedDay,
    NamedDecade,
    NamedMonth,
    NamedQuarter,
    NamedSeason,
    NamedWeekday,
    NamedYear,
    NearPoint,
    Point,
    ShiftedDay,
    ShiftedUnit,
    WeekdayOfWeek,
    Weekend,
    WeekFrom,
    Which,
)


def find_stretch(point: Point, today: date, lean: Lean) -> Stretch | None:
    """Return the stretch that a point means on that day, or None if the calendar lacks it."""
    match point:
        case NamedDay(year, month, day) | Feast(year, month, day):
            return _find_day(year, month, day, today, lean)
        case NamedMonth(year, month, which):
            chosen = year if year is not None else _choose_year(month, which, today, lean)
            return make_month(chosen, month)
        case NamedQuarter(year, quarter):
            return _find_quarter(year, quarter, today, lean)
        case NamedSeason(year, first_month, which):
            chosen = year if year is not None else _choose_season(first_month, which, today, lean)
            return make_season(chosen, first_month)
        case NamedYear(year):
            return make_stretch(make_day(year, 1, 1), Unit.YEAR)
        case NamedDecade(year):
            return make_stretch(make_day(year, 1, 1), Unit.DECADE)
        case Easter(year, days):
            sunday = _find_easter(year, today, lean)
            return make_stretch(add_days(sunday, days) if sunday else None, Unit.DAY)
        case LastPart(whole):
            return _find_end(whole, today, lean)
        case _:
            return _find_near_stretch(point, today, lean)


def _find_near_stretch(point: NearPoint, today: date, lean: Lean) -> Stretch | None:
    """Return the stretch of a point that counts from the day of the saying."""
    match point:
        case NamedWeekday(weekday, which):
            return make_stretch(_find_weekday(weekday, which, today, lean), Unit.DAY)
        case WeekdayOfWeek(weekday, weeks):
            monday = find_unit_start(today, Unit.WEEK)
            return make_stretch(add_days(monday, 7 * weeks + weekday), Unit.DAY)
        case WeekFrom(day):
            first = find_stretch(day, today, Lean.PAST if lean is Lean.PAST else Lean.NEAR)
            return make_stretch(first.start, Unit.WEEK) if first is not None else None
        case Weekend(count):
            saturday = add_days(find_unit_start(today, Unit.WEEK), 5 + 7 * count)
            if saturday is None:
                return None
            return Stretch(saturday, add_days(saturday, 2), Precision.DAY)
        case DayOfShiftedMonth(day, months):
            month = add_months(today.replace(day=1), months)
            return make_stretch(make_day(month.year, month.month, day) if month else None, Unit.DAY)
        case InShiftedYear(named, years):
            return find_stretch(replace(named, year=today.year + years), today, lean)
        case DayOfThisMonth(day):
            return _find_day_of_month(day, today, lean)
        case ShiftedUnit(unit, count):
            return make_stretch(add_units(find_unit_start(today, unit), unit, count), unit)
        case ShiftedDay(unit, count):
            start = add_units(today, unit, count)
            if start is None:
                return None
            is_week = unit in (Unit.WEEK, Unit.FORTNIGHT)
            precision = Precision.DAY if is_week else UNIT_PRECISION[unit]
            return Stretch(start, add_days(start, 1), precision)


def _find_day(year: int | None, month: int, day: int, today: date, lean: Lean) -> Stretch | None:
    if year is not None:
        return make_stretch(make_day(year, month, day), Unit.DAY)
    if lean is Lean.NEAR:
        years = (today.year - 1, today.year, today.year + 1)
        days = [make_day(year, month, day) for year in years if MINYEAR <= year <= MAXYEAR]
        existing = [each for each in days if each is not None]
        nearest = min(existing, key=lambda each: abs((each - today).days), default=None)
        return make_stretch(nearest, Unit.DAY)
    this_year = make_day(today.year, month, day)
    if this_year is None or (lean is Lean.PAST and this_year > today):
        other = make_day(today.year - 1, month, day)
    elif lean is Lean.FUTURE and this_year < today:
        other = make_day(today.year + 1, month, day)
    else:
        other = this_year
    return make_stretch(other, Unit.DAY)


def _find_easter(year: int | None, today: date, lean: Lean) -> date | None:
    if year is not None:
        return find_easter(year)
    this_year = find_easter(today.year)
    if this_year is None or (lean is Lean.PAST and this_year > today):
        return find_easter(today.year - 1)
    if lean is not Lean.PAST and this_year < today:
        return find_easter(today.year + 1)
    return this_year


def _choose_year(month: int, which: Which, today: date, lean: Lean) -> int:
    """Return the year of a bare month: the month of the saying itself is never the last or next."""
    match which:
        case Which.THIS:
            return today.year
        case Which.LAST:
            return today.year - (month >= today.month)
        case Which.NEXT:
            return today.year + (month <= today.month)
    if lean is Lean.PAST:
        return today.year - (month > today.month)
    if lean is Lean.NEAR and 0 < today.month - month < 6:
        return today.year
    return today.year + (month < today.month)


def _find_quarter(year: int | None, quarter: int, today: date, lean: Lean) -> Stretch | None:
    if year is None:
        current = (today.month - 1) // 3 + 1
        year = today.year
        if lean is Lean.PAST and quarter > current:
            year -= 1
        if lean is not Lean.PAST and quarter < current:
            year += 1
    return make_stretch(make_day(year, 3 * quarter - 2, 1), Unit.QUARTER)


def _choose_season(first_month: int, which: Which, today: date, lean: Lean) -> int:
    start = today.replace(month=first_month, day=1)
    # A winter that began in December lasts into the next year.
    last_start = today.year if start <= today else today.year - 1
    last = make_season(last_start, first_month)
    is_now = last is not None and last.end is not None and today < last.end
    match which:
        case Which.LAST:
            return last_start - is_now
        case Which.NEXT:
            return last_start + 1
        case Which.THIS:
            return last_start if is_now else today.year
    if lean is Lean.PAST or is_now:
        return last_start
    return last_start + 1


def _find_weekday(weekday: int, which: Which, today: date, lean: Lean) -> date | None:
    ahead = (weekday - today.weekday()) % 7
    match which:
        case Which.NEXT:
            return add_days(today, ahead or 7)
        case Which.LAST:
            return add_days(today, ahead - 7)
        case Which.THIS:
            return add_days(today, ahead - 7 if lean is Lean.PAST and ahead else ahead)
    if lean is Lean.PAST:
        return add_days(today, ahead - 7)
    return add_days(today, ahead or 7)


def _find_day_of_month(day: int, today: date, lean: Lean) -> Stretch | None:
    month_start = today.replace(day=1)
    if lean is Lean.PAST and day > today.day:
        moved = add_months(month_start, -1)
    elif lean is not Lean.PAST and day < today.day:
        moved = add_months(month_start, 1)
    else:
        moved = month_start
    if moved is None:
        return None
    return make_stretch(make_day(moved.year, moved.month, day), Unit.DAY)


def _find_end(whole: Point, today: date, lean: Lean) -> Stretch | None:
    stretch = find_stretch(whole, today, lean)
    if stretch is None or stretch.end is None:
        return None
    return Stretch(stretch.end, add_days(stretch.end, 1), stretch.precision)
