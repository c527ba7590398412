"""An encoder that is loaded when the first text comes: most of what a worker does needs none."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack

import numpy as np
from numpy.typing import NDArray

from app.embedding import Embedder
from app.embedding.choice import encoder_of, open_embedder
from app.settings import Settings


class DeferredEmbedder:
    """An `Embedder` (see there) in the place of that of the settings. Closed with the stack that it is given."""

    def __init__(self, settings: Settings, opened: AsyncExitStack) -> None:
        self.name, self.dimensions = encoder_of(settings)
        self._settings = settings
        self._opened = opened
        self._opening = asyncio.Lock()
        self._inner: Embedder | None = None

    async def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return await (await self._load_embedder()).encode(texts)

    async def _load_embedder(self) -> Embedder:
        async with self._opening:
            if self._inner is None:
                self._inner = await self._opened.enter_async_context(open_embedder(self._settings))
        return self._inner
