"""Making the vectors by which messages are found by their meaning."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.agent import AgentId
from app.embedding import Embedder, Vector
from app.services.background_tasks import BackgroundTasks
from app.store.captures.vectors import (
    UnembeddedTurn,
    list_unembedded_turns,
    store_turn_vectors,
)
from app.store.engine import begin_as_operator, begin_for_agent

logger = logging.getLogger(__name__)

LOOK_EVERY = 1.0  # seconds
# Seconds after which the encoder is tried again.
RETRY_AFTER = 30.0
# Messages that get their vectors at a time. New ones wait no longer than these take.
AT_ONCE = 16


class TurnEmbedder:
    """Gives messages their vectors, the newest of all agents first. If it is not `on`, none."""

    def __init__(self, engine: AsyncEngine, embedder: Embedder, *, is_on: bool) -> None:
        self._engine = engine
        self._embedder = embedder
        self._is_on = is_on

    @asynccontextmanager
    async def embed_in_background(self) -> AsyncIterator[None]:
        """Make the vectors that are missing during the block."""
        async with BackgroundTasks[str]().work_beside(self._keep_embedding()):
            yield

    async def embed_waiting(self) -> None:
        """Make all vectors that are missing. Raises EmbedderUnavailable."""
        while self._is_on and (turns := await self._list_waiting()):
            vectors = await self._embedder.encode([turn.text for turn in turns])
            by_agent: defaultdict[AgentId, list[tuple[UnembeddedTurn, Vector]]] = defaultdict(list)
            for turn, vector in zip(turns, vectors, strict=True):
                by_agent[turn.agent].append((turn, vector))
            for agent, pairs in by_agent.items():
                made_of, made = zip(*pairs, strict=True)
                async with begin_for_agent(self._engine, agent) as connection:
                    await store_turn_vectors(connection, agent, self._embedder.name, made_of, made)

    async def _list_waiting(self) -> list[UnembeddedTurn]:
        async with begin_as_operator(self._engine) as connection:
            return await list_unembedded_turns(connection, self._embedder.name, limit=AT_ONCE)

    async def _keep_embedding(self) -> None:
        while True:
            pause = LOOK_EVERY
            try:
                await self.embed_waiting()
            except Exception as problem:
                logger.warning("The vectors of messages: %s", type(problem).__name__)
                pause = RETRY_AFTER
            await asyncio.sleep(pause)
