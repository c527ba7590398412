"""The network of the local judge, fine-tuned on the corpus, with 8-bit weights.

It is all-MiniLM-L6-v2, or the lower layers of multilingual-e5-small for many languages. It reads a
crowd: an incoming text and the stored ones that it may concern, in one pass. Each stored text sees
itself and the incoming one, which sees all of them, so that their order is of no matter.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from app.classification.local.reading import Reading
from app.networks import ENGLISH, FairThreads, NetworkSet, make_encodable, weigh_logits

# Of each text. A fact is shorter; of a longer text the beginning is read.
MAX_TOKENS: Final = 96
# Of the stored texts that are read in one pass.
MAX_CROWD_TOKENS: Final = 400
WEIGHTS: Final = "judge.onnx"
# A crowd takes .6 of the time on two threads, and no more work in all. Short texts gain little.
THREADS: Final = 2
# Is added to the attention to a token that is not seen.
UNSEEN: Final = -10_000.0
# The block of the incoming text. Each stored text is a block with its number from 1.
SHARED: Final = 0

Tokens = list[int]
Pass = Callable[[], list[Reading]]


class LocalNetwork:
    """Reads crowds of texts on threads that agents share fairly."""

    def __init__(self, threads: FairThreads, networks: NetworkSet = ENGLISH) -> None:
        self._tokenizer = networks.load_tokenizer()
        self._session = networks.open_session(WEIGHTS, threads=min(THREADS, threads.count))
        self._networks = networks
        self._threads = threads

    def is_english(self, text: str) -> bool:
        """Return True if the text is likelier English than another language."""
        return self._networks.is_english(text)

    async def read(self, stored: Sequence[str], incoming: str) -> list[Reading]:
        """Return what is read of the incoming text beside each of the stored ones, in order.

        Stored texts that are too long for one pass are read in several. Raises CallerLeft.
        """
        if not stored:
            return []
        readings, later = await self._threads.run(partial(self._read_first, stored, incoming))
        for others in await asyncio.gather(*map(self._threads.run, later)):
            readings += others
        return readings

    def _read_first(self, stored: Sequence[str], incoming: str) -> tuple[list[Reading], list[Pass]]:
        """Return what the first pass reads, and the passes that are left: mostly none."""
        texts = [incoming, *stored]
        if self._networks is not ENGLISH:
            texts = list(map(end_text, texts))
        encodable = list(map(make_encodable, texts))
        encoded = self._tokenizer.encode_batch(encodable, add_special_tokens=False)
        [tokens, *others] = [each.ids[:MAX_TOKENS] for each in encoded]
        first, *later = (partial(self._read_crowd, each, tokens) for each in split_crowd(others))
        return first(), list(later)

    def _read_crowd(self, stored: Sequence[Tokens], incoming: Tokens) -> list[Reading]:
        inputs = build_inputs(self._networks, stored, incoming)
        [logits] = self._session.run(["logits"], inputs)
        return [Reading(*row) for row in weigh_logits(logits).tolist()]


def end_text(text: str) -> str:
    """Return the text with a full stop, unless it ends with a mark.

    The network of many languages learned from texts with marks, and reads others less surely.
    """
    stripped = text.rstrip()
    is_marked = not stripped or category(stripped[-1]).startswith("P")
    return text if is_marked else f"{stripped}."


def split_crowd(stored: Sequence[Tokens]) -> Iterator[Sequence[Tokens]]:
    """Yield the stored texts in order, as many at once as one pass takes."""
    start, total = 0, 0
    for place, tokens in enumerate(stored):
        if total + len(tokens) > MAX_CROWD_TOKENS:
            yield stored[start:place]
            start, total = place, 0
        total += len(tokens)
    if stored:
        yield stored[start:]


def build_inputs(
    networks: NetworkSet, stored: Sequence[Tokens], incoming: Tokens
) -> dict[str, NDArray[np.generic]]:
    """Return what the graph takes for at least one stored text (training/export_network.py)."""
    ids: list[int] = []
    places: list[int] = []
    blocks: list[int] = []
    starts: list[int] = []
    for block, tokens in enumerate(stored, SHARED + 1):
        starts.append(len(ids))
        ids += [networks.start, *tokens, networks.end]
        places += range(len(tokens) + 2)
        blocks += [block] * (len(tokens) + 2)
    types = [0] * len(ids) + [1] * (len(incoming) + 1)
    ids += [*incoming, networks.end]
    first = max(places) + 1
    places += range(first, first + len(incoming) + 1)
    blocks += [SHARED] * (len(incoming) + 1)
    reader, read = np.array(blocks)[:, None], np.array(blocks)[None, :]
    is_seen = (reader == SHARED) | (read == SHARED) | (reader == read)
    mask = np.where(is_seen, np.float32(0), np.float32(UNSEEN))
    return {
        "ids": np.array([ids]),
        "types": np.array([types]),
        "places": np.array([places]),
        "mask": mask[np.newaxis, np.newaxis],
        "pool": _build_pool(np.array(blocks), starts),
    }


def _build_pool(blocks: NDArray[np.int64], starts: Sequence[int]) -> NDArray[np.float32]:
    """Return the weights of the tokens of each stored text: (texts, tokens)."""
    numbers = np.arange(SHARED + 1, SHARED + 1 + len(starts))
    is_seen = (blocks == numbers[:, None]) | (blocks == SHARED)
    pool: NDArray[np.float32] = is_seen.astype(np.float32)
    pool /= 2 * pool.sum(axis=1, keepdims=True)
    pool[np.arange(len(starts)), starts] += 0.5
    return pool
