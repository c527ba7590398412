"""Time zones by their names in the IANA database."""

from datetime import UTC, datetime, timezone, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones


def find_zone(name: str) -> tzinfo | None:
    """Return the time zone of this name, None if there is none."""
    if name == "UTC":
        return UTC
    return ZoneInfo(name) if name in _list_zone_names() else None


def find_offset(time: datetime | None) -> tzinfo | None:
    """Return the offset of a time as a zone; None for that of UTC, which many clocks give."""
    offset = time.utcoffset() if time else None
    return timezone(offset) if offset else None


@cache
def _list_zone_names() -> set[str]:
    """Return the names of all zones. To read them from the files takes 30 ms."""
    return available_timezones()
