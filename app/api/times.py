"""Points in time on the wire.

Requests give RFC 3339, a date, a month, a year, or Unix seconds. Answers give RFC 3339 in UTC with
microseconds.
"""

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
_RFC3339 = re.compile(
    r"\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?([Zz]|[+-]\d{2}:?\d{2})?)?"
)
# The address of a GET turns a plus that is not escaped into a blank.
_LOST_PLUS = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}(:\d{2}(\.\d+)?)? \d{2}:?\d{2}")
_YEAR = re.compile(r"[1-9]\d{3}")
_MONTH = re.compile(r"\d{4}-\d{2}")
_FIRST_YEAR, _LAST_YEAR = 1000, 9999

# A number nearer to 0 than this is refused: as seconds it would lie between 1966 and 1973, and it
# is more likely a mistake. Numbers from 10^11 on are milliseconds; as seconds they would lie after
# the year 5138.
_LEAST_SECONDS = 10**8
_LEAST_MILLISECONDS = 10**11
_EARLIEST_SECONDS = -62135596800

_HELP = (
    "give an RFC 3339 time (2026-01-05T10:00:00Z), a date, a month or a year (2026-01-05, 2026-01, "
    "2026: the first instant in UTC) or Unix seconds, in the years 1 to 9999"
)
_TOO_SMALL = (
    "as Unix seconds this number is too near to 1970 to be meant, and it is no year from "
    f"{_FIRST_YEAR} to {_LAST_YEAR}: {_HELP}"
)
_NO_SUCH_TIME = "the calendar has no such day, or the clock no such time"
_PLUS_WAS_LOST = "the + of the offset became a blank: in an address, write it as %2B"
_MILLISECONDS = "these are milliseconds: divide by 1000, because numbers are taken as Unix seconds"


def parse_time(value: Any) -> datetime:
    """Return an aware time in UTC; one without an offset counts as UTC.

    A year or a month stands for its first instant. Raises ValueError with what to do instead.
    """
    time = parse_spoken_time(value)
    return time if isinstance(value, datetime) else time.astimezone(UTC)


def parse_spoken_time(value: Any) -> datetime:
    """Return an aware time with the offset that it was given with. Else as `parse_time`."""
    if isinstance(value, datetime):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(_HELP)  # noqa: TRY004 - pydantic reports a ValueError only
    if _is_year(value):
        return datetime(int(value), 1, 1, tzinfo=UTC)
    if isinstance(value, int | float) or _NUMBER.fullmatch(value):
        return _from_number(value)
    if _LOST_PLUS.fullmatch(value):
        raise ValueError(_PLUS_WAS_LOST)
    try:
        return _from_text(value)
    except (ValueError, OverflowError):
        is_written_well = _RFC3339.fullmatch(value) or _MONTH.fullmatch(value)
        help_text = f"{_NO_SUCH_TIME}: {_HELP}" if is_written_well else _HELP
        raise ValueError(help_text) from None


def _is_year(value: float | str) -> bool:
    if isinstance(value, str):
        return _YEAR.fullmatch(value) is not None
    return _FIRST_YEAR <= value <= _LAST_YEAR and value == int(value)


def _from_number(value: float | str) -> datetime:
    """Return the time of these Unix seconds. Raises ValueError for numbers that are none."""
    try:
        seconds = float(value)
    except OverflowError:
        raise ValueError(_HELP) from None
    if abs(seconds) < _LEAST_SECONDS:
        raise ValueError(_TOO_SMALL)
    if _LEAST_MILLISECONDS <= abs(seconds) < 1000 * _LEAST_MILLISECONDS:
        raise ValueError(_MILLISECONDS)
    if _EARLIEST_SECONDS <= seconds < _LEAST_MILLISECONDS:
        return datetime.fromtimestamp(seconds, UTC)
    raise ValueError(_HELP)


def _from_text(text: str) -> datetime:
    if _MONTH.fullmatch(text):
        text = f"{text}-01"
    if not _RFC3339.fullmatch(text):
        raise ValueError
    parsed = datetime.fromisoformat(text.upper())
    if parsed.tzinfo is None:
        return parsed.replace(tzinfo=UTC)
    parsed.astimezone(UTC)  # fails for what UTC puts outside of the years 1 to 9999
    return parsed


@lru_cache(maxsize=1024)  # most times of a memory are one and the same
def format_time(time: datetime) -> str:
    """Return RFC 3339 in UTC, with microseconds."""
    return time.astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z"


# One plain type, which every code generator takes. Numbers are said in words (app/api/document.py).
TIME_FORMAT = "date-or-time"
_INPUT_SCHEMA = WithJsonSchema({"type": "string", "format": TIME_FORMAT}, mode="validation")
_OUTPUT_SCHEMA = WithJsonSchema({"type": "string", "format": "date-time"}, mode="serialization")
_SERIALIZER = PlainSerializer(format_time, return_type=str, when_used="json")

Time = Annotated[datetime, BeforeValidator(parse_time), _SERIALIZER, _INPUT_SCHEMA, _OUTPUT_SCHEMA]
SpokenTime = Annotated[
    datetime, BeforeValidator(parse_spoken_time), _SERIALIZER, _INPUT_SCHEMA, _OUTPUT_SCHEMA
]
"""A time with its offset, which says in which zone the words were spoken."""
