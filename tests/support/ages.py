"""SQL that lets time pass for rows that are there."""

import re

_SUM = re.compile(r"(\w+) ([+-]) (interval '[^']+')")


def without_time_zone(statement: str) -> str:
    """The statement, with each sum of a time and a span computed in UTC.

    A cluster refuses an UPDATE that depends on a setting, as the session's time zone is.
    """
    return _SUM.sub(r"((\1 AT TIME ZONE 'UTC') \2 \3) AT TIME ZONE 'UTC'", statement)


def move_back(column: str, by: str) -> str:
    """An assignment that moves a time back by a span, as `8 days`."""
    return without_time_zone(f"{column} = {column} - interval '{by}'")
