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


# Characters that show nothing: Unicode's Default_Ignorable_Code_Point, and the blank of Braille.
INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_VISIBLE = re.compile(f"[^\\s{INVISIBLE}]")


def is_visible(text: str) -> bool:
    """Return True if a reader sees something of the text."""
    return _VISIBLE.search(text) is not None
