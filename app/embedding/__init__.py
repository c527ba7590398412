"""Vectors of sentences. `local` makes them without a network, `remote` asks a server."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

# The embedding of one text.
Vector = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors whose dot product is their cosine similarity, from -1 to 1.

    Vectors of two embedders must never be compared, so `name` is stored with the vectors. The
    name changes whenever the vectors would change.
    """

    @property
    def name(self) -> str:
        """Model and quantisation, for example `all-MiniLM-L6-v2-memory1`."""

    @property
    def dimensions(self) -> int:
        """Numbers in each vector."""

    async def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row of unit length per text, in their order: (len(texts), dimensions)."""
