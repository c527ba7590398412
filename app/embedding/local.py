"""The encoder inside the package: all-MiniLM-L6-v2 with 8-bit weights, on the CPU.

Texts run through the model one at a time. Batches of equal length were a tenth faster, but the last
bits of a vector depended on the other texts of its batch. Now a text always has the same vector,
bit for bit.
"""

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import ceil
from typing import Final

import numpy as np
from numpy.typing import NDArray

from app.networks import END_TOKEN, START_TOKEN, load_tokenizer, open_session

WINDOW_TOKENS: Final = 254  # the model was trained on 256, start and end included


class LocalEmbedder:
    """An `Embedder` on threads of its own, so that the event loop stays free.

    A text longer than the model's window is cut into windows of nearly equal length, and its vector
    is the normalised mean of their vectors. Lone surrogates, which no encoding can carry, count as
    question marks. Up to `threads` texts are encoded at once, each on one core.
    """

    name: Final = "all-MiniLM-L6-v2-int8"
    dimensions: Final = 384

    def __init__(self, *, threads: int = 1) -> None:
        self._tokenizer = load_tokenizer()
        self._session = open_session("encoder.onnx")
        self._threads = threads
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="embedder")

    def close(self) -> None:
        """Wait for the texts under way and end the threads.

        After that `encode` raises RuntimeError.
        """
        self._executor.shutdown()

    async def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        indices = iter(range(len(texts)))
        fillers = [self._fill_vectors(vectors, texts, indices) for _ in range(self._threads)]
        await asyncio.gather(*fillers)
        return vectors

    async def _fill_vectors(
        self, vectors: NDArray[np.float32], texts: Sequence[str], indices: Iterator[int]
    ) -> None:
        # Each caller queues one text per thread at a time, so that a single sentence never waits
        # for all texts of another caller. The extra hops to the threads cost 6 % of throughput.
        loop = asyncio.get_running_loop()
        for index in indices:
            vectors[index] = await loop.run_in_executor(
                self._executor, self._encode_text, texts[index]
            )

    def _encode_text(self, text: str) -> NDArray[np.float32]:
        encodable = text.encode("utf-8", "replace").decode("utf-8")
        tokens = self._tokenizer.encode(encodable, add_special_tokens=False).ids
        window_count = max(1, ceil(len(tokens) / WINDOW_TOKENS))
        windows = np.array_split(np.array(tokens, np.int64), window_count)
        rows = np.concatenate([self._encode_window(window) for window in windows])
        total: NDArray[np.float32] = rows.sum(axis=0)
        return total / np.linalg.norm(total)

    def _encode_window(self, tokens: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vector as one row: (1, dimensions)."""
        ids = np.concatenate(([START_TOKEN], tokens, [END_TOKEN]))
        row: NDArray[np.float32] = self._session.run(["vectors"], {"ids": ids[np.newaxis]})[0]
        return row
