"""Finds what of a user's turn is prose of the user's own, for its form.

Code, tables, logs, contexts of ours, quotations, texts that are handed over, and sentences that had
a secret are none. What the rest says is for the network to tell.
"""

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from app.domain.secrets import REDACTED
from app.domain.talk import CONTEXT_ENDS, SkipReason
from app.domain.text import fold_loosely
from app.extraction.blocks import Block, find_blocks
from app.extraction.quotes import find_handover_end, find_quotes
from app.extraction.sentences import split_sentences

# Characters. Nobody states a fact in so long a sentence.
LONGEST_SENTENCE = 1_000


@dataclass(frozen=True, slots=True)
class Barred:
    """A half-open place that states nothing of the user's for its form, and why."""

    start: float
    end: float
    reason: SkipReason

    def covers(self, start: int, end: int) -> bool:
        """Return True if it is, holds, or crosses the place; False if it lies inside it."""
        overlaps = self.start < end and start < self.end
        is_same = (self.start, self.end) == (start, end)
        return overlaps and (is_same or self.start < start or end < self.end)


@dataclass(frozen=True, slots=True)
class CutTurn:
    """A user's turn: half-open places of prose, blocks of other things, and what is barred.

    `sentences` are the places of the sentences of the prose.
    """

    prose: tuple[tuple[int, int], ...]
    blocks: tuple[Block, ...]
    barred: tuple[Barred, ...]
    sentences: tuple[tuple[int, int], ...]


def cut_turn(content: str, handed_out: Collection[str]) -> CutTurn:
    """Return the turn, cut by its form.

    `handed_out` are folded texts that came out of the memory.
    """
    blocks = [part for block in find_blocks(content) for part in _split_block(content, block)]
    sentences: list[tuple[int, int]] = []
    for block in blocks:
        if block.reason is None:
            places = [*split_sentences(content, block.start, block.end)]
            # The mark of an item of a list belongs to the first sentence.
            sentences += [(block.start, end) for _, end in places[:1]] + places[1:]
    barred = [Barred(*place, SkipReason.QUOTATION) for place in find_quotes(content)]
    for start, end in sentences:
        barred += _bar_sentence(content, start, end, handed_out)
    others = tuple(block for block in blocks if block.reason is not None)
    return CutTurn(tuple(_join_prose(blocks)), others, tuple(barred), tuple(sentences))


def _split_block(content: str, block: Block) -> Iterator[Block]:
    """Yield a block of prose in parts: a sentence that is too long to state anything is no prose.

    The network would take seconds for it.
    """
    start = block.start
    if block.reason is None and block.end - start > LONGEST_SENTENCE:
        for first, end in split_sentences(content, start, block.end):
            if end - first > LONGEST_SENTENCE:
                if content[start:first].strip():
                    yield Block(start, first, None)
                yield Block(first, end, SkipReason.NO_STATEMENT)
                start = end
    if content[start : block.end].strip():
        yield Block(start, block.end, block.reason)


def _bar_sentence(
    content: str, start: int, end: int, handed_out: Collection[str]
) -> Iterator[Barred]:
    sentence = content[start:end]
    if REDACTED in sentence:
        yield Barred(start, end, SkipReason.REDACTED)
    elif fold_loosely(sentence) in handed_out:
        yield Barred(start, end, SkipReason.REPEATED_CONTEXT)
    handover = find_handover_end(sentence)
    if handover is not None:
        yield Barred(start + handover, math.inf, SkipReason.QUOTATION)


def _join_prose(blocks: Collection[Block]) -> Iterator[tuple[int, int]]:
    """Yield the places of prose. Paragraphs that follow one another are read together."""
    place: tuple[int, int] | None = None
    for block in blocks:
        if block.reason is None:
            place = (place[0] if place else block.start, block.end)
        elif place:
            yield place
            place = None
    if place:
        yield place


def find_said(before: str) -> str:
    """Return what the user said before a place: what follows a context of ours."""
    return before.rpartition(CONTEXT_ENDS)[2].lstrip()
