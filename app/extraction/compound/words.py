"""Words with their places in the text, and texts made of words again."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

_ABBREVIATION = r"(?:[A-Za-z]\.){2,}|(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|approx)\.(?=\s)"
_WORD = r"[^\W_]\w*(?:['’./&@+:-]\w+)*[+#]*"
_TOKEN = re.compile(rf"{_ABBREVIATION}|{_WORD}|[^\w\s]|_+")
_CONTRACTION = re.compile(r"(.+?)(n['’]t|['’](?:m|re|ve|ll|d|s))", re.IGNORECASE)

# Contractions as people type them in a hurry, and how many letters the first word has.
_WITHOUT_APOSTROPHE = {
    "im": (1, "'m"),
    "ive": (1, "'ve"),
    "dont": (2, "n't"),
    "doesnt": (4, "n't"),
    "didnt": (3, "n't"),
    "isnt": (2, "n't"),
    "cant": (2, "n't"),
    "wont": (2, "n't"),
    "hes": (2, "'s"),
    "shes": (3, "'s"),
    "theyre": (4, "'re"),
    "youre": (3, "'re"),
}


@dataclass(frozen=True, slots=True)
class Word:
    """A word or a mark, with its half-open span in the text.

    `low` is in lower case. A glued word follows the one before without a space. A carried word
    stands elsewhere in the text and is repeated here.
    """

    text: str
    low: str
    start: int
    end: int
    glued: bool = False
    carried: bool = False

    @property
    def is_mark(self) -> bool:
        return not self.low[-1].isalnum() and not self.low[0].isalnum()

    @property
    def is_capitalised(self) -> bool:
        return self.text[0].isupper()

    @property
    def is_number(self) -> bool:
        return self.text[0].isdigit()


Words = Sequence[Word]


def read_words(text: str) -> tuple[Word, ...]:
    """Return the words and marks of the text. Contractions are two words: "I" and "'m"."""
    words: list[Word] = []
    previous_end = -1
    for match in _TOKEN.finditer(text):
        glued = match.start() == previous_end
        words += _split_contraction(_make_word(match.group(), match.start(), glued=glued))
        previous_end = match.end()
    return tuple(words)


def _make_word(text: str, start: int, *, glued: bool, low: str | None = None) -> Word:
    plain = low or text.lower().replace("’", "'")
    return Word(text, plain, start, start + len(text), glued)


def _split_contraction(word: Word) -> tuple[Word, ...]:
    low = None
    if word.low in _WITHOUT_APOSTROPHE:
        size, low = _WITHOUT_APOSTROPHE[word.low]
    elif match := _CONTRACTION.fullmatch(word.text):
        size = match.end(1)
    else:
        return (word,)
    first = _make_word(word.text[:size], word.start, glued=word.glued)
    second = _make_word(word.text[size:], word.start + size, glued=True, low=low)
    return (first, second)


def carry_words(words: Words) -> tuple[Word, ...]:
    """Return the words as a repetition of what stands elsewhere."""
    return tuple(replace(word, carried=True) for word in words)


def render_words(words: Words) -> str:
    """Return the words as a text that begins with a capital if a common word begins it."""
    pieces: list[str] = []
    for place, word in enumerate(words):
        if place and not _is_glued(words[place - 1], word):
            pieces.append(" ")
        pieces.append(word.text)
    return "".join(pieces)


def _is_glued(before: Word, word: Word) -> bool:
    """Return True if no space stands between the two: they touch in the text, or a mark follows."""
    if word.glued and (before.end == word.start or word.low.startswith(("'", "n't"))):
        return True
    return word.text in ",;:."


def span_of(words: Words) -> tuple[int, int]:
    """Return the span from the first to the last word that is no repetition."""
    own = [word for word in words if not word.carried] or words
    return min(word.start for word in own), max(word.end for word in own)
