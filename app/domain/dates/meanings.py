"""What a phrase of time means, as choices among closed sets that a network can learn.

The network of many languages makes the choices (app/extraction/foreign_dates.py). The points are
those that English phrases have.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Final

from app.domain.dates.names import SEASONS, Unit
from app.domain.dates.phrase_kinds import Phrase, PhraseKind
from app.domain.dates.points import (
    DayOfShiftedMonth,
    DayOfThisMonth,
    InShiftedYear,
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
from app.domain.dates.ranges import share_year


class Form(StrEnum):
    """The kind of a point: "2019" is a year, "last week" a unit, "two weeks ago" is ago."""

    NONE = "none"
    DAY = "day"
    MONTH = "month"
    QUARTER = "quarter"
    SEASON = "season"
    YEAR = "year"
    DECADE = "decade"
    WEEKDAY = "weekday"
    WEEKDAY_OF_WEEK = "weekday of a week"
    WEEKEND = "weekend"
    DAY_OF_MONTH = "day of this month"
    DAY_OF_SHIFTED_MONTH = "day of another month"
    DAY_OF_YEAR = "day of another year"
    MONTH_OF_YEAR = "month of another year"
    SEASON_OF_YEAR = "season of another year"
    UNIT = "unit"
    AGO = "ago"
    OTHER = "other"  # such as a feast: no date is made of it


class Figure(StrEnum):
    """What a number in figures is. The last ones are those of the end of a range."""

    NONE = "none"
    DAY = "day"
    MONTH = "month"
    YEAR = "year"
    COUNT = "count"
    UNTIL_DAY = "until day"
    UNTIL_MONTH = "until month"
    UNTIL_YEAR = "until year"


NO_STEP: Final = 3
OTHER_NUMBER: Final = 13


@dataclass(frozen=True, slots=True)
class Meaning:
    """The choices for one phrase.

    `closes` is True for "the end of June", and for a range whose last unit counts ("through June").
    `step` counts units from the present one: -1 is the last, 0 this, 1 the next. Of "two weeks ago"
    it is -1 and of "in two weeks" 1, whatever their number. `number` is one in words and `month`
    one by name; 0 is none. `weekday` counts from 1 for Monday and `season` from 1 for spring. What
    begins with `until` tells of the end of a range.
    """

    kind: PhraseKind
    form: Form = Form.NONE
    until: Form = Form.NONE
    unit: Unit | None = None
    closes: bool = False
    is_vague: bool = False
    step: int = NO_STEP
    number: int = 0
    month: int = 0
    weekday: int = 0
    season: int = 0
    until_month: int = 0
    until_weekday: int = 0


# What each choice may be, in the order of the network's outputs.
CHOICES: Final[Mapping[str, tuple[object, ...]]] = {
    "kind": tuple(PhraseKind),
    "form": tuple(Form),
    "until": tuple(Form),
    "unit": (None, *Unit),
    "closes": (False, True),
    "is_vague": (False, True),
    "step": (-2, -1, 0, 1, 2, NO_STEP),
    "number": tuple(range(OTHER_NUMBER + 1)),
    "month": tuple(range(13)),
    "weekday": tuple(range(8)),
    "season": tuple(range(5)),
    "until_month": tuple(range(13)),
    "until_weekday": tuple(range(8)),
}
assert list(CHOICES) == [field.name for field in fields(Meaning)]

WHICH: Final = {-1: Which.LAST, 0: Which.THIS, 1: Which.NEXT, NO_STEP: Which.BARE}
# The forms whose step is a word such as "last", which may stand before them.
_OF_WHICH: Final = (Form.WEEKDAY, Form.MONTH, Form.SEASON)
FIRST_MONTHS: Final = (None, *dict.fromkeys(SEASONS.values()))
Figures = Mapping[Figure, int]


def make_phrase(meaning: Meaning, figures: Figures, first: int, end: int) -> Phrase | None:
    """Return the phrase of the words from `first` to `end`, None if the choices do not fit."""
    kind = meaning.kind
    if kind is PhraseKind.VAGUE:
        return Phrase(kind, first, end)
    if kind is PhraseKind.LASTING:
        count = _find_count(meaning, figures)
        if not count or meaning.unit is None or meaning.form is not Form.NONE:
            return None
        return Phrase(kind, first, end, count=count, unit=meaning.unit)
    point = _make_point(meaning, figures)
    if point is None:
        return None
    if kind is not PhraseKind.BETWEEN:
        point = LastPart(point) if meaning.closes else point
        return Phrase(kind, first, end, point=point, is_vague=meaning.is_vague)
    until = _make_end(meaning, figures)
    if until is None:
        return None
    start = share_year(point, until)
    return Phrase(kind, first, end, point=start, until=until, is_through=meaning.closes)


def _make_point(meaning: Meaning, figures: Figures) -> Point | None:
    """Return the only or first point."""
    if meaning.step != NO_STEP and meaning.form not in _OF_WHICH:
        return _make_near_point(meaning, figures)
    year = _find_year(figures, Figure.YEAR)
    month, day = _find_month(meaning, figures), _find_day(meaning, figures)
    season = FIRST_MONTHS[meaning.season]
    which = WHICH.get(meaning.step)
    match meaning.form:
        case Form.DAY if month and day:
            return NamedDay(year, month, day)
        case Form.DAY_OF_MONTH if day:
            return DayOfThisMonth(day)
        case Form.WEEKDAY if meaning.weekday and which:
            return NamedWeekday(meaning.weekday - 1, which)
        case Form.MONTH if month and which:
            return NamedMonth(year, month, which)
        case Form.SEASON if season and which:
            return NamedSeason(year, season, which)
        case Form.YEAR if year:
            return NamedYear(year)
        case Form.DECADE:
            # "1990s" and "90s". Those before the thirties are of this century.
            decade = figures.get(Figure.YEAR, 0)
            if decade == 0 or decade % 10:
                return None
            if decade < 100:
                decade += 1900 if decade >= 30 else 2000
            return NamedDecade(decade)
        case Form.QUARTER:
            quarter = _find_count(meaning, figures)
            return NamedQuarter(year, quarter) if 1 <= quarter <= 4 else None
        case _:
            return None


def _make_near_point(meaning: Meaning, figures: Figures) -> Point | None:
    """Return a point that counts from the day of the saying."""
    step, unit = meaning.step, meaning.unit
    month, day = _find_month(meaning, figures), _find_day(meaning, figures)
    season, count = FIRST_MONTHS[meaning.season], _find_count(meaning, figures)
    match meaning.form:
        case Form.UNIT if unit:
            return ShiftedUnit(unit, step)
        case Form.AGO if unit and count and step in (-1, 1):
            return ShiftedDay(unit, step * count)
        case Form.WEEKEND:
            return Weekend(step)
        case Form.WEEKDAY_OF_WEEK if meaning.weekday:
            return WeekdayOfWeek(meaning.weekday - 1, step)
        case Form.DAY_OF_SHIFTED_MONTH if day:
            return DayOfShiftedMonth(day, step)
        case Form.DAY_OF_YEAR if month and day:
            return InShiftedYear(NamedDay(None, month, day), step)
        case Form.MONTH_OF_YEAR if month:
            return InShiftedYear(NamedMonth(None, month), step)
        case Form.SEASON_OF_YEAR if season:
            return InShiftedYear(NamedSeason(None, season), step)
        case _:
            return None


def _make_end(meaning: Meaning, figures: Figures) -> Point | None:
    """Return the end of a range."""
    year = _find_year(figures, Figure.UNTIL_YEAR)
    month = meaning.until_month or figures.get(Figure.UNTIL_MONTH, 0)
    day = figures.get(Figure.UNTIL_DAY, 0)
    match meaning.until:
        case Form.DAY if month and day:
            return NamedDay(year, month, day)
        case Form.MONTH if month:
            return NamedMonth(year, month)
        case Form.YEAR if year:
            return NamedYear(year)
        case Form.WEEKDAY if meaning.until_weekday:
            return NamedWeekday(meaning.until_weekday - 1)
        case _:
            return None


def _find_day(meaning: Meaning, figures: Figures) -> int:
    """Return the day of the month, 0 if there is none."""
    return figures.get(Figure.DAY) or _read_number(meaning)


def _find_month(meaning: Meaning, figures: Figures) -> int:
    """Return the month, 0 if there is none. A range may name it at its end alone."""
    return meaning.month or figures.get(Figure.MONTH) or figures.get(Figure.UNTIL_MONTH, 0)


def _find_count(meaning: Meaning, figures: Figures) -> int:
    """Return how many units or which quarter it is, 0 if that is not known."""
    return figures.get(Figure.COUNT) or _read_number(meaning)


def _read_number(meaning: Meaning) -> int:
    """Return the number that words spell, 0 if there is none or it is not known."""
    return 0 if meaning.number == OTHER_NUMBER else meaning.number


def _find_year(figures: Figures, figure: Figure) -> int | None:
    """Return the year; "24" is 2024 and "95" is 1995."""
    year = figures.get(figure)
    if year is None or year >= 100:
        return year
    return year + (2000 if year < 50 else 1900)
