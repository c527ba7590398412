"""Folding and hashing of texts: when two wordings count as the same."""

import hashlib
import re
import unicodedata

# Marks that end or wrap a word without changing it. Marks that carry meaning stay: "C" and "C++", "5" and "-5", "?" and ".".
_SENTENCE_MARKS = ".,;:!\"'()[]{}…“”‘’«»„"
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'"})


def fold(text: str) -> str:
    """The text trimmed, with case and width folded (NFKC). Values are equal when their folds are (DESIGN §2)."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).strip()


def fold_loosely(text: str) -> str:
    """`fold`, with spacing and the marks around words folded too; marks inside words ("node.js", "3.5") stay."""
    words = (word.strip(_SENTENCE_MARKS) for word in fold(text).translate(_APOSTROPHES).split())
    return " ".join(word for word in words if word)


def hash_text(text: str) -> bytes:
    """SHA-256 of the text, 32 bytes."""
    return hashlib.sha256(text.encode()).digest()


def hash_text_loosely(text: str) -> bytes:
    """Digest of the loosely folded text; a text of marks alone keeps them."""
    return hash_text(fold_loosely(text) or fold(text))


_NOT_UTF8 = re.compile("[\x00\ud800-\udfff]")


def is_storable(text: str) -> bool:
    """Whether Postgres can hold the text: no NUL, no lone surrogate."""
    return _NOT_UTF8.search(text) is None
