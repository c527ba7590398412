"""Patterns for lists of phrases."""

import re


def build_pattern(phrases: str) -> str:
    """Return a pattern for one of the phrases, which "/" divides, followed by the end of a word.

    An apostrophe matches its printed form and its absence, a space any spaces. The longest phrase
    is tried first.
    """
    names = sorted({" ".join(phrase.split()) for phrase in phrases.split("/")}, key=len)
    escaped = [re.escape(name) for name in reversed(names) if name]
    pattern = "|".join(escaped).replace("'", "['’]?").replace(r"\ ", r"\s+")
    return f"(?:{pattern})(?!\\w)"
