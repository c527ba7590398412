"""What the words of a text say about the time in which it holds."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Precision(StrEnum):
    """The unit in which a date was named: "last month" is a month, "on 5 January" a day."""

    INSTANT = "instant"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    SEASON = "season"
    YEAR = "year"
    DECADE = "decade"


@dataclass(frozen=True, slots=True)
class DatedBy:
    """The words that date a fact, and the time in which it holds by them.

    `start` and `end` are the place of `text` in the content, in characters, half-open. `holds_from`
    and `holds_until` are aware and in UTC, half-open; None means that the words do not say it.
    `precision` is the unit of the start, or of the end where only an end is named.
    """

    text: str
    start: int
    end: int
    holds_from: datetime | None
    holds_until: datetime | None
    precision: Precision


@dataclass(frozen=True, slots=True)
class DatedText:
    """The dates of one fact.

    `dated_by` is None if nothing dates the fact itself. `left_open` are the words of dates that may
    or may not date it; the caller is told of them. `is_episode` is True if the text tells of a
    closed time in the past ("I lived in Bristol from 2015 to 2018"), which ends nothing that holds.
    """

    dated_by: DatedBy | None = None
    left_open: tuple[str, ...] = ()
    is_episode: bool = False
