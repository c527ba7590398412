"""Points in time on the wire.

Requests give RFC 3339, a date, or Unix seconds. Answers give RFC 3339 in UTC with microseconds.
"""

import math
import re
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
_RFC3339 = re.compile(
    r"\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?([Zz]|[+-]\d{2}:?\d{2})?)?"
)
_HELP = (
    "give an RFC 3339 time (2026-01-05T10:00:00Z), a date (2026-01-05, its first instant in UTC) "
    "or Unix seconds, in the years 1 to 9999"
)


def parse_time(value: Any) -> datetime:
    """Return an aware time in UTC; one without an offset counts as UTC.

    Raises ValueError with the forms that are taken.
    """
    if isinstance(value, datetime):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(_HELP)  # noqa: TRY004 - pydantic reports a ValueError only
    try:
        if isinstance(value, int | float) or _NUMBER.fullmatch(value):
            return _from_seconds(value)
        return _from_text(value)
    except (ValueError, OverflowError, OSError):
        raise ValueError(_HELP) from None


def _from_seconds(value: float | str) -> datetime:
    seconds = float(value)
    if not math.isfinite(seconds):
        raise ValueError
    return datetime.fromtimestamp(seconds, UTC)


def _from_text(text: str) -> datetime:
    if not _RFC3339.fullmatch(text):
        raise ValueError
    parsed = datetime.fromisoformat(text.upper())
    if parsed.tzinfo is None:
        return parsed.replace(tzinfo=UTC)
    return parsed.astimezone(UTC)


def format_time(time: datetime) -> str:
    """Return RFC 3339 in UTC, with microseconds."""
    return time.astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z"


Time = Annotated[
    datetime,
    BeforeValidator(parse_time),
    PlainSerializer(format_time, return_type=str, when_used="json"),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "format": "date-time"},
                {"type": "string", "format": "date"},
                {
                    "type": "number",
                    "minimum": -62135596800,
                    "maximum": 253402300799,
                    "description": "Unix seconds",
                },
            ]
        },
        mode="validation",
    ),
    WithJsonSchema({"type": "string", "format": "date-time"}, mode="serialization"),
]
