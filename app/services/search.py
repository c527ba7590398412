"""Finding memories by meaning and words: encode the query, then one read."""

from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.agent import AgentId
from app.embedding import Embedder
from app.store import memories, search
from app.store.columns import Filters
from app.store.memories import Point
from app.store.search import Hits, Query


class Searcher:
    """Searches. No connection is held while the encoder runs."""

    def __init__(self, engine: AsyncEngine, embedder: Embedder, *, language: str) -> None:
        self._engine = engine
        self._embedder = embedder
        self._language = language

    async def search(
        self,
        agent: AgentId,
        text: str,
        *,
        mode: str,
        limit: int,
        min_score: float | None,
        filters: Filters,
        point: Point,
    ) -> Hits:
        """The nearest memories, best first."""
        vector = None if mode == "text" else (await self._embedder.encode([text]))[0]
        query = Query(
            text,
            vector,
            self._embedder.name,
            mode,
            self._language,
            limit,
            search.ANY_SCORE if min_score is None else min_score,
        )
        async with memories.open_read_connection(self._engine) as connection:
            return await search.search_memories(connection, agent, query, filters, point)
