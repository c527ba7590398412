"""Turns a phrase of time into the interval that it names."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from app.domain.dates.calendar import Stretch, add_units
from app.domain.dates.dated_text import Precision
from app.domain.dates.names import UNIT_PRECISION, Unit
from app.domain.dates.phrase_kinds import Phrase, PhraseKind
from app.domain.dates.points import LastPart, Lean, Point
from app.domain.dates.stretches import find_stretch


@dataclass(frozen=True, slots=True)
class Saying:
    """When and where a text was said. `today` is the local day."""

    at: datetime
    zone: tzinfo

    @property
    def today(self) -> date:
        try:
            return self.at.astimezone(self.zone).date()
        except OverflowError:  # the first and the last day of the calendar
            return self.at.date()

    def find_first_instant(self) -> datetime:
        """Return the first instant of the day of the saying, in UTC."""
        return self.find_instant(self.today) or self.at.astimezone(UTC)

    def find_instant(self, day: date | None, hour: time = time.min) -> datetime | None:
        """Return that hour of a local day in UTC, or None outside of the calendar."""
        if day is None:
            return None
        try:
            return datetime.combine(day, hour, self.zone).astimezone(UTC)
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
    start, end = saying.find_instant(stretch.start), saying.find_instant(stretch.end)
    is_end = isinstance(phrase.point, LastPart)
    match phrase.kind:
        case PhraseKind.UNTIL | PhraseKind.THROUGH if phrase.hour is not None:
            instant = saying.find_instant(stretch.start, phrase.hour)
            return Interval(None, instant, Precision.INSTANT)
        case PhraseKind.UNTIL:
            return Interval(None, start, stretch.precision)
        case PhraseKind.THROUGH:
            return Interval(None, start if is_end else end, stretch.precision)
        case PhraseKind.REST:
            return Interval(saying.find_first_instant(), end, stretch.precision)
        case PhraseKind.BETWEEN:
            return _find_between(phrase, saying, lean)
        case PhraseKind.DURING | PhraseKind.WHOLE:
            return Interval(start, end, stretch.precision)
        case _:
            return Interval(start, None, stretch.precision)


def _find_stretch(point: Point | None, saying: Saying, lean: Lean) -> Stretch | None:
    if point is None:
        return None
    try:
        return find_stretch(point, saying.today, lean)
    except (OverflowError, ValueError):
        return None


def _find_between(phrase: Phrase, saying: Saying, lean: Lean) -> Interval | None:
    """Return the interval of "from … to …".

    The end is the first one behind the start. One that runs at the moment comes before the next.
    """
    past = _find_range(phrase, saying, Lean.PAST)
    if lean is Lean.PAST:
        return past
    is_running = past is not None and past.end is not None and past.end > saying.at
    return past if is_running else _find_range(phrase, saying, Lean.FUTURE)


def _find_range(phrase: Phrase, saying: Saying, lean: Lean) -> Interval | None:
    first = _find_stretch(phrase.point, saying, lean)
    if first is None:
        return None
    last = _find_stretch(phrase.until, saying, lean)
    if last is not None and last.start <= first.start:
        noon = datetime.combine(first.start, time(12), saying.zone)
        last = _find_stretch(phrase.until, Saying(noon, saying.zone), Lean.FUTURE)
    if last is None:
        return None
    is_through = phrase.is_through and not isinstance(phrase.until, LastPart)
    end = last.end if is_through else last.start
    return Interval(saying.find_instant(first.start), saying.find_instant(end), first.precision)


def _find_lasting(phrase: Phrase, saying: Saying, lean: Lean) -> Interval | None:
    """Return the time up to the saying, or from the saying or from a point on."""
    precision = UNIT_PRECISION[phrase.unit]
    first_day = saying.today
    if phrase.point is not None:
        start = _find_stretch(phrase.point, saying, lean)
        if start is None:
            return None
        first_day = start.start
    count = -phrase.count if lean is Lean.PAST else phrase.count
    moved: datetime | None
    if phrase.unit is Unit.HOUR:
        now = saying.at.astimezone(UTC)
        try:
            moved = now + timedelta(hours=count)
        except OverflowError:
            return None
    else:
        now = saying.find_instant(first_day) or saying.find_first_instant()
        moved = saying.find_instant(add_units(first_day, phrase.unit, count))
    if moved is None:
        return None
    if lean is Lean.PAST:
        return Interval(moved, None, precision)
    is_exact = phrase.unit is Unit.HOUR
    return Interval(now, moved, Precision.INSTANT if is_exact else Precision.DAY)
