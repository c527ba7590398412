"""Looks at single words of a text by their place."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import time

from app.domain.dates.points import Point
from app.domain.dates.words import Word, WordKind


@dataclass(frozen=True, slots=True)
class ReadPoint:
    """A point that was read, and the place of the first word behind it.

    `is_named` is True if the words say by themselves that they are a date. "May" and "2019" are
    dates only behind a word such as "in" or "since". `is_vague` is True if the words leave the
    start of the point open, as "late 2019" does. `hour` is the time of the day, None if not said.
    """

    point: Point
    end: int
    is_named: bool = True
    is_vague: bool = False
    hour: time | None = None


_NOWHERE = Word("", "", 0, 0, WordKind.MARK)


def get_word(words: Sequence[Word], place: int) -> Word:
    """Return the word at a place, an empty mark outside of the text."""
    return words[place] if 0 <= place < len(words) else _NOWHERE


def get_low(words: Sequence[Word], place: int) -> str:
    """Return the lower-case word at a place, "" outside of the text."""
    return get_word(words, place).low


def skip_low(words: Sequence[Word], place: int, *lows: str) -> int:
    """Return the place behind the word if it is one of those, else the place itself."""
    return place + 1 if get_low(words, place) in lows else place


def lows_match(words: Sequence[Word], place: int, lows: tuple[str, ...]) -> bool:
    """Return True if those lower-case words stand there in that order."""
    return all(get_low(words, place + i) == low for i, low in enumerate(lows))
