"""The network that reads messages: all-MiniLM-L6-v2, fine-tuned on labelled talk.

It tells what kind of sentence a user wrote, from what the message says before it.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Final

import numpy as np

from app.networks import END_TOKEN, START_TOKEN, FairThreads, LazyNetwork, weigh_logits

# A sentence is shorter; of a longer one the beginning is read.
MAX_TOKENS: Final = 96
# Of what the message says before it, these many of its beginning and of its end are read.
SAID_TOKENS: Final = 32


class SentenceKind(StrEnum):
    """What a sentence of a user is, in the order of the network's outputs.

    A frame is what is not said by the user as such: a quotation, fiction, a sample.
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


# What is worth keeping.
FACT_KINDS: Final = (
    SentenceKind.SELF,
    SentenceKind.OTHER,
    SentenceKind.PLAN,
    SentenceKind.INSTRUCTION,
    SentenceKind.REMEMBER,
)
_KINDS: Final = tuple(SentenceKind)


@dataclass(frozen=True, slots=True)
class SentenceReading:
    """The probability of each kind, in the order of `SentenceKind`. They sum to 1."""

    probabilities: tuple[float, ...]

    @property
    def worth(self) -> float:
        """The probability that the sentence is worth keeping."""
        return sum(self.probabilities[_KINDS.index(kind)] for kind in FACT_KINDS)

    def find_likeliest(self, *, is_kept: bool) -> SentenceKind:
        """Return the likeliest kind among those that are kept, or among the others."""
        kinds = [kind for kind in _KINDS if (kind in FACT_KINDS) is is_kept]
        return max(kinds, key=lambda kind: self.probabilities[_KINDS.index(kind)])


class SentenceNetwork:
    """Reads sentences, one at a time, on threads that agents share fairly."""

    def __init__(self, threads: FairThreads) -> None:
        self._network = LazyNetwork("sentences.onnx")
        self._threads = threads

    async def read(self, sentences: Sequence[tuple[str, str]]) -> list[SentenceReading]:
        """Return what is read of each sentence, after what its message says before it.

        Raises CallerLeft.
        """
        reading = [self._threads.run(partial(self._read_one, *each)) for each in sentences]
        return await asyncio.gather(*reading)

    def _read_one(self, before: str, sentence: str) -> SentenceReading:
        context = self._network.encode(before).ids
        if len(context) > 2 * SAID_TOKENS:
            context = context[:SAID_TOKENS] + context[-SAID_TOKENS:]
        first = [START_TOKEN, *context, END_TOKEN]
        second = [*self._network.encode(sentence).ids[:MAX_TOKENS], END_TOKEN]
        inputs = {
            "ids": np.array([[*first, *second]]),
            "types": np.array([[0] * len(first) + [1] * len(second)]),
        }
        [[logits]] = self._network.run(["logits"], inputs)
        return SentenceReading(tuple(weigh_logits(logits).tolist()))
