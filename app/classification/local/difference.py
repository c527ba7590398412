"""In which words two texts differ."""

from collections.abc import Sequence
from itertools import takewhile

from app.domain.text import fold

_SHOWN = 80  # characters of each text


def describe_difference(stored: str, incoming: str) -> str:
    """Return the words between those that both texts begin and end with.

    An example is '"in Ghent" → "in Bruges"'.
    """
    old, new = stored.split(), incoming.split()
    old_folded, new_folded = list(map(fold, old)), list(map(fold, new))
    if old_folded == new_folded:
        return f'"{_shorten(stored)}" says the same'
    start = _count_equal(old_folded, new_folded)
    end = _count_equal(old_folded[start:][::-1], new_folded[start:][::-1])
    before = _shorten(" ".join(old[start : len(old) - end]))
    after = _shorten(" ".join(new[start : len(new) - end]))
    if not before:
        return f'adds "{after}"'
    if not after:
        return f'leaves out "{before}"'
    return f'"{before}" → "{after}"'


def _count_equal(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many words both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _shorten(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1].rstrip() + "…"
