"""The networks that read messages, fine-tuned on labelled talk.

They cut what a user wrote into pieces, and tell of what kind each is. One is all-MiniLM-L6-v2, and
that of many languages the lower layers of multilingual-e5-small.
"""

import asyncio
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from app.domain.language import is_english, is_in_known_script
from app.networks import (
    ENGLISH,
    FairThreads,
    LazyNetwork,
    NetworkSet,
    locate_tokens,
    locate_words,
    weigh_logits,
)

# So much of a text is read in one go: tokens, and the characters that may hold them.
MAX_TOKENS: Final = 180
MAX_LENGTH: Final = 1_500
# Of what the message says before it, these many of its beginning and of its end are read.
SAID_TOKENS: Final = 32
_NUMBERS: Final = re.compile(r"^(?:\d{1,2}[.)]|[a-z]\))(?=\s)", re.MULTILINE)
# From this probability a word begins a piece.
_LEAST_BEGINNING: Final = 0.6


class PieceKind(StrEnum):
    """What a piece of a message is, in the order of the network's outputs.

    A frame is what is not said by the user as such: a quotation, fiction, a sample. A link leads up
    to another piece, ties it to the one before, or trails behind it.
    """

    SELF = "self"
    OTHER = "other"
    PLAN = "plan"
    INSTRUCTION = "instruction"
    REMEMBER = "remember"
    EVENT = "event"
    QUESTION = "question"
    REQUEST = "request"
    WISH = "wish"
    FRAME = "frame"
    TALK = "talk"
    WORLD = "world"
    CODE = "code"
    LINK = "link"


# What is worth keeping.
FACT_KINDS: Final = (
    PieceKind.SELF,
    PieceKind.OTHER,
    PieceKind.PLAN,
    PieceKind.INSTRUCTION,
    PieceKind.REMEMBER,
)
_KINDS: Final = tuple(PieceKind)


@dataclass(frozen=True, slots=True)
class Piece:
    """A half-open place in a text, and the probability of each kind in the order of `PieceKind`."""

    start: int
    end: int
    probabilities: tuple[float, ...]

    @property
    def worth(self) -> float:
        """The probability that the piece is worth keeping."""
        return sum(self.probabilities[_KINDS.index(kind)] for kind in FACT_KINDS)

    def find_likeliest(self, *, is_kept: bool) -> PieceKind:
        """Return the likeliest kind among those that are kept, or among the others."""
        kinds = [kind for kind in _KINDS if (kind in FACT_KINDS) is is_kept]
        return max(kinds, key=lambda kind: self.probabilities[_KINDS.index(kind)])


def replace_numbers(message: str) -> str:
    """Return the message with bullets for the numbers of lists, as the network has learned it."""
    return _NUMBERS.sub(lambda number: "-".ljust(len(number[0])), message)


class MessageNetwork:
    """Reads messages on threads that agents share fairly.

    Where `many_languages` are there, they read what is not English.
    """

    def __init__(self, threads: FairThreads, many_languages: NetworkSet | None = None) -> None:
        self._english = _Reader(ENGLISH)
        self._many_languages = _Reader(many_languages) if many_languages else None
        self._threads = threads

    def can_read(self, text: str) -> bool:
        is_other = self._many_languages is not None and is_in_known_script(text)
        return is_other or is_english(text)

    def reads_as_english(self, text: str) -> bool:
        return self._many_languages is None or self._many_languages.networks.is_english(text)

    async def read(self, before: str, text: str, sentences: Collection[int] = ()) -> list[Piece]:
        """Return the pieces of a text, after what its message says before it. Raises CallerLeft.

        `sentences` are the places where sentences begin, and pieces with them. A long text is read
        in several goes, each from the last piece of the one before.
        """
        reader = self._english
        if self._many_languages is not None and not self.reads_as_english(text):
            reader = self._many_languages
        pieces: list[Piece] = []
        start = 0
        while start < len(text):
            begins = {place - start for place in sentences}
            read, is_whole = await self._threads.run(
                partial(reader.read, f"{before}{text[:start]}", text[start:], begins)
            )
            taken = read if is_whole or len(read) == 1 else read[:-1]
            pieces += (replace(one, start=start + one.start, end=start + one.end) for one in taken)
            if is_whole:
                break
            start = pieces[-1].end
        return pieces

    async def weigh(self, texts: Iterable[str]) -> list[float]:
        """Return for each text the worth of its best piece. Raises CallerLeft."""
        read = await asyncio.gather(*(self.read("", text) for text in texts))
        return [max((piece.worth for piece in pieces), default=0.0) for pieces in read]


class _Reader:
    """The network of one set. Words of English begin pieces, and tokens of other languages."""

    def __init__(self, networks: NetworkSet) -> None:
        self.networks = networks
        self._network = LazyNetwork("messages.onnx", networks)

    def read(self, before: str, text: str, sentences: Collection[int]) -> tuple[list[Piece], bool]:
        """Return the pieces that the text begins with, and whether they are all of it."""
        if len(before) > 2 * MAX_LENGTH:
            before = f"{before[:MAX_LENGTH]} {before[-MAX_LENGTH:]}"
        context: list[int] = self._network.encode(before).ids
        if len(context) > 2 * SAID_TOKENS:
            context = context[:SAID_TOKENS] + context[-SAID_TOKENS:]
        encoding = self._network.encode(text[:MAX_LENGTH])
        is_by_word = self.networks is ENGLISH
        located = locate_words(encoding) if is_by_word else locate_tokens(encoding, text)
        words = [(place, span) for place, span in located if place < MAX_TOKENS]
        is_whole = len(text) <= MAX_LENGTH and len(encoding.ids) <= MAX_TOKENS
        if not words:
            return [], True
        first = [self.networks.start, *context, self.networks.end]
        second = [*encoding.ids[:MAX_TOKENS], self.networks.end]
        inputs = {
            "ids": np.array([[*first, *second]]),
            "types": np.array([[0] * len(first) + [1] * len(second)]),
        }
        [kinds], [begins] = self._network.run(["kinds", "begins"], inputs)
        places = [len(first) + place for place, _ in words]
        likely = weigh_logits(begins[places])[:, 1] >= _LEAST_BEGINNING
        spans = [span for _, span in words]
        is_first = likely | [start in sentences for start, _ in spans]
        starts = [place for place in range(1, len(spans)) if is_first[place]]
        firsts = []
        for start, end in pairwise((*starts, len(spans))):
            # The "1." of "I own boat 1." begins no piece.
            has_letters = any(map(str.isalpha, text[spans[start][0] : spans[end - 1][1]]))
            if has_letters or spans[start][0] in sentences:
                firsts.append(start)
        return list(_cut(weigh_logits(kinds[places]), firsts, spans)), is_whole


def _cut(
    kinds: NDArray[np.float32], later: Sequence[int], spans: Sequence[tuple[int, int]]
) -> Iterator[Piece]:
    """Yield the pieces; those behind the first begin at the words `later`.

    What a piece is, its words decide together.
    """
    starts = [0, *later]
    for start, end in zip(starts, (*starts[1:], len(spans)), strict=True):
        probabilities = kinds[start:end].mean(axis=0).tolist()
        yield Piece(spans[start][0], spans[end - 1][1], tuple(probabilities))
