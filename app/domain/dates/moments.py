"""The point in time that a few words name: "yesterday", "last spring", "in June 2025"."""

from datetime import datetime, tzinfo
from typing import Final

from app.domain.dates.facts import find_times
from app.domain.dates.intervals import Saying, find_interval
from app.domain.dates.points import Lean

LONGEST: Final = 80  # characters
# "June" and "Christmas" are dates behind a preposition only: they may be names.
_OPENINGS: Final = ("", "in ", "at ")


def find_moment(text: str, now: datetime, zone: tzinfo, lean: Lean) -> datetime | None:
    """Return the first instant, in UTC, of the time that the whole text names; else None.

    Relative dates count from `now`, which is aware, in `zone`. "Until Friday" is the first instant
    of Friday. `lean` says whether a day without a year is before or after now.
    """
    for opening in _OPENINGS:
        timed = find_times(opening + text[:LONGEST])
        if timed.spans != [(0, len(timed.text))]:
            continue
        [phrase] = timed.phrases
        interval = find_interval(phrase, Saying(now, zone), lean)
        if interval is None:
            return None
        first = interval.start or interval.end
        if first is None or phrase.hour is None or interval.start is None:
            return first
        return Saying(now, zone).find_instant(first.astimezone(zone).date(), phrase.hour)
    return None
