"""Changing the model of all vectors: make the new ones beside the old, a few at a time; then exchange them in one short step."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.errors import EmbedderUnavailable, PalimpsestError
from app.embedding import Embedder
from app.store import reads, reembedding
from app.store.reembedding import START, CannotChange, Waiting

CHUNK = 256  # memories per transaction, and the most that a killed run loses
FEW = 64  # so many may be left for the last step, in which writers wait
WRITERS_WAIT = 5.0  # seconds, at most
ATTEMPTS = 30
PAUSE = 1.0  # seconds between attempts

Report = Callable[[int, int], None]


class ReembedStopped(PalimpsestError):
    """The encoder failed on the way. What was done is kept."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason} What is done is kept, and everything still works with the old model: run `palimpsest reembed` again.")


class Reembed:
    """Gives a database the vectors of another model. Whoever reads and writes it meanwhile keeps the old one until the last moment."""

    def __init__(self, engine: AsyncEngine, embedder: Embedder) -> None:
        self._engine = engine
        self._embedder = embedder

    async def run(self, report: Report) -> bool:
        """Does what is still to do and tells how many of how many memories it has done. False where nothing was to do.

        A run that was killed is gone on with. Raises ReembedStopped and CannotChange.
        """
        async with reembedding.alone(self._engine):
            if not await self._begin():
                return False
            await reembedding.index_waiting(self._engine)
            try:
                await self._make_and_exchange(report)
            except EmbedderUnavailable as problem:
                raise ReembedStopped(problem.reason) from None
            await reembedding.tidy(self._engine)
        return True

    async def _begin(self) -> bool:
        async def begin() -> bool:
            async with reembedding.briefly_locking(self._engine) as connection:
                return await reembedding.begin(connection, self._embedder.name, self._embedder.dimensions)

        return await _patiently(begin)

    async def _make_and_exchange(self, report: Report) -> None:
        async with reads.reading(self._engine) as connection:
            total = await reembedding.count_waiting(connection)
        done = 0
        report(done, total)
        while True:
            async for made in self._make():
                done += made
                report(done, max(done, total))
            if await _patiently(self._exchange):
                return

    async def _make(self) -> AsyncIterator[int]:
        """One pass over those that wait; yields how many of them are done now."""
        after = START
        while waiting := await self._waiting(after):
            vectors = await self._encode(waiting)
            async with self._engine.begin() as connection:
                await reembedding.fill(connection, waiting, vectors)
            after = waiting[-1]
            yield len(waiting)

    async def _waiting(self, after: Waiting) -> list[Waiting]:
        async with reads.reading(self._engine) as connection:
            return await reembedding.find_waiting(connection, after, CHUNK)

    async def _encode(self, waiting: Sequence[Waiting]) -> NDArray[np.float32]:
        return await self._embedder.encode([memory.content for memory in waiting])

    async def _exchange(self) -> bool:
        """The last step: writers wait while what they wrote since the last pass is encoded. False where that was too much."""
        try:
            async with asyncio.timeout(WRITERS_WAIT), reembedding.briefly_locking(self._engine) as connection:
                await reembedding.keep_writers_out(connection)
                waiting = await reembedding.find_waiting(connection, START, FEW + 1)
                if len(waiting) > FEW:
                    return False
                if waiting:
                    await reembedding.fill(connection, waiting, await self._encode(waiting))
                await reembedding.exchange(connection)
        except TimeoutError:
            return False
        return True


async def _patiently(step: Callable[[], Awaitable[bool]]) -> bool:
    """The step's answer, tried again for a while where the tables were not to be had. Raises CannotChange after that."""
    for _ in range(ATTEMPTS - 1):
        try:
            return await step()
        except CannotChange:
            await asyncio.sleep(PAUSE)
    return await step()
