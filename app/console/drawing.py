"""A chain drawn on both axes of time: valid time to the right, known time downward.

Each belief is a rectangle. Neither axis is to scale: facts of one chain lie years or seconds apart.
A stretch of valid time is as wide as the logarithm of its length, and each time at which something
became known begins a row.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from math import log1p
from textwrap import wrap
from typing import Any, NamedTuple

from app.api.times import parse_time
from app.console.rendering import cut_text, name_day, name_times, name_unseen
from app.console.times import format_time, read_answer_time

LEFT, TOP, BOTTOM = 90, 46, 30
_LEAST_BAND = 23
_USUAL_HEIGHT, _LEAST_ROW, _TALLEST_ROW = 420, 17, 64
_LETTER, _LINE = 6.9, 16
# Where a moment behind the last time stands in its band: to the right of the text in the box.
_WITHIN_OPEN_BAND = 0.85
_TICK_LETTER = 6.4
# Starts that lie so near to each other are one on the axis: a memory that was displaced by an
# earlier one may keep a microsecond.
_SAME = timedelta(seconds=1)
COLOURS = 6


class Frame(NamedTuple):
    """The usual width of the valid axis, and of the band behind its last time, in pixels."""

    width: float
    open_band: float


# For a desk, and for a phone.
WIDE, NARROW = Frame(800, 140), Frame(228, 70)


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark of an axis, in pixels, and its label; an empty one is hidden for want of space.

    `ends_there`: the label ends at the mark, because it would leave the drawing.
    """

    at: float
    label: str
    ends_there: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A belief about a version: a rectangle in pixels, and the moment that it stands for."""

    version: int
    memory_id: str
    x: float
    y: float
    width: float
    height: float
    lines: Sequence[str]
    words: str
    as_of: str
    known_at: str
    is_chosen: bool
    opens_left: bool
    opens_right: bool

    @property
    def colour(self) -> int:
        return self.version % COLOURS


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A chain as boxes, ticks and a cross-hair, in pixels; and the same in sentences."""

    width: float
    height: float
    boxes: Sequence[Box]
    valid_ticks: Sequence[Tick]
    known_ticks: Sequence[Tick]
    cross_x: float
    cross_y: float
    sentences: Sequence[str]
    is_cut: bool

    @property
    def bottom(self) -> float:
        return self.height - BOTTOM


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A stretch of valid time in which a version was believed to hold, for rows of known time."""

    version: int
    since: datetime
    until: datetime | None
    first_row: int
    end_row: int


@dataclass(slots=True)
class _Axis:
    """Distinct times in order, each with its place in pixels; a band lies after each of them."""

    times: list[datetime]
    places: list[float] = field(default_factory=list)
    end: float = 0

    def find_place(self, time: datetime | None) -> float:
        """Return the place of a time of the axis, or between two of them; None is its end."""
        if time is None:
            return self.end
        before = bisect_right(self.times, time) - 1
        if before < 0:
            return self.places[0] - _LEAST_BAND / 2
        start = self.places[before]
        if before == len(self.times) - 1:
            is_start = time - self.times[before] < _SAME
            return start if is_start else start + _WITHIN_OPEN_BAND * (self.end - start)
        share = (time - self.times[before]) / (self.times[before + 1] - self.times[before])
        return start + share * (self.places[before + 1] - start)


def draw_chain(
    answer: Mapping[str, Any], as_of: datetime, known_at: datetime, frame: Frame = WIDE
) -> Drawing:
    """Return the drawing of an answer of the route of beliefs, with these moments as cross-hair."""
    versions = answer["versions"]
    known = _list_known_times(versions)
    stretches = _merge_rows(_list_stretches(versions, known))
    valid = _lay_out_valid_time(stretches, frame)
    row_height = min(_TALLEST_ROW, max(_LEAST_ROW, _USUAL_HEIGHT / max(1, len(known))))
    row = bisect_right(known, known_at) - 1
    cross_x, cross_y = valid.find_place(as_of), TOP + (row + 0.5) * row_height
    artist = _Artist(versions, known, valid, row_height, as_of, row)
    known_ticks = []
    for number, (time, label) in enumerate(zip(known, name_times(known), strict=True)):
        # A day with its year and a minute is wider than the place before the boxes.
        short = label.replace(f" {time.year},", ",")
        known_ticks.append(Tick(TOP + number * row_height, short))
    return Drawing(
        width=valid.end + 8,
        height=TOP + row_height * len(known) + BOTTOM,
        boxes=[artist.draw_box(stretch) for stretch in stretches],
        valid_ticks=_label_valid_time(valid),
        known_ticks=known_ticks,
        cross_x=cross_x,
        cross_y=max(TOP - 6, cross_y),
        sentences=_tell_rows(versions, known, stretches),
        is_cut=answer["truncated"],
    )


def _list_known_times(versions: Sequence[Mapping[str, Any]]) -> list[datetime]:
    """Return the times at which beliefs began or ended: a version may leave the chain."""
    times = set()
    for version in versions:
        for belief in version["beliefs"]:
            times.add(parse_time(belief["known_from"]))
            if until := read_answer_time(belief["known_until"]):
                times.add(until)
    return sorted(times)


# --- stretches -----------------------------------------------------------------------------------


def _list_stretches(
    versions: Sequence[Mapping[str, Any]], known: Sequence[datetime]
) -> list[_Stretch]:
    stretches = []
    for number, version in enumerate(versions):
        for belief in version["beliefs"]:
            first = known.index(parse_time(belief["known_from"]))
            until = read_answer_time(belief["known_until"])
            end = known.index(until) if until else len(known)
            for since, ending in _list_times(belief):
                stretches.append(_Stretch(number, since, ending, first, end))
    return stretches


def _list_times(belief: Mapping[str, Any]) -> list[tuple[datetime, datetime | None]]:
    """Return the stretches of valid time in which a belief says that its version holds."""
    if belief["withdrawn"]:
        return []
    times: list[tuple[datetime, datetime | None]] = []
    since = parse_time(belief["valid_from"])
    for cover in belief["covered"]:
        times.append((since, parse_time(cover["since"])))
        since = parse_time(cover["until"])
    times.append((since, read_answer_time(belief["valid_until"])))
    return [(start, end) for start, end in times if end is None or end - start >= _SAME]


def _merge_rows(stretches: Iterable[_Stretch]) -> list[_Stretch]:
    """Join what was believed of a version in neighbouring rows, if it was the same."""
    merged: dict[tuple[Any, ...], _Stretch] = {}
    for stretch in sorted(stretches, key=lambda one: (one.version, one.first_row)):
        place = (stretch.version, stretch.since, stretch.until, stretch.first_row)
        before = merged.pop(place, None)
        first = before.first_row if before else stretch.first_row
        joined = _Stretch(stretch.version, stretch.since, stretch.until, first, stretch.end_row)
        merged[stretch.version, stretch.since, stretch.until, stretch.end_row] = joined
    return sorted(merged.values(), key=lambda one: (one.first_row, one.since, one.version))


# --- the axis of valid time ----------------------------------------------------------------------


def _lay_out_valid_time(stretches: Iterable[_Stretch], frame: Frame) -> _Axis:
    ends = set()
    for stretch in stretches:
        ends.add(stretch.since)
        if stretch.until:
            ends.add(stretch.until)
    times: list[datetime] = []
    for time in sorted(ends):
        if not times or time - times[-1] >= _SAME:
            times.append(time)
    if not times:
        return _Axis([], [LEFT], LEFT + frame.width)
    weights = [2 + log1p((later - time).total_seconds() / 60) for time, later in pairwise(times)]
    space = max(frame.width - frame.open_band, _LEAST_BAND * len(weights))
    spare = space - _LEAST_BAND * len(weights)
    places = [float(LEFT)]
    for weight in weights:
        places.append(places[-1] + _LEAST_BAND + spare * weight / sum(weights))
    return _Axis(times, places, max(places[-1] + frame.open_band, LEFT + frame.width))


def _label_valid_time(axis: _Axis) -> list[Tick]:
    """Return the ticks; a label that would touch the one before is left out."""
    ticks, free_from = [], 0.0
    for place, label in zip(axis.places, name_times(axis.times), strict=False):
        is_shown = place >= free_from
        if is_shown:
            free_from = place + len(label) * _TICK_LETTER + 8
        ticks.append(Tick(place, label if is_shown else "", free_from > axis.end + 8))
    return ticks


# --- boxes ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Artist:
    versions: Sequence[Mapping[str, Any]]
    known: Sequence[datetime]
    valid: _Axis
    row_height: float
    as_of: datetime
    chosen_row: int

    def draw_box(self, stretch: _Stretch) -> Box:
        version = self.versions[stretch.version]
        x = self.valid.find_place(stretch.since)
        width = self.valid.find_place(stretch.until) - x
        height = (stretch.end_row - stretch.first_row) * self.row_height
        text = "erased" if version["content"] is None else version["content"]
        as_of = stretch.since
        if stretch.since.year == 1 and stretch.until is not None:
            # Of a stretch without a beginning, nearly its end stands for it.
            as_of = stretch.until - _SAME
        is_in_time = stretch.since <= self.as_of and (
            stretch.until is None or self.as_of < stretch.until
        )
        return Box(
            version=stretch.version,
            memory_id=version["id"],
            x=x,
            y=TOP + stretch.first_row * self.row_height,
            width=width,
            height=height,
            lines=_fit_text(text, stretch.version + 1, width, height),
            words=f"{name_unseen(cut_text(text, 200))}: {_tell_stretch(stretch)}",
            as_of=format_time(as_of),
            known_at=format_time(self.known[stretch.first_row]),
            is_chosen=is_in_time and stretch.first_row <= self.chosen_row < stretch.end_row,
            opens_left=stretch.since.year == 1,
            opens_right=stretch.until is None,
        )


def _fit_text(text: str, number: int, width: float, height: float) -> list[str]:
    """Return the lines that fit into a box; of a small one its number, of a smaller one none."""
    letters, lines = int((width - 8) / _LETTER), max(1, int((height - 4) / _LINE))
    if letters < len(str(number)):
        return []
    if letters < 9:
        return [str(number)]
    text = name_unseen(cut_text(" ".join(text.split()), letters * lines))
    fitting = wrap(text, letters, max_lines=lines, placeholder="…", break_on_hyphens=False)
    return fitting or [str(number)]


# --- sentences -----------------------------------------------------------------------------------


def _tell_stretch(stretch: _Stretch) -> str:
    since = "always" if stretch.since.year == 1 else f"from {name_day(stretch.since)}"
    return since if stretch.until is None else f"{since} until {name_day(stretch.until)}"


def _tell_rows(
    versions: Sequence[Mapping[str, Any]], known: Sequence[datetime], stretches: Iterable[_Stretch]
) -> list[str]:
    """Return what was believed in each row, as a sentence."""
    sentences = []
    listed = sorted(stretches, key=lambda one: one.since)
    for row, name in enumerate(name_times(known)):
        parts = []
        for stretch in listed:
            if stretch.first_row <= row < stretch.end_row:
                text = versions[stretch.version]["content"] or "erased"
                quoted = name_unseen(cut_text(text, 80))
                parts.append(f"“{quoted}” {_tell_stretch(stretch)}")
        sentences.append(f"Since {name} believed: {'; '.join(parts) or 'nothing'}.")
    return sentences
