"""An encoder that is loaded with the first text: most of the work of a worker needs none."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack

import numpy as np
from numpy.typing import NDArray

from app.embedding import Embedder
from app.embedding.choice import encoder_of, open_embedder
from app.networks import FairThreads
from app.settings import Settings


class DeferredEmbedder:
    """An `Embedder` that opens the one of the settings on first use. `opened` closes it."""

    def __init__(self, settings: Settings, threads: FairThreads, opened: AsyncExitStack) -> None:
        self.name, self.dimensions = encoder_of(settings)
        self._settings = settings
        self._threads = threads
        self._opened = opened
        self._opening = asyncio.Lock()
        self._inner: Embedder | None = None

    async def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        async with self._opening:
            if self._inner is None:
                opening = open_embedder(self._settings, self._threads)
                self._inner = await self._opened.enter_async_context(opening)
        return await self._inner.encode(texts)
