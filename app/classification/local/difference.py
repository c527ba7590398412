"""In which words two texts differ."""

import re
from difflib import SequenceMatcher

from app.domain.text import fold

_SHOWN = 80  # characters of each text
_MOST = 0.6  # of the incoming words


def describe_difference(stored: str, incoming: str) -> str:
    """Return the words that only one of the texts has, as in '"in Ghent" → "in Bruges"'."""
    old, new = stored.split(), incoming.split()
    matcher = SequenceMatcher(None, list(map(fold, old)), list(map(fold, new)), autojunk=False)
    changes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    if not changes:
        return f'"{_shorten(stored)}" says the same'
    _, old_start, _, new_start, _ = changes[0]
    _, _, old_end, _, new_end = changes[-1]
    before = _shorten(" ".join(old[old_start:old_end]))
    after = _shorten(" ".join(new[new_start:new_end]))
    if not before:
        return f'adds "{after}"'
    if not after:
        return f'leaves out "{before}"'
    return f'"{before}" → "{after}"'


def _shorten(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1].rstrip() + "…"


def differs_in_few_words(stored: str, incoming: str) -> bool:
    """Return True if the incoming text has most words of the stored one, and some others.

    Then one word may decide: "likes jazz" and "dislikes jazz". Who says the same in other words
    rarely keeps most of them.
    """
    old, new = _find_words(stored), _find_words(incoming)
    return bool(new - old) and len(new & old) >= _MOST * len(new)


def _find_words(text: str) -> set[str]:
    return set(re.findall(r"\w+", fold(text)))
