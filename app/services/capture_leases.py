"""Holding a capture: its runner says that it lives, and notes why it was cut off."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.agent import AgentId
from app.domain.errors import AnswerErased, CallerLeft, KeyReused, Unavailable
from app.services.background_tasks import renew_in_background
from app.services.idempotency import Replayed
from app.store.captures import runs
from app.store.engine import begin_for_agent

logger = logging.getLogger(__name__)

# The call was executed meanwhile under the same key, and its caller gets that answer.
ANSWERED_BEFORE = (Replayed, AnswerErased, KeyReused)


class TakenOver(Exception):
    """Another runner has the capture, or messages were erased. This runner writes no more."""


@asynccontextmanager
async def hold_lease(
    engine: AsyncEngine, agent: AgentId, capture_id: UUID, runner: UUID
) -> AsyncIterator[None]:
    """Renew the lease of a capture during the block, and note why the block failed."""

    async def renew() -> None:
        try:
            async with begin_for_agent(engine, agent) as connection:
                await runs.renew_lease(connection, agent, capture_id, runner)
        except Exception as problem:
            # The next renewal may come through in time.
            kind = type(problem).__name__
            logger.warning("The runner of a capture could not say that it lives: %s", kind)

    async with renew_in_background(renew, runs.LEASE.total_seconds() / 3):
        try:
            yield
        except (TakenOver, *ANSWERED_BEFORE):
            raise
        except Exception as problem:
            await _record_problem(engine, agent, capture_id, runner, problem)
            raise


async def _record_problem(
    engine: AsyncEngine, agent: AgentId, capture_id: UUID, runner: UUID, problem: Exception
) -> None:
    """Note on a capture why it was cut off. Trouble that passes is no failure of the capture.

    If the database cannot be written either, the lease of the runner runs out.
    """
    kind = type(problem).__name__
    logger.warning("A capture was cut off: %s", kind)
    passes = isinstance(problem, Unavailable | CallerLeft)
    record = runs.record_trouble if passes else runs.record_failure
    try:
        async with begin_for_agent(engine, agent) as connection:
            await record(connection, agent, capture_id, runner, kind)
    except Exception as second:
        logger.warning("That could not be noted: %s", type(second).__name__)
