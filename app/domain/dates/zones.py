"""Time zones by their names in the IANA database."""

from datetime import UTC, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones


def find_zone(name: str) -> tzinfo | None:
    """Return the time zone of this name, None if there is none."""
    if name == "UTC":
        return UTC
    return ZoneInfo(name) if name in _list_zone_names() else None


@cache
def _list_zone_names() -> set[str]:
    """Return the names of all zones. To read them from the files takes 30 ms."""
    return available_timezones()
