"""The facts of a text that plainly holds several, built from what the network marks in it.

All words of a fact are words of the text, in their order; only a verb that followed several
subjects is put into the singular, and a pronoun makes room for what it stands for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from app.extraction.verbs import add_s

MAX_PARTS: Final = 16
_SINGULARS: Final = {"are": "is", "were": "was", "have": "has", "do": "does", "don": "doesn"}
_OF_SPEAKERS: Final = {"are": "am", "were": "was"}
_FINAL_MARKS: Final = ".,;! "
_SPEAKER: Final = "i"
_PLURALS: Final = frozenset(("we", "you", "they"))


class Mark(StrEnum):
    """What a word of a text is to its facts, in the order of the network's outputs.

    Those of `STARTS` point to a word. A start points to the last word that an earlier fact shares
    with it, or to itself if none does. Another subject points to the first word of the first
    subject. A pronoun, or an owner, points to the last word of what it stands for.
    """

    PLAIN = "plain"
    JOIN = "join"  # belongs to no fact
    START = "start"  # begins a fact
    SUBJECT = "subject"  # begins another subject of one predicate
    PRONOUN = "pronoun"  # begins a fact whose subject an earlier one has
    OWNER = "owner"  # begins a fact about what this subject owns
    TAIL = "tail"  # begins what all items of a list share


STARTS: Final = (Mark.START, Mark.SUBJECT, Mark.PRONOUN, Mark.OWNER)


@dataclass(frozen=True, slots=True)
class Part:
    """One fact of a text, in words that stand for themselves.

    The half-open span holds the words of the original that belong to this fact alone.
    """

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text, the half-open spans of its words, what each is, and the place to which it points."""

    text: str
    spans: Sequence[tuple[int, int]]
    marks: Sequence[Mark]
    pointers: Sequence[int]

    def get_word(self, place: int) -> str:
        start, end = self.spans[place]
        return self.text[start:end]


@dataclass(slots=True)
class _Piece:
    """The places of the words of a fact: those it shares, its own, and those that follow.

    `end` is that of its own words in the text.
    """

    before: list[int]
    own: list[int]
    end: int
    is_owned: bool
    tail: Sequence[int] = ()
    is_singular: bool = False


def build_parts(marked: MarkedText) -> tuple[Part, ...]:
    """Return the facts of the text, in order; none if the marks make no sense, or mark one fact."""
    starts = [0, *(place for place, mark in enumerate(marked.marks) if mark in STARTS)]
    if not 2 <= len(starts) <= MAX_PARTS or 0 in starts[1:]:
        return ()
    pieces: list[_Piece] = []
    for start, end in zip(starts, (*starts[1:], len(marked.marks)), strict=True):
        piece = _read_piece(marked, pieces, start, end)
        if piece is None:
            return ()
        pieces.append(piece)
        if not _share_tail(marked, pieces, start):
            return ()
    parts = tuple(_build_part(marked, piece) for piece in pieces)
    return () if any(len(part.text.split()) < 2 for part in parts) else parts


def _read_piece(
    marked: MarkedText, earlier: Sequence[_Piece], start: int, end: int
) -> _Piece | None:
    mark, pointer = marked.marks[start], marked.pointers[start]
    is_pronoun = mark in (Mark.PRONOUN, Mark.OWNER)
    own = [
        place for place in range(start + is_pronoun, end) if marked.marks[place] is not Mark.JOIN
    ]
    is_alone = not earlier or mark is Mark.SUBJECT or (mark is Mark.START and pointer == start)
    before = [] if is_alone else _find_shared(earlier, pointer)
    if not own or before is None:
        return None
    return _Piece(before, own, marked.spans[own[-1]][1], is_owned=mark is Mark.OWNER)


def _find_shared(earlier: Sequence[_Piece], pointer: int) -> list[int] | None:
    """Return the words of an earlier fact up to the one that is pointed to."""
    for piece in earlier:
        if pointer in piece.own:
            return [*piece.before, *piece.own[: piece.own.index(pointer) + 1]]
    return None


def _share_tail(marked: MarkedText, pieces: list[_Piece], start: int) -> bool:
    """Give the tail of the last piece to all items of its list. Return False if it has no list."""
    last = pieces[-1]
    tails = [place for place in last.own if marked.marks[place] is Mark.TAIL]
    if not tails:
        return True
    shared = last.own[last.own.index(tails[0]) :]
    pointer = marked.pointers[start]
    first = next((place for place, one in enumerate(pieces[:-1]) if pointer in one.own), None)
    if first is None or shared == last.own:
        return False
    is_singular = marked.marks[start] is Mark.SUBJECT
    if is_singular and 0 in pieces[first].own and _ends_in_s(marked.get_word(0)):
        return False  # "James and Jo work", "Lentils and rice keep": one or many?
    for piece in pieces[first:]:
        if piece is last:
            piece.own = piece.own[: -len(shared)]
        piece.tail = shared
        piece.is_singular = is_singular
    return True


def _build_part(marked: MarkedText, piece: _Piece) -> Part:
    text = _append_words("", marked, piece.before) + "'s" * piece.is_owned
    text = _append_words(text, marked, piece.own)
    if piece.is_singular:
        subject, predicate = text, _append_words("", marked, piece.tail)
        text = f"{subject} {_inflect(predicate, subject)}"
    else:
        text = _append_words(text, marked, piece.tail)
    text = text.rstrip(_FINAL_MARKS)
    return Part(text[:1].upper() + text[1:], marked.spans[piece.own[0]][0], piece.end)


def _append_words(text: str, marked: MarkedText, places: Sequence[int]) -> str:
    """Return the text with the words, which touch where they touch in the original."""
    for place in places:
        touches = place > 0 and marked.spans[place - 1][1] == marked.spans[place][0]
        text += " " * bool(text and not touches) + marked.get_word(place)
    return text


def _inflect(predicate: str, subject: str) -> str:
    """Return the predicate of several subjects as that of one of them."""
    verb, _, rest = predicate.partition(" ")
    if subject.lower() == _SPEAKER:
        verb = _OF_SPEAKERS.get(verb, verb)
    else:
        last = subject.rsplit(maxsplit=1)[-1]
        is_plural = last.lower() in _PLURALS or (last.islower() and _ends_in_s(last))
        if not is_plural:
            verb = _SINGULARS.get(verb) or add_s(verb)
    return f"{verb} {rest}".rstrip()


def _ends_in_s(word: str) -> bool:
    return word.endswith("s") and not word.endswith("ss")
