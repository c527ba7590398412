"""Sentence vectors for choosing neighbours: those of the service's own encoder."""

import asyncio
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.embedding.local import LocalEmbedder
from app.networks import FairThreads


class SentenceEncoder:
    """Encodes each text once."""

    def __init__(self, embedder: LocalEmbedder | None = None) -> None:
        self._embedder = embedder or LocalEmbedder(FairThreads(2))
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text, of unit length."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            vectors = asyncio.run(self._embedder.encode(new))
            self._vectors.update(zip(new, vectors, strict=True))
        return np.stack([self._vectors[text] for text in texts])
