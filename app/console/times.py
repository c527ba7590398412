"""The times of a page: as its address holds them, and as steps of its two sliders."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import log

from app.api.times import parse_time

# How long ago the marks below a slider lie, at equal distances; between two marks, each step is
# longer ago by the same factor. The last mark is the present.
MARKS = (
    ("10 years", timedelta(days=3652)),
    ("1 year", timedelta(days=365)),
    ("1 month", timedelta(days=30)),
    ("1 day", timedelta(days=1)),
    ("1 hour", timedelta(hours=1)),
    ("now", timedelta(minutes=1)),
)
_STEPS_BETWEEN_MARKS = 100
LAST_STEP = _STEPS_BETWEEN_MARKS * (len(MARKS) - 1)


class BadTime(Exception):
    """A parameter of a page is no time; the message says what to give."""


@dataclass(frozen=True, slots=True)
class Slider:
    """One of the two times of a page; None is the present, which moves on."""

    name: str
    at: datetime | None
    now: datetime

    @property
    def step(self) -> int:
        return find_step(self.now - self.at) if self.at else LAST_STEP

    @property
    def words(self) -> str:
        """Return the time as a screen reader says it."""
        return f"{self.at:%Y-%m-%d %H:%M} UTC" if self.at else "now"


def find_step(age: timedelta) -> int:
    """Return the step that is so long ago; the first one stands for all that is longer ago."""
    for number, ((_, older), (_, newer)) in enumerate(pairwise(MARKS)):
        if age >= older:
            return number * _STEPS_BETWEEN_MARKS
        if age >= newer:
            share = log(older / age) / log(older / newer)
            return round((number + share) * _STEPS_BETWEEN_MARKS)
    return LAST_STEP


def find_time(step: int, now: datetime) -> datetime | None:
    """Return the time of a step, to the day or the minute; None for the last: the present."""
    if step >= LAST_STEP:
        return None
    number, rest = divmod(max(0, step), _STEPS_BETWEEN_MARKS)
    older, newer = MARKS[number][1], MARKS[number + 1][1]
    share: float = rest / _STEPS_BETWEEN_MARKS
    time: datetime = now - older * (newer / older) ** share
    if now - time > MARKS[2][1]:
        return time.replace(hour=0, minute=0, second=0, microsecond=0)
    return time.replace(second=0, microsecond=0)


def read_moved_sliders(parameters: Mapping[str, str], now: datetime) -> dict[str, str | None]:
    """Return the new time of each slider that was moved, by its name; None is the present."""
    moved: dict[str, str | None] = {}
    for name in ("as_of", "known_at"):
        step = parameters.get(f"{name}_step")
        if step is None or step == parameters.get(f"{name}_step_before"):
            continue
        time = find_time(int(step), now) if step.isdecimal() and len(step) < 6 else None
        moved[name] = format_time(time) if time else None
    return moved


def read_time(text: str | None) -> datetime | None:
    """Return the time of a parameter, None if there is none. Raises BadTime."""
    if not text:
        return None
    try:
        return parse_time(text)
    except ValueError as problem:
        raise BadTime(f"{text[:40]}: {problem}") from None


def format_time(time: datetime) -> str:
    """Return the time as addresses of pages hold it."""
    text = time.astimezone(UTC).isoformat(timespec="microseconds")
    return text.replace("+00:00", "Z").replace(".000000Z", "Z")
