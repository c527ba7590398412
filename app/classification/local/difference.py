"""In which words two texts differ."""

from app.classification.signals.token import count_common
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
    start = count_common(old_folded, new_folded)
    end = count_common(old_folded[start:][::-1], new_folded[start:][::-1])
    before = _shorten(" ".join(old[start : len(old) - end]))
    after = _shorten(" ".join(new[start : len(new) - end]))
    if not before:
        return f'adds "{after}"'
    if not after:
        return f'leaves out "{before}"'
    return f'"{before}" → "{after}"'


def _shorten(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1].rstrip() + "…"
