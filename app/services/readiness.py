"""Whether the database can serve: asked by probes, once at a time, and never for long."""

import asyncio

from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.errors import DatabaseReadOnly, DatabaseSilent
from app.store.engine import begin_as_operator, is_read_only
from app.store.ranking import check_encoder

PATIENCE = 2.0  # seconds


class Readiness:
    """Asks the database. A question that it has not answered yet stands for the next one too."""

    def __init__(self, engine: AsyncEngine, encoder: str) -> None:
        self._engine = engine
        self._encoder = encoder
        self._question: asyncio.Task[None] | None = None

    async def check(self) -> None:
        """Raise DatabaseSilent, DatabaseReadOnly, EmbeddingsChanged, or what the driver raises."""
        if self._question is None or self._question.done():
            self._question = asyncio.create_task(self._ask())
            self._question.add_done_callback(_note_outcome)
        answered, _ = await asyncio.wait([self._question], timeout=PATIENCE)
        if not answered:
            raise DatabaseSilent(PATIENCE)
        self._question.result()

    async def _ask(self) -> None:
        async with begin_as_operator(self._engine) as connection:
            await check_encoder(connection, self._encoder)
            if not await is_read_only(connection):
                return
        # Sessions keep what they were told at their start: new ones learn when writes are taken.
        await self._engine.dispose()
        raise DatabaseReadOnly


def _note_outcome(question: asyncio.Task[None]) -> None:
    """Look at the outcome, so that asyncio does not report one that nobody waits for any more."""
    if not question.cancelled():
        question.exception()
