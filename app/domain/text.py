"""Folding and hashing of texts, which decide when two wordings count as the same."""

import hashlib
import re
import unicodedata

# Marks that end or wrap a word without changing it. Marks that carry meaning stay: "C" and "C++"
# differ, and so do "5" and "-5", "?" and ".".
_SENTENCE_MARKS = ".,;:!\"'()[]{}…“”‘’«»„"
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'"})


def fold(text: str) -> str:
    """Return the text trimmed, with case and width folded (NFKC).

    Two values are equal if their folds are (DESIGN §2).
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", folded).strip()


def fold_loosely(text: str) -> str:
    """Return the folded text without the marks around words and with single spaces.

    Marks inside words ("node.js", "3.5") stay.
    """
    words = fold(text).translate(_APOSTROPHES).split()
    stripped = (word.strip(_SENTENCE_MARKS) for word in words)
    return " ".join(filter(None, stripped))


def hash_text(text: str) -> bytes:
    """Return the SHA-256 of the text, 32 bytes."""
    return hashlib.sha256(text.encode()).digest()


def hash_text_loosely(text: str) -> bytes:
    """Return the hash of the loosely folded text; a text of marks alone keeps its marks."""
    return hash_text(fold_loosely(text) or fold(text))


_NOT_UTF8 = re.compile("[\x00\ud800-\udfff]")


def is_storable(text: str) -> bool:
    """Return True if Postgres can hold the text: no NUL and no lone surrogate."""
    return _NOT_UTF8.search(text) is None
