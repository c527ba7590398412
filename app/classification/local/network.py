"""The network of the local judge: all-MiniLM-L6-v2, fine-tuned on the corpus, with 8-bit weights.

Pairs run through it one at a time, so that what is read of a pair never depends on other pairs.
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np

from app.classification.local.reading import Reading
from app.networks import END_TOKEN, START_TOKEN, FairThreads, load_tokenizer, open_session

# Of each text. A fact is shorter; of a longer text the beginning is read.
MAX_TOKENS: Final = 96
WEIGHTS: Final = "judge.onnx"


class LocalNetwork:
    """Reads pairs of texts on threads that agents share fairly."""

    def __init__(self, threads: FairThreads) -> None:
        self._tokenizer = load_tokenizer()
        self._session = open_session(WEIGHTS)
        self._threads = threads

    async def read(self, stored: Sequence[str], incoming: str) -> list[Reading]:
        """Return what is read of the incoming text beside each of the stored ones, in order.

        Raises CallerLeft.
        """
        reading = [self._threads.run(partial(self._read_pair, text, incoming)) for text in stored]
        return await asyncio.gather(*reading)

    def _read_pair(self, stored: str, incoming: str) -> Reading:
        first, second = self._tokenize(stored), self._tokenize(incoming)
        ids = [START_TOKEN, *first, END_TOKEN, *second, END_TOKEN]
        types = [0] * (len(first) + 2) + [1] * (len(second) + 1)
        inputs = {"ids": np.array([ids], np.int64), "types": np.array([types], np.int64)}
        [[logits]] = self._session.run(["logits"], inputs)
        powers = np.exp(logits - logits.max())
        return Reading(*(powers / powers.sum()).tolist())

    def _tokenize(self, text: str) -> list[int]:
        encodable = text.encode("utf-8", "replace").decode("utf-8")
        ids: list[int] = self._tokenizer.encode(encodable, add_special_tokens=False).ids
        return ids[:MAX_TOKENS]
