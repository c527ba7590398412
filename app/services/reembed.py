"""Changing the model of all vectors: make new ones, a few at a time, then exchange them at once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.agent import AgentId
from app.domain.errors import EmbedderUnavailable, PalimpsestError
from app.embedding import Embedder
from app.store import reembed
from app.store.captures.vectors import clear_turn_vectors
from app.store.engine import NO_AGENT, begin_as_operator, begin_as_owner, begin_for_agent
from app.store.reembed import START, CannotChange, UnembeddedMemory
from app.store.roles import Role

# Memories per transaction, and the most that a killed run loses.
CHUNK = 256
# Memories that may be left for the last step, in which writers wait.
FEW = 64
# Seconds that writers wait at most.
WRITERS_WAIT = 5.0
ATTEMPTS = 30
# Seconds between attempts.
PAUSE = 1.0

Report = Callable[[int, int], None]


class ReembedStopped(PalimpsestError):
    """The encoder failed on the way. The vectors made so far are kept."""

    def __init__(self, cause: EmbedderUnavailable) -> None:
        super().__init__(
            f"{cause.reason} What is done is kept, and everything still works with the old model."
        )
        self.cause = cause


class Reembedder:
    """Gives a database the vectors of another model.

    Readers and writers keep the old vectors until the last moment. Meanwhile,
    messages are found by their words alone.
    """

    def __init__(self, engine: AsyncEngine, embedder: Embedder) -> None:
        self._engine = engine
        self._embedder = embedder

    async def run(self, report: Report) -> bool:
        """Make all vectors that are missing, and report how many of how many are done.

        Return False if there was nothing to do. A run continues one that was killed.
        Raises ReembedStopped and CannotChange.
        """
        async with reembed.lock_reembedding(self._engine):
            if not await self._begin_change():
                return False
            await self._clear_turns()
            await reembed.build_unembedded_index(self._engine)
            try:
                await self._make_and_exchange(report)
            except EmbedderUnavailable as problem:
                raise ReembedStopped(problem) from None
            await reembed.vacuum_memories(self._engine)
        return True

    async def _begin_change(self) -> bool:
        async def begin_locked() -> bool:
            async with reembed.open_short_lock_transaction(self._engine) as connection:
                return await reembed.begin_reembedding(
                    connection,
                    self._embedder.name,
                    self._embedder.dimensions,
                )

        return await _retry_while_locked(begin_locked)

    async def _clear_turns(self) -> None:
        """Remove the vectors of messages. After the change, a worker makes new ones."""
        agents: Sequence[AgentId] = [START.agent]
        while agents:
            async with begin_as_operator(self._engine) as connection:
                agents = await reembed.list_agents(connection, agents[-1], CHUNK)
            for agent in agents:
                async with begin_for_agent(self._engine, agent) as connection:
                    await clear_turn_vectors(connection, agent)

    async def _make_and_exchange(self, report: Report) -> None:
        async with begin_as_operator(self._engine) as connection:
            total = await reembed.count_unembedded(connection)
        done = 0
        report(done, total)
        while True:
            async for made in self._make_vectors():
                done += made
                report(done, max(done, total))
            if await _retry_while_locked(self._exchange_vectors):
                return

    async def _make_vectors(self) -> AsyncIterator[int]:
        """Go once over the memories without a new vector, and yield how many got one."""
        after = START
        while waiting := await self._read_waiting(after):
            vectors = await self._encode_texts(waiting)
            async with begin_as_owner(self._engine) as connection:
                await reembed.store_next_vectors(connection, waiting, vectors)
            after = waiting[-1]
            yield len(waiting)

    async def _read_waiting(self, after: UnembeddedMemory) -> list[UnembeddedMemory]:
        async with begin_as_operator(self._engine) as connection:
            return await reembed.list_unembedded(connection, after, CHUNK)

    async def _encode_texts(self, waiting: Sequence[UnembeddedMemory]) -> NDArray[np.float32]:
        return await self._embedder.encode([memory.content for memory in waiting])

    async def _exchange_vectors(self) -> bool:
        """Exchange the vectors, while writers wait for what they wrote since the last pass.

        Return False if that was too much to encode in time.
        """
        try:
            async with (
                asyncio.timeout(WRITERS_WAIT),
                reembed.open_short_lock_transaction(self._engine) as connection,
            ):
                await reembed.keep_writers_out(connection)
                await reembed.take_role_or_stay_owner(connection, Role.OPERATOR, NO_AGENT)
                waiting = await reembed.list_unembedded(connection, START, FEW + 1)
                if len(waiting) > FEW:
                    return False
                if waiting:
                    await reembed.store_next_vectors(
                        connection,
                        waiting,
                        await self._encode_texts(waiting),
                    )
                await reembed.take_role_or_stay_owner(connection, None, NO_AGENT)
                await reembed.swap_vector_columns(connection)
        except TimeoutError:
            return False
        return True


async def _retry_while_locked(step: Callable[[], Awaitable[bool]]) -> bool:
    """Repeat the step while the tables are locked. Raises CannotChange if they stay locked."""
    for _ in range(ATTEMPTS - 1):
        try:
            return await step()
        except CannotChange:
            await asyncio.sleep(PAUSE)
    return await step()
