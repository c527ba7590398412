"""Telling in words what two texts differ in, for the explanation of a judgment."""

from difflib import SequenceMatcher

from app.domain.text import fold

_SHOWN = 80  # characters of each text


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
