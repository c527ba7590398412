"""Encoders on the CPU.

The one inside the package is all-MiniLM-L6-v2, which was taught memory (training/train_encoder.py),
with 8-bit weights. Its name changes when it is taught anew.

Texts run through the model one at a time. Batches of short texts of equal length are twice as fast,
but then the last bits of a vector depend on the other texts of its batch. Now a text always has the
same vector, bit for bit.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from app.networks import ENGLISH, FairThreads, make_encodable
from app.turns import rest

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

ENGLISH_ENCODER: Final = "all-MiniLM-L6-v2-memory1"
DIMENSIONS: Final = 384
WINDOW_TOKENS: Final = 254  # the model was trained on 256, start and end included
# The longest English texts have 16. In others, a text may have four times as many, and a sample of
# them has nearly the mean of all (docs/operate/embeddings.md).
MOST_WINDOWS: Final = 16
# The tokenizer keeps all other threads waiting, and takes about 3 ms for so many characters.
PIECE_CHARACTERS: Final = 2_000
# Short texts are encoded one after the other in one step, so many of them or bytes at most. It
# takes about 5 ms. A step for each text cost a quarter of the throughput.
STEP_TEXTS: Final = 4
STEP_BYTES: Final = 128

# A piece ends before white space, where no word is cut in two, if there is any.
_PIECE: Final = re.compile(
    rf".{{1,{PIECE_CHARACTERS}}}(?=\s|\Z)|.{{1,{PIECE_CHARACTERS}}}", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class EncoderNetwork:
    """A network that makes vectors, its tokenizer, and the tokens that stand around each window."""

    name: str
    tokenizer: Tokenizer
    session: "InferenceSession"
    before: Sequence[int]
    after: Sequence[int]


def open_english_network() -> EncoderNetwork:
    """Return the network inside the package. It works on the calling thread.

    Raises DamagedNetwork.
    """
    session = ENGLISH.open_session("encoder.onnx")
    tokenizer = ENGLISH.load_tokenizer()
    return EncoderNetwork(ENGLISH_ENCODER, tokenizer, session, [ENGLISH.start], [ENGLISH.end])


class LocalEmbedder:
    """An `Embedder` on threads that agents share fairly. Without a `network` it reads English.

    A text longer than the model's window is cut into windows of nearly equal length, and its vector
    is the normalised mean of their vectors, or of `MOST_WINDOWS` of them at even distances. Lone
    surrogates, which no encoding can carry, count as question marks. Of one call, as many windows
    are encoded at once as there are threads for one agent.
    """

    dimensions: Final = DIMENSIONS

    def __init__(self, threads: FairThreads, network: EncoderNetwork | None = None) -> None:
        network = network or open_english_network()
        self.name = network.name
        self._network = network
        self._threads = threads

    async def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode as every embedder does. Raises CallerLeft."""
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        groups = group_texts(texts)
        fillers = [self._fill_vectors(vectors, texts, groups) for _ in range(self._threads.count)]
        await asyncio.gather(*fillers)
        return vectors

    async def _fill_vectors(
        self, vectors: NDArray[np.float32], texts: Sequence[str], groups: Iterator[range]
    ) -> None:
        # Each call queues one step per thread at a time, so that a single sentence never waits for
        # all texts of another call.
        for group in groups:
            await rest()
            if len(group) == 1:
                vectors[group.start] = await self._encode_text(texts[group.start])
            else:
                short_texts = texts[group.start : group.stop]
                encode = partial(self.encode_texts, short_texts)
                vectors[group.start : group.stop] = await self._threads.run(encode)

    def encode_texts(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return the vectors of the texts, encoded one after the other."""
        vectors: list[NDArray[np.float32]] = []
        for text in texts:
            windows = cut_windows(self.tokenize(make_encodable(text)))
            vectors.append(_average([self.encode_window(window) for window in windows]))
        return vectors

    async def _encode_text(self, text: str) -> NDArray[np.float32]:
        *pieces, last = split_pieces(text)
        tokens: list[int] = []
        for piece in pieces:
            tokens += await self._threads.run(partial(self.tokenize, piece))
        # Most texts have one piece and one window, so those are one step.
        row, others = await self._threads.run(partial(self._encode_beginning, tokens, last))
        rows = [row]
        for window in others:
            rows.append(await self._threads.run(partial(self.encode_window, window)))
        return _average(rows)

    def _encode_beginning(
        self, tokens: list[int], last_piece: str
    ) -> tuple[NDArray[np.float32], Sequence[NDArray[np.int64]]]:
        """Return the vector of the first window, and the windows that are left to encode."""
        first, *others = cut_windows(tokens + self.tokenize(last_piece))
        return self.encode_window(first), others

    def tokenize(self, piece: str) -> list[int]:
        """Return the numbers of the tokens, without those of a start and an end."""
        tokens: list[int] = self._network.tokenizer.encode(piece, add_special_tokens=False).ids
        return tokens

    def encode_window(self, tokens: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vector as one row: (1, dimensions)."""
        network = self._network
        ids = np.concatenate((network.before, tokens, network.after)).astype(np.int64)
        row: NDArray[np.float32] = network.session.run(["vectors"], {"ids": ids[np.newaxis]})[0]
        return row


def _average(rows: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the mean of the vectors of a text's windows, of unit length."""
    total: NDArray[np.float32] = np.concatenate(rows).sum(axis=0)
    return total / np.linalg.norm(total)


def split_pieces(text: str) -> list[str]:
    return _PIECE.findall(make_encodable(text)) or [""]


def group_texts(texts: Sequence[str]) -> Iterator[range]:
    """Yield the places of texts that are encoded in one step. A text that is not short is alone."""
    start, total = 0, 0
    for place, text in enumerate(texts):
        size = len(text.encode("utf-8", "replace"))
        total += size
        is_full = place - start == STEP_TEXTS or total > STEP_BYTES
        if is_full and place > start:
            yield range(start, place)
            start, total = place, size
    if start < len(texts):
        yield range(start, len(texts))


def cut_windows(tokens: Sequence[int], *, most: int = MOST_WINDOWS) -> Sequence[NDArray[np.int64]]:
    """Return windows of nearly equal length: all of them, or so many at even distances."""
    count = max(1, ceil(len(tokens) / WINDOW_TOKENS))
    windows = np.array_split(np.array(tokens, np.int64), count)
    if count <= most:
        return windows
    places = np.linspace(0, count - 1, most).round().astype(int)
    return [windows[place] for place in places]
