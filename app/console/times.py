"""The times of a page: as people write them, and as its address holds them."""

from contextlib import suppress
from datetime import UTC, datetime

from app.api.times import parse_time
from app.domain.dates.facts import find_times
from app.domain.dates.intervals import Saying, find_interval
from app.domain.dates.phrase_kinds import Phrase
from app.domain.dates.points import Lean

# "June" and "Christmas" are dates behind a preposition only: they may be names.
_OPENINGS = ("", "in ", "at ")
_LONGEST = 80


class BadTime(Exception):
    """A field of a page is no time. The message is the text of the field."""


def read_time(text: str | None, now: datetime) -> datetime | None:
    """Return the time of a field: a date, or words such as "last June"; None is the present.

    A month or a year stands for its first instant, in UTC. Raises BadTime.
    """
    text = " ".join((text or "").split())
    if text.casefold() in ("", "now"):
        return None
    with suppress(ValueError):
        return parse_time(text)
    for opening in _OPENINGS:
        if time := _read_words(opening + text[:_LONGEST], now):
            return time
    raise BadTime(text[:_LONGEST])


def find_exact_time(text: str | None, now: datetime) -> str | None:
    """Return the time of words as an address holds it; None of a time that is exact already."""
    try:
        parse_time(text)
    except ValueError:
        time = read_time(text, now)
        return format_time(time) if time else None
    return None


def _read_words(text: str, now: datetime) -> datetime | None:
    """Return the first instant that the words name, None if some of them are no date."""
    timed = find_times(text)
    if timed.spans != [(0, len(text))]:
        return None
    [phrase] = timed.phrases
    interval = find_interval(phrase, Saying(now, UTC), Lean.PAST)
    start = interval.start if interval else None
    return _add_hour(start, phrase) if start else None


def _add_hour(day: datetime, phrase: Phrase) -> datetime:
    return datetime.combine(day, phrase.hour, UTC) if phrase.hour else day


def read_answer_time(text: str | None) -> datetime | None:
    """Return the time in an answer of the API, None if there is none."""
    return parse_time(text) if text else None


def format_time(time: datetime) -> str:
    """Return the time as addresses of pages hold it."""
    text = time.astimezone(UTC).isoformat(timespec="microseconds")
    return text.replace("+00:00", "Z").replace(".000000Z", "Z").replace("T00:00:00Z", "")
