"""Turns a phrase of time into the interval that it names."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from app.domain.dates.calendar import Stretch, add_units
from app.domain.dates.dated_text import Precision
from app.domain.dates.names import UNIT_PRECISION, Unit
from app.domain.dates.phrases import Phrase, PhraseKind
from app.domain.dates.points import Lean, Point, find_stretch


@dataclass(frozen=True, slots=True)
class Saying:
    """When and where a text was said. `today` is the local day."""

    at: datetime
    zone: tzinfo

    @property
    def today(self) -> date:
        return self.at.astimezone(self.zone).date()

    def find_first_instant(self) -> datetime:
        """Return the first instant of the day of the saying, in UTC."""
        return datetime.combine(self.today, time.min, self.zone).astimezone(UTC)

    def find_instant(self, day: date | None) -> datetime | None:
        """Return the first instant of a local day in UTC, or None outside of the calendar."""
        if day is None:
            return None
        try:
            return datetime.combine(day, time.min, self.zone).astimezone(UTC)
        except OverflowError:
            return None


@dataclass(frozen=True, slots=True)
class Interval:
    """A half-open interval in UTC. None is an end that the words do not say."""

    start: datetime | None
    end: datetime | None
    precision: Precision


def find_interval(phrase: Phrase, saying: Saying, lean: Lean) -> Interval | None:
    """Return the interval of a phrase, None if the calendar lacks it or its ends are reversed."""
    interval = _read_interval(phrase, saying, lean)
    if interval is None or (interval.start is None and interval.end is None):
        return None
    if interval.start and interval.end and interval.start >= interval.end:
        return None
    return interval


def _read_interval(phrase: Phrase, saying: Saying, lean: Lean) -> Interval | None:
    if phrase.kind is PhraseKind.LASTING:
        return _find_lasting(phrase, saying, lean)
    stretch = _find_stretch(phrase.point, saying, lean)
    if stretch is None:
        return None
    start = saying.find_instant(stretch.start)
    match phrase.kind:
        case PhraseKind.UNTIL:
            return Interval(None, start, stretch.precision)
        case PhraseKind.THROUGH:
            return Interval(None, saying.find_instant(stretch.end), stretch.precision)
        case PhraseKind.BETWEEN:
            return _find_between(phrase, stretch, saying, lean)
        case PhraseKind.DURING:
            return Interval(start, saying.find_instant(stretch.end), stretch.precision)
        case _:
            return Interval(start, None, stretch.precision)


def _find_stretch(point: Point | None, saying: Saying, lean: Lean) -> Stretch | None:
    if point is None:
        return None
    try:
        return find_stretch(point, saying.today, lean)
    except (OverflowError, ValueError):
        return None


def _find_between(phrase: Phrase, first: Stretch, saying: Saying, lean: Lean) -> Interval | None:
    """Return the interval of "from … to …". The end is the first one behind the start."""
    last = _find_stretch(phrase.until, saying, lean)
    if last is not None and last.start <= first.start:
        later = Saying(datetime.combine(first.start, time(12), saying.zone), saying.zone)
        last = _find_stretch(phrase.until, later, Lean.FUTURE)
    if last is None:
        return None
    end = last.end if phrase.is_through else last.start
    return Interval(saying.find_instant(first.start), saying.find_instant(end), first.precision)


def _find_lasting(phrase: Phrase, saying: Saying, lean: Lean) -> Interval | None:
    """Return the time up to the saying, or from the saying on."""
    precision = UNIT_PRECISION[phrase.unit]
    count = -phrase.count if lean is Lean.PAST else phrase.count
    if phrase.unit is Unit.HOUR:
        now = saying.at.astimezone(UTC)
        moved: datetime | None = now + timedelta(hours=count)
    else:
        now = saying.find_first_instant()
        moved = saying.find_instant(add_units(saying.today, phrase.unit, count))
    if moved is None:
        return None
    if lean is Lean.PAST:
        return Interval(moved, None, precision)
    return Interval(now, moved, precision)
