"""Small charts, as places between 0 and 100 for templates to draw."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.console.times import read_time


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: what it is about, the memory that it leads to, its length of 100, and its value."""

    label: str
    memory_id: str | None
    length: float
    words: str


@dataclass(frozen=True, slots=True)
class Point:
    """A value on a time line, of 100; `side` tells the two values of a flip-flop apart."""

    at: float
    side: int
    since: datetime
    memory_id: str


@dataclass(frozen=True, slots=True)
class TimeLine:
    """A value that came back: the three values, and since when each was true."""

    label: str
    points: Sequence[Point]
    returns: int


def draw_churn(entries: Iterable[Mapping[str, Any]]) -> list[Bar]:
    """Return how often each slot changed."""
    listed = list(entries)
    most = max((entry["changes"] for entry in listed), default=1)
    return [
        Bar(
            name_line(entry),
            entry["current"],
            100 * entry["changes"] / most,
            f"{entry['changes']} changes",
        )
        for entry in listed
    ]


def draw_lives(entries: Iterable[Mapping[str, Any]]) -> list[Bar]:
    """Return how many days values of a kind or a slot hold, by the median of those that ended."""
    listed = [entry for entry in entries if entry["median_days"] is not None]
    most = max((entry["median_days"] for entry in listed), default=1) or 1
    return [
        Bar(
            entry["kind"] if "kind" in entry else name_line(entry),
            entry.get("current"),
            100 * entry["median_days"] / most,
            f"{entry['median_days']:,.0f} days; {entry['ended']} ended, {entry['open']} hold",
        )
        for entry in listed
    ]


def draw_errors(entries: Iterable[Mapping[str, Any]]) -> list[Bar]:
    """Return the share of each judge's endings that were undone."""
    decided: dict[str, tuple[int, int]] = {}
    for entry in entries:
        retired, reverted = decided.get(entry["decided_by"], (0, 0))
        decided[entry["decided_by"]] = (
            retired + entry["retired"],
            reverted + entry["reverted"],
        )
    return [
        Bar(
            judge,
            None,
            100 * reverted / retired if retired else 0,
            f"{reverted} of {retired} endings undone",
        )
        for judge, (retired, reverted) in sorted(decided.items())
    ]


def draw_flip_flops(entries: Iterable[Mapping[str, Any]]) -> list[TimeLine]:
    """Return each value that came back, on one time line for all."""
    listed = [(entry, _list_times(entry)) for entry in entries]
    every = [since for _, times in listed for _, since in times]
    first, last = min(every, default=None), max(every, default=None)
    lines = []
    for entry, times in listed:
        assert first is not None
        assert last is not None
        points = [
            Point(_place(since, first, last), number % 2, since, memory_id)
            for number, (memory_id, since) in enumerate(times)
        ]
        lines.append(TimeLine(name_line(entry), points, entry["returns"]))
    return lines


def _list_times(entry: Mapping[str, Any]) -> list[tuple[str, datetime]]:
    pairs = [(value["memory_id"], read_time(value["valid_from"])) for value in entry["latest"]]
    return [(memory_id, since) for memory_id, since in pairs if since is not None]


def _place(time: datetime, first: datetime, last: datetime) -> float:
    length = (last - first).total_seconds()
    return 100 * (time - first).total_seconds() / length if length else 50


def name_line(entry: Mapping[str, Any]) -> str:
    """Return the name of a slot, or the text of a chain without one."""
    slot = entry["slot"]
    if slot is None:
        return entry["content"] or "erased"
    return " / ".join(filter(None, (slot["entity"], slot["category"], slot["key"])))
