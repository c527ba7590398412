"""Small charts, as places between 0 and 100 for templates to draw."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.console.times import read_answer_time


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
    """Return how often each slot changed that changed more than once."""
    listed = [entry for entry in entries if entry["changes"] > 1]
    most = max((entry["changes"] for entry in listed), default=1)
    bars = []
    for entry in listed:
        changes = entry["changes"]
        length = 100 * changes / most
        bars.append(Bar(name_line(entry), entry["current"], length, f"{changes} changes"))
    return bars


def draw_lives(entries: Iterable[Mapping[str, Any]]) -> list[Bar]:
    """Return how many days values of a kind or a slot hold, by the median of those that ended."""
    listed = [entry for entry in entries if entry["median_days"] is not None]
    most = max((entry["median_days"] for entry in listed), default=1) or 1
    bars = []
    for entry in listed:
        label = entry["kind"] if "kind" in entry else name_line(entry)
        days = entry["median_days"]
        words = f"{days:,.0f} days; {entry['ended']} ended, {entry['open']} hold"
        bars.append(Bar(label, entry.get("current"), 100 * days / most, words))
    return bars


def draw_errors(entries: Iterable[Mapping[str, Any]]) -> list[Bar]:
    """Return the share of each judge's endings that were undone."""
    retired, reverted = Counter[str](), Counter[str]()
    for entry in entries:
        retired[entry["decided_by"]] += entry["retired"]
        reverted[entry["decided_by"]] += entry["reverted"]
    bars = []
    for judge in sorted(retired):
        share = 100 * reverted[judge] / retired[judge] if retired[judge] else 0
        words = f"{reverted[judge]} of {retired[judge]} endings undone"
        bars.append(Bar(judge, None, share, words))
    return bars


def draw_flip_flops(entries: Iterable[Mapping[str, Any]]) -> list[TimeLine]:
    """Return each value that came back, on one time line for all."""
    listed = [(entry, _list_times(entry)) for entry in entries]
    every = [since for _, times in listed for _, since in times]
    if not every:
        return [TimeLine(name_line(entry), [], entry["returns"]) for entry, _ in listed]
    first, length = min(every), (max(every) - min(every)).total_seconds()
    lines = []
    for entry, times in listed:
        points = []
        for number, (memory_id, since) in enumerate(times):
            at = 100 * (since - first).total_seconds() / length if length else 50
            points.append(Point(at, number % 2, since, memory_id))
        lines.append(TimeLine(name_line(entry), points, entry["returns"]))
    return lines


def _list_times(entry: Mapping[str, Any]) -> list[tuple[str, datetime]]:
    times = []
    for value in entry["latest"]:
        since = read_answer_time(value["valid_from"])
        if since is not None:
            times.append((value["memory_id"], since))
    return times


def name_line(entry: Mapping[str, Any]) -> str:
    """Return the name of a slot, or the text of a chain without one."""
    slot = entry["slot"]
    if slot is None:
        return entry["content"] or "erased"
    entity = "" if slot["entity"] == "user" else slot["entity"]
    return " / ".join(filter(None, (entity, slot["category"], slot["key"])))
