"""The kinds of points in time that words name, and the calendar stretch that each means."""

from dataclasses import dataclass
from enum import Enum, auto

from app.domain.dates.names import Unit


class Lean(Enum):
    """Which one a date without its year or week means: the one before, the one to come, or the
    nearer of the two.
    """

    PAST = auto()
    FUTURE = auto()
    NEAR = auto()


class Which(Enum):
    """The word before a weekday, a month or a season: "last Monday", "this summer"."""

    BARE = auto()
    LAST = auto()
    THIS = auto()
    NEXT = auto()


@dataclass(frozen=True, slots=True)
class NamedDay:
    """A day of a month, with or without its year."""

    year: int | None
    month: int
    day: int


@dataclass(frozen=True, slots=True)
class NamedMonth:
    """A month, with or without its year."""

    year: int | None
    month: int
    which: Which = Which.BARE


@dataclass(frozen=True, slots=True)
class NamedQuarter:
    """A quarter, with or without its year."""

    year: int | None
    quarter: int


@dataclass(frozen=True, slots=True)
class NamedSeason:
    """A season, with or without its year."""

    year: int | None
    first_month: int
    which: Which = Which.BARE


@dataclass(frozen=True, slots=True)
class NamedYear:
    """A year."""

    year: int


@dataclass(frozen=True, slots=True)
class NamedDecade:
    """Ten years from that year on."""

    year: int


@dataclass(frozen=True, slots=True)
class NamedWeekday:
    """A weekday, Monday being 0."""

    weekday: int
    which: Which = Which.BARE


@dataclass(frozen=True, slots=True)
class WeekdayOfWeek:
    """A weekday of a week, counted from the present one: "Tuesday last week" has -1."""

    weekday: int
    weeks: int


@dataclass(frozen=True, slots=True)
class WeekFrom:
    """ "Week commencing 12 May": seven days from a day on."""

    day: NamedDay | NamedWeekday


@dataclass(frozen=True, slots=True)
class Weekend:
    """A Saturday and a Sunday, counted from the coming ones: "last weekend" is -1."""

    count: int


@dataclass(frozen=True, slots=True)
class DayOfThisMonth:
    """ "the 15th" without its month."""

    day: int


@dataclass(frozen=True, slots=True)
class DayOfShiftedMonth:
    """ "the 5th of next month": a day of a month that counts from the present one."""

    day: int
    months: int


@dataclass(frozen=True, slots=True)
class InShiftedYear:
    """ "March last year": a point without a year, and a year that counts from the present one."""

    point: NamedDay | NamedMonth | NamedQuarter | NamedSeason
    years: int


@dataclass(frozen=True, slots=True)
class ShiftedUnit:
    """A whole unit, counted from the present one: "last month" is -1, "today" is 0."""

    unit: Unit
    count: int


@dataclass(frozen=True, slots=True)
class ShiftedDay:
    """The day of the saying, moved by so many units: "two months ago" is -2."""

    unit: Unit
    count: int


@dataclass(frozen=True, slots=True)
class Feast:
    """A feast on the same day each year."""

    year: int | None
    month: int
    day: int


@dataclass(frozen=True, slots=True)
class Easter:
    """A day so many days after Easter Sunday, with or without its year."""

    year: int | None
    days: int


@dataclass(frozen=True, slots=True)
class LastPart:
    """The end of another point: "the end of June" is the first day after June."""

    whole: "Point"


NearPoint = (
    NamedWeekday
    | WeekdayOfWeek
    | WeekFrom
    | Weekend
    | DayOfThisMonth
    | DayOfShiftedMonth
    | InShiftedYear
    | ShiftedUnit
    | ShiftedDay
)


Point = (
    NamedDay
    | NamedMonth
    | NamedQuarter
    | NamedSeason
    | NamedYear
    | NamedDecade
    | Feast
    | Easter
    | LastPart
    | NearPoint
)
