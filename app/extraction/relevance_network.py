"""The network of the second reader: all-MiniLM-L6-v2, fine-tuned on labelled talk."""

import asyncio
from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

import numpy as np

from app.networks import END_TOKEN, START_TOKEN, FairThreads, load_tokenizer, open_session

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

# A statement is shorter; of a longer one the beginning is read.
MAX_TOKENS: Final = 96


class RelevanceNetwork:
    """Reads statements, one at a time, on threads that agents share fairly.

    It is loaded with the first messages, because many services get none.
    """

    def __init__(self, threads: FairThreads) -> None:
        self._threads = threads

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        return load_tokenizer()

    @cached_property
    def _session(self) -> "InferenceSession":
        return open_session("relevance.onnx")

    async def measure(self, texts: Sequence[str]) -> list[float]:
        """Return how likely each text is about the user's own life, 0 to 1, in order.

        A text in another script than English says nothing to the network: one half. Raises
        CallerLeft.
        """
        measuring = [self._threads.run(partial(self._measure_text, text)) for text in texts]
        return await asyncio.gather(*measuring)

    def _measure_text(self, text: str) -> float:
        letters = [letter.isascii() for letter in text if letter.isalpha()]
        if sum(letters) * 2 < len(letters):
            return 0.5
        encodable = text.encode("utf-8", "replace").decode("utf-8")
        ids = self._tokenizer.encode(encodable, add_special_tokens=False).ids[:MAX_TOKENS]
        inputs = {"ids": np.array([[START_TOKEN, *ids, END_TOKEN]], np.int64)}
        [[(against, in_favour)]] = self._session.run(["logits"], inputs)
        return float(1 / (1 + np.exp(against - in_favour)))
