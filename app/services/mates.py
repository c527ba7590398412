"""What the facts of one batch are to each other: each is compared with those that the batch stores before it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.domain.version import Memory
from app.store.search import Hit

NEAR_IN_BATCH = 5


class BatchNeighbours:
    """The facts of a batch, as the memories that they will be if they are inserted, in order."""

    def __init__(self) -> None:
        self._memories: list[Memory] = []
        self._vectors: list[NDArray[np.float32]] = []

    def add_and_compare(
        self, memories: Sequence[Memory], vectors: Sequence[NDArray[np.float32]]
    ) -> list[list[Hit]]:
        """Takes the next ones in. For each, the nearest few of those before it, nearest first."""
        known = len(self._memories)
        self._memories += memories
        self._vectors += vectors
        similar = np.stack(vectors) @ np.stack(self._vectors).T
        return [self._find_nearest(row[:place]) for place, row in enumerate(similar, known)]

    def _find_nearest(self, similar: NDArray[np.float32]) -> list[Hit]:
        places = range(len(similar))
        few = (
            np.argpartition(-similar, NEAR_IN_BATCH)[:NEAR_IN_BATCH]
            if len(places) > NEAR_IN_BATCH
            else places
        )
        return [
            Hit(self._memories[i], 0.0, {"vector": float(similar[i])})
            for i in sorted(few, key=lambda i: (-similar[i], i))
        ]
