"""The text that a reader sees, whatever characters write it."""

import re
import unicodedata
from collections.abc import Sequence

from app.domain.text import INVISIBLE

_ASCII = re.compile(r"[\x00-\x7f]+")
_INVISIBLE = re.compile(f"[{INVISIBLE}]")


def fold_visible_text(text: str) -> tuple[str, Sequence[int]]:
    """Return the text in plain width (NFKC) without invisible characters, and where each was.

    The second value holds the place in the text of each character of the first.
    """
    if text.isascii():
        return text, range(len(text))
    parts: list[str] = []
    places: list[int] = []
    start = 0
    while start < len(text):
        if plain := _ASCII.match(text, start):
            part, end = plain[0], plain.end()
            places += range(start, end)
        else:
            end = start + 1
            part = "" if _INVISIBLE.match(text, start) else _fold_character(text[start])
            places += [start] * len(part)
        parts.append(part)
        start = end
    return "".join(parts), places


def _fold_character(character: str) -> str:
    return unicodedata.normalize("NFKC", character)
