"""Tells values that are made at random from words and settings, and texts that have none."""

import math
import re
from collections import Counter
from collections.abc import Sequence

_PLACEHOLDER = re.compile(
    r"[*•xX.#_-]+|<.*|\[.*|\{.*|\$.*|%.*|.*\.\.\..*|.*\*\*\*.*"
    r"|(?:os|process|env|settings|config|self|request)\..*"
    r"|@.*|(?:new-|current-)?password\b.*|string"
    r"|(?:your|my|example|changeme|change[_-]me|placeholder|redacted|none|null|true|false)\b.*",
    re.IGNORECASE | re.DOTALL,
)


# No token is shorter. Most texts have no such run, and need no further look for tokens.
_LONG_RUN = re.compile(r"[!-~]{14}")


def has_long_run(text: str) -> bool:
    """Return True if the text has a run of characters in which a token may stand."""
    return _LONG_RUN.search(text) is not None


def has_any_word(text: str, words: Sequence[str]) -> bool:
    """Return True if the text has one of these parts of words, which are in lower case.

    That takes a small part of the time of a search for a pattern that begins with them.
    """
    lowered = text.lower()
    for word in words:  # noqa: SIM110 - a generator takes three times as long
        if word in lowered:
            return True
    return False


def is_placeholder(value: str) -> bool:
    """Return True for what stands in examples and code in place of a secret."""
    return _PLACEHOLDER.fullmatch(value) is not None


def looks_random(value: str, *, least_bits: float) -> bool:
    """Return True for a value with digits and letters and at least so many bits a character."""
    has_digit = any(character.isdigit() for character in value)
    has_letter = any(character.isalpha() for character in value)
    return has_digit and has_letter and measure_entropy(value) >= least_bits


def measure_entropy(value: str) -> float:
    """Return the Shannon entropy of the characters, in bits a character."""
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)
