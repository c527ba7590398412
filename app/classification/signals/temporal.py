"""Temporal supersession: never a reason alone, only support for another one."""

from datetime import timedelta

from app.classification.signals.pair import Pair

_MARKERS = frozenset(
    "now currently recently begin switch move change lately nowadays anymore longer".split()
)
_CLEARLY_LATER = timedelta(hours=24)


def find_time_support(pair: Pair) -> str:
    """Return the reason why time speaks for the incoming statement, or ""."""
    marked = sorted(_MARKERS & pair.new.words - pair.old.words)
    at, before = pair.incoming.at, pair.stored.at
    if marked:
        return f'says "{marked[0]}"'
    if at and before and at - before > _CLEARLY_LATER:
        return f"{(at - before).days} days later"
    return ""
