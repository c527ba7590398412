"""Finding phrases in texts, as words in a row, and making them blank."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

Span = tuple[int, int]
Words = tuple[str, ...]

# A word; of scripts that put no space between words, each character is one.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")

# Shorter texts, such as "I" and "ok", say nothing by which their speaker's fact can be recognised.
LEAST_WORDS = 3
LEAST_LETTERS = 12


class PhraseFinder:
    """Finds any of some texts in other texts. Case, marks and spaces do not count.

    Texts that are too short to be recognised are not searched for. The time that a search takes
    grows with the length of the text that is searched, not with the number of phrases.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._phrases: dict[str, dict[int, set[Words]]] = defaultdict(lambda: defaultdict(set))
        for text in texts:
            words = tuple(match[0].casefold() for match in _WORD.finditer(text))
            if len(words) >= LEAST_WORDS or sum(map(len, words)) >= LEAST_LETTERS:
                self._phrases[words[0]][len(words)].add(words)

    def find_spans(self, text: str) -> Iterator[Span]:
        """Yield the place of each phrase in the text, half-open; they may overlap."""
        matches = list(_WORD.finditer(text))
        words = tuple(match[0].casefold() for match in matches)
        for first, word in enumerate(words):
            for length, phrases in self._phrases.get(word, {}).items():
                if words[first : first + length] in phrases:
                    yield matches[first].start(), matches[first + length - 1].end()


def blank_spans(text: str, spans: Iterable[Span]) -> str | None:
    """Return the text with spaces for these spans, or None if it has no word left.

    All other places stay as they are.
    """
    for start, end in spans:
        blank = " " * (min(end, len(text)) - start)
        text = text[:start] + blank + text[end:]
    return text if _WORD.search(text) else None
