"""The times of a page: as people write them, and as its address holds them."""

from contextlib import suppress
from datetime import UTC, datetime

from app.api.times import parse_time
from app.domain.dates.moments import LONGEST, find_moment
from app.domain.dates.points import Lean


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
    if time := find_moment(text, now, UTC, Lean.PAST):
        return time
    raise BadTime(text[:LONGEST])


def find_exact_time(text: str | None, now: datetime) -> str | None:
    """Return the time of words as an address holds it; None of a time that is exact already."""
    try:
        parse_time(text)
    except ValueError:
        time = read_time(text, now)
        return format_time(time) if time else None
    return None


def read_answer_time(text: str | None) -> datetime | None:
    """Return the time in an answer of the API, None if there is none."""
    return parse_time(text) if text else None


def format_time(time: datetime) -> str:
    """Return the time as addresses of pages hold it."""
    text = time.astimezone(UTC).isoformat(timespec="microseconds")
    return text.replace("+00:00", "Z").replace(".000000Z", "Z").replace("T00:00:00Z", "")
