"""The encoder inside the package: all-MiniLM-L6-v2 with 8-bit weights, on the CPU, without a network.

Texts run through the model one at a time. Batches of equal length were measured a tenth faster, but a vector's last bits depended on its
neighbours; alone, a text has the same vector, bit for bit, whatever it is encoded with.
"""

import asyncio
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import ceil
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

# onnxruntime reports its use to its maker unless told not to before it is loaded.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

from onnxruntime import GraphOptimizationLevel, InferenceSession, SessionOptions
from tokenizers import Tokenizer

MODEL_FOLDER: Final = Path(__file__).parent / "model"
START_TOKEN: Final = 101  # [CLS]
END_TOKEN: Final = 102  # [SEP]
WINDOW_TOKENS: Final = 254  # the model was trained on 256, start and end included


class LocalEmbedder:
    """An `Embedder` (see there) on threads of its own, so that the event loop stays free.

    A text longer than the model's window is cut into windows of nearly equal length; its vector is the normalised mean of theirs. Lone
    surrogates, which no encoding can carry, count as question marks. Up to `threads` texts are encoded at once, each on one core.
    """

    name: Final = "all-MiniLM-L6-v2-int8"
    dimensions: Final = 384

    def __init__(self, *, threads: int = 1) -> None:
        self._tokenizer: Tokenizer = Tokenizer.from_file(str(MODEL_FOLDER / "tokenizer.json"))
        self._session = _open_session()
        self._threads = threads
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="embedder")

    def close(self) -> None:
        """Waits for the texts being encoded and ends the threads; `encode` raises RuntimeError from then on."""
        self._executor.shutdown()

    async def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        indices = iter(range(len(texts)))
        await asyncio.gather(
            *(self._fill_vectors(vectors, texts, indices) for _ in range(self._threads))
        )
        return vectors

    async def _fill_vectors(
        self, vectors: NDArray[np.float32], texts: Sequence[str], indices: Iterator[int]
    ) -> None:
        # Each caller queues one text per thread at a time, so a single sentence never waits for all of another's texts. The extra hops
        # to the threads cost 6 % of the throughput.
        loop = asyncio.get_running_loop()
        for index in indices:
            vectors[index] = await loop.run_in_executor(
                self._executor, self._encode_text, texts[index]
            )

    def _encode_text(self, text: str) -> NDArray[np.float32]:
        encodable = text.encode("utf-8", "replace").decode("utf-8")
        tokens = self._tokenizer.encode(encodable, add_special_tokens=False).ids
        windows = np.array_split(np.array(tokens, np.int64), ceil(len(tokens) / WINDOW_TOKENS) or 1)
        total: NDArray[np.float32] = np.concatenate(
            [self._encode_window(window) for window in windows]
        ).sum(axis=0)
        return total / np.linalg.norm(total)

    def _encode_window(self, tokens: NDArray[np.int64]) -> NDArray[np.float32]:
        """The vector as one row, (1, dimensions)."""
        ids = np.concatenate(([START_TOKEN], tokens, [END_TOKEN]))
        row: NDArray[np.float32] = self._session.run(["vectors"], {"ids": ids[np.newaxis]})[0]
        return row


def _open_session() -> InferenceSession:
    """A session that runs on the calling thread."""
    options = SessionOptions()
    options.intra_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # two threads at once wait for the arena's lock: a fifth slower at least, for 10 MB less
    options.enable_mem_pattern = False  # a plan would be kept for every length of text
    options.graph_optimization_level = (
        GraphOptimizationLevel.ORT_DISABLE_ALL
    )  # the graph is exported in its fastest form
    return InferenceSession(
        MODEL_FOLDER / "encoder.onnx", options, providers=["CPUExecutionProvider"]
    )
