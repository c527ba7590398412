"""Folding and hashing of texts, which decide when two wordings count as the same."""

import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence, Set
from itertools import pairwise

_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'"})
_POINTS = ".,;:!…،؛।。、"
_QUOTES = "\"'“”«»„`"
_SENTENCE_MARKS = f"{_POINTS}{_QUOTES}()"
# Behind one of these, a closing bracket is a smile.
_EYES = (":", ";")

_LETTERS = r"[^\W\d_]+"
_PLAIN = re.compile(rf"{_LETTERS}(?:['-]{_LETTERS})*\??")
_PARTS = re.compile("['-]")
_NUMBER = re.compile(r"[-+]?\d[\d.,:]*")
_CLOCK = re.compile(r"\d{1,2}[:.]\d{2}")
# Up to two letters after a number may be its unit: "5 mb", "5 Mb" and "5 MB" differ. These are not.
_NOT_UNITS = frozenset(("am", "pm", "i"))
_LONGEST_UNIT = 2


def fold(text: str) -> str:
    """Return the text trimmed, with case and width folded (NFKC).

    Two words of slots are equal if their folds are (DESIGN §2).
    """
    if text.isascii():
        return text.lower().strip()
    folded = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", folded).strip()


def fold_value(text: str) -> str:
    """Return the text trimmed, with width folded, and case only in plain words.

    Two values are equal if their folds are. Words with digits, inner capitals or marks, and units,
    keep their case, because it may carry meaning.
    """
    spaced = re.split(r"(\s+)", _fold_width(text).strip())
    words = spaced[::2]
    spaced[::2] = [
        word.replace(bare, folded, 1)
        for word, bare, folded in zip(words, *_fold_words(words), strict=True)
    ]
    return "".join(spaced)


def fold_loosely(text: str) -> str:
    """Return the text folded as a value is, with single spaces and without marks around words.

    Marks that carry meaning stay: "C" and "C++" differ, and so do "5" and "-5", "env" and ".env",
    "f" and "f()", ":)" and ":(", "?" and ".".
    """
    _, folded = _fold_words(_fold_width(text).translate(_APOSTROPHES).split())
    return " ".join(filter(None, folded))


def differ_in_exact_words(one: str, other: str) -> bool:
    """Return True if two words differ only in case or marks, and these may carry meaning.

    "5 mW" and "5 MW" are such texts, and "status != 200" and "status = 200". Times of the day are
    written with either mark.
    """
    first = Counter(fold_loosely(one).split())
    second = Counter(fold_loosely(other).split())
    others = defaultdict(list)
    for word in second - first:
        others[_keep_letters(word)].append(word)
    for word in first - second:
        for alike in others[_keep_letters(word)]:
            are_times = _CLOCK.fullmatch(word) and _CLOCK.fullmatch(alike)
            if not (are_times or (_is_folded_word(word) and _is_folded_word(alike))):
                return True
    return False


def _keep_letters(word: str) -> str:
    return "".join(each for each in fold(word) if each.isalnum() or _is_vowel_sign(each))


def _is_folded_word(word: str) -> bool:
    bare = "".join(each for each in word if not _is_vowel_sign(each))
    return _PLAIN.fullmatch(bare) is not None and word == fold(word)


def _is_vowel_sign(character: str) -> bool:
    """Return True for a sign that is part of a letter, as in Hindi and Arabic."""
    return unicodedata.category(character).startswith("M")


def _fold_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words without the marks around them, as they are written and as they compare."""
    opening = {word[0] for word in words if word}
    bare = [word if word.isalpha() else _strip_marks(word, opening) for word in words]
    folded = []
    for before, word in pairwise(["", *bare]):
        if word.isascii() and word.isalpha() and word.islower():  # most words
            folds_case = False
        elif len(word) <= _LONGEST_UNIT and _NUMBER.fullmatch(before):
            folds_case = fold(word) in _NOT_UNITS
        else:
            folds_case = _is_plain(word)
        folded.append(fold(word) if folds_case else word)
    return bare, folded


def _is_plain(word: str) -> bool:
    """Return True for a word in small letters, in the case of a title, or all in capitals."""
    if not _PLAIN.fullmatch(word):
        return False
    return word.isupper() or all(part[1:] == part[1:].lower() for part in _PARTS.split(word))


def _strip_marks(word: str, opening: Set[str]) -> str:
    """Return the word without the marks that end or wrap words in a sentence.

    A mark that is repeated is one mark, and several marks without a word are kept. `opening` are
    the marks with which words begin: a quote after a number is a unit if nothing opens it.
    """
    if not any(map(str.isalnum, word)):
        return "" if len(set(word)) == 1 and word[0] in _SENTENCE_MARKS else word
    while word[0] in _QUOTES or (word[0] == "(" and ")" not in word):
        word = word[1:]
    while _ends_in_mark(word, opening):
        word = word[:-1]
    return word


def _ends_in_mark(word: str, opening: Set[str]) -> bool:
    last, before = word[-1], word[-2:-1]
    if last in _QUOTES:
        return not before.isdigit() or last not in "'\"" or last in opening
    if last == ")":
        return "(" not in word and before not in _EYES
    return last in _POINTS


def _fold_width(text: str) -> str:
    """Return the text in NFC, with wide and narrow letters in their usual width.

    Other letters stay: a raised digit is another number.
    """
    if text.isascii():
        return text
    letters: list[str] = []
    for letter in unicodedata.normalize("NFC", text):
        is_odd = unicodedata.decomposition(letter).startswith(("<wide>", "<narrow>"))
        letters.append(unicodedata.normalize("NFKC", letter) if is_odd else letter)
    return unicodedata.normalize("NFC", "".join(letters))


def hash_text(text: str) -> bytes:
    """Return the SHA-256 of the text, 32 bytes."""
    return hashlib.sha256(text.encode()).digest()


def hash_text_loosely(text: str) -> bytes:
    """Return the hash of the loosely folded text; a text of marks alone keeps its marks."""
    return hash_text(fold_loosely(text) or fold(text))


def hash_value(text: str) -> bytes:
    """Return the hash by which values compare."""
    return hash_text(fold_value(text))


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
