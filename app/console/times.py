"""The two sliders of a page: a step on a stretch of time, and the time that it stands for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from app.api.times import parse_time


class BadTime(Exception):
    """A parameter of a page is no time; the message says what to give."""


STEPS = 500
# Whoever looks at years means days.
_WHOLE_DAYS_FROM = timedelta(days=60)


@dataclass(frozen=True, slots=True)
class Slider:
    """A stretch of time that ends at `until`, and the time on it that a page looks at.

    `at` is None for the present, which moves on; the last step stands for it.
    """

    name: str
    since: datetime
    until: datetime
    at: datetime | None

    @property
    def step(self) -> int:
        if self.at is None:
            return STEPS
        share = (self.at - self.since) / (self.until - self.since)
        return min(STEPS, max(0, round(share * STEPS)))

    @property
    def words(self) -> str:
        """Return the time as a screen reader says it."""
        return f"{self.at:%Y-%m-%d %H:%M} UTC" if self.at else "now"

    def find_time(self, step: int) -> datetime | None:
        """Return the time of a step, None for the last one: the present."""
        if step >= STEPS:
            return None
        length = self.until - self.since
        time = self.since + length * max(0, step) / STEPS
        if length > _WHOLE_DAYS_FROM:
            return time.replace(hour=0, minute=0, second=0, microsecond=0)
        return time.replace(second=0, microsecond=0)


def build_slider(
    name: str, times: Iterable[datetime], at: datetime | None, now: datetime
) -> Slider:
    """Return the slider from the first of these times, or the one looked at, until now."""
    first = min((*times, at or now, now - timedelta(hours=1)))
    return Slider(name, first, max(now, at or now), at)


def read_moved_sliders(parameters: Mapping[str, str]) -> dict[str, str | None]:
    """Return the new time of each slider that was moved, by its name; None is the present."""
    moved: dict[str, str | None] = {}
    for name in ("as_of", "known_at"):
        step, before = parameters.get(f"{name}_step"), parameters.get(f"{name}_step_before")
        if step is None or step == before or not step.isdecimal():
            continue
        since, until = (read_time(parameters.get(f"{name}_{end}")) for end in ("since", "until"))
        if since is None or until is None:
            continue
        time = Slider(name, since, until, None).find_time(int(step[:6]))
        moved[name] = format_time(time) if time else None
    return moved


def read_time(text: str | None) -> datetime | None:
    """Return the time of a parameter, None if there is none. Raises BadTime."""
    try:
        return parse_time(text) if text else None
    except ValueError as problem:
        raise BadTime(f"{text[:40] if text else ''}: {problem}") from None


def format_time(time: datetime) -> str:
    """Return the time as addresses of pages hold it."""
    text = time.astimezone(UTC).isoformat(timespec="microseconds")
    return text.replace("+00:00", "Z").replace(".000000Z", "Z")
