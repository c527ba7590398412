"""The network that finds the facts in texts: all-MiniLM-L6-v2, fine-tuned on labelled texts."""

from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from app.extraction.parts import STARTS, Mark, MarkedText
from app.networks import (
    ENGLISH,
    FairThreads,
    LazyNetwork,
    locate_words,
    weigh_logits,
)

# A text with more is not read.
MAX_TOKENS: Final = 200
_MARKS: Final = tuple(Mark)


@dataclass(frozen=True, slots=True)
class PartsReading:
    """A text with what its words are, and how sure that is: the least probability of all."""

    marked: MarkedText
    certainty: float


class PartsNetwork:
    """Marks what the words of a text are to its facts, on threads that agents share fairly."""

    def __init__(self, threads: FairThreads) -> None:
        self._network = LazyNetwork("parts.onnx")
        self._threads = threads

    async def read(self, text: str) -> PartsReading | None:
        """Return what the words of the text are; None if it is too long. Raises CallerLeft."""
        return await self._threads.run(partial(self._read, text))

    def _read(self, text: str) -> PartsReading | None:
        encoding = self._network.encode(text)
        words = locate_words(encoding)
        if not words or len(encoding.ids) > MAX_TOKENS:
            return None
        inputs = {"ids": np.array([[ENGLISH.start, *encoding.ids, ENGLISH.end]])}
        [marks], [pointers] = self._network.run(["marks", "pointers"], inputs)
        firsts = [1 + first for first, _ in words]
        weighed = weigh_logits(marks[firsts])
        pointing = weigh_logits(pointers[np.ix_(firsts, firsts)])
        chosen = [_MARKS[number] for number in weighed.argmax(axis=1)]
        begins = [place for place, mark in enumerate(chosen) if mark in STARTS]
        sure = [float(weighed.max(axis=1).min()), *pointing[begins].max(axis=1).tolist()]
        spans = [span for _, span in words]
        targets: list[int] = pointing.argmax(axis=1).tolist()
        return PartsReading(MarkedText(text, spans, chosen, targets), min(sure))
