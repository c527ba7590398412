"""The text that a reader sees, whatever characters write it."""

import re
import unicodedata
from collections.abc import Collection, Sequence

from app.domain.secrets.randomness import looks_random
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
            is_invisible = _INVISIBLE.match(text, start)
            part = "" if is_invisible else unicodedata.normalize("NFKC", text[start])
            places += [start] * len(part)
        parts.append(part)
        start = end
    return "".join(parts), places


# Terminals and mails break a long token over lines, which may be quoted with ">".
_NEXT_LINE = re.compile(
    r"(?<=[\w+/=-])[ \t]*\\?\r?\n[> \t]{0,8}(?P<rest>[\w+/.-]{8,4000}={0,2})(?=[\s\"'`,;)\\]|\Z)",
    re.ASCII,
)
_LEAST_BROKEN = 16  # characters


def find_end_of_wrapped(text: str, start: int, end: int, starts: Collection[int]) -> int:
    """Return the end of a token on the lines after it, or `end` if it is whole.

    Another secret begins at each of `starts`.
    """
    if end - start < _LEAST_BROKEN or not looks_random(text[start:end], least_bits=3.0):
        return end
    while line := _NEXT_LINE.match(text, end):
        if line.start("rest") in starts or not looks_random(line["rest"], least_bits=3.0):
            break
        end = line.end("rest")
    return end
