"""Splitting a text that plainly holds several facts into facts of their own."""

import re
from dataclasses import dataclass

from app.extraction.compound import lexicon
from app.extraction.compound.borders import split_clauses
from app.extraction.compound.lists import split_lists
from app.extraction.compound.relatives import split_relatives
from app.extraction.compound.subjects import split_subjects
from app.extraction.compound.verb_phrases import split_verb_phrases
from app.extraction.compound.words import Word, read_words, render_words, span_of

MAX_CHARACTERS = 2_000
MAX_WORDS = 300
MAX_PARTS = 16

# A text with one of these is no plain statement: a question, a quotation, code, a condition, a
# correction, a second line.
_NO_PLAIN_STATEMENT = re.compile(
    r"""
    [?\n\t"“”„«»`{}<>=\\|*\[\]] | [()] \s* ;
    | (?<!\w)'[^']*'(?!\w)
    | :\s | ,\s+so\s+(?!(?:i|we|my|our)\b) | \band\s+(?:so|neither)\s
    | \b(?: if | unless | whether | in\ case | otherwise | instead | rather | correction | typo
        | either | neither | and\ both | but\ both | not\ only | scratch\ that | i\ meant | i\ mean
        | no\ one | used\ to | i'd\ like
        ) \b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CORRECTING_START = re.compile(
    r"\s*(?:actually|no|nope|correction|sorry|wait|oops)\b", re.IGNORECASE
)
_LINK = re.compile(r"(?:https?://|www\.)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Part:
    """One fact of a text, in words that stand for themselves.

    The half-open span holds the words of the original that belong to this fact alone.
    """

    text: str
    start: int
    end: int


def split_fact(text: str) -> tuple[Part, ...]:
    """Return the facts of the text, in order; the whole text as one part if in doubt."""
    whole = (Part(text, 0, len(text)),)
    if len(text) > MAX_CHARACTERS or not _is_plain_statement(text):
        return whole
    words = _strip_final_mark(read_words(text))
    if not 0 < len(words) <= MAX_WORDS:
        return whole
    pieces = _split_words(_drop_also(words))
    if not 2 <= len(pieces) <= MAX_PARTS:
        return whole
    return tuple(sorted(map(_build_part, pieces), key=lambda part: part.start))


def _is_plain_statement(text: str) -> bool:
    return not (
        _NO_PLAIN_STATEMENT.search(text) or _CORRECTING_START.match(text) or _LINK.search(text)
    )


def _strip_final_mark(words: tuple[Word, ...]) -> tuple[Word, ...]:
    while words and words[-1].low in (".", "!"):
        words = words[:-1]
    return words


def _drop_also(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Return "to cats and to dust" for "to cats, and also to dust": one list of two."""
    for place in range(2, len(words) - 2):
        is_also = words[place].low == "also" and words[place - 1].low == "and"
        if is_also and words[place + 1].low in lexicon.PREPOSITIONS:
            has_comma = words[place - 2].low == ","
            before = words[: place - 2] if has_comma else words[: place - 1]
            return (*before, words[place - 1], *words[place + 1 :])
    return words


def _split_words(words: tuple[Word, ...]) -> list[tuple[Word, ...]]:
    """Cut into clauses, these into verb phrases, and these into the items of their lists."""
    pieces: list[tuple[Word, ...]] = []
    for sentence in split_relatives(words):
        clauses = split_clauses(sentence)
        for number, clause in enumerate(clauses):
            is_followed = number + 1 < len(clauses)
            pieces += split_verb_phrases(clause, is_followed=is_followed)
    for split in (split_subjects, split_lists):
        pieces = [smaller for piece in pieces for smaller in split(piece)]
    return pieces


def _build_part(words: tuple[Word, ...]) -> Part:
    trimmed = _strip_additive_words(words)
    start, end = span_of(trimmed)
    return Part(_capitalise(render_words(trimmed)), start, end)


def _strip_additive_words(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Return the words without "also" and "too", which point at the other parts."""
    while len(words) > 2 and words[-1].low in ("too", ",", "also"):
        words = words[:-1]
    return tuple(word for word in words if word.low != "also")


def _capitalise(text: str) -> str:
    first = text.split(maxsplit=1)[0]
    return text[0].upper() + text[1:] if first.islower() and first.isalpha() else text
