"""What the planner knows of the tables."""

import logging

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

logger = logging.getLogger(__name__)

MANY = 1_000  # rows; of fewer, autovacuum hears soon enough

# A table that somebody else works on is left to autovacuum.
_ANALYZE = "ANALYZE (SKIP_LOCKED) memories, memory_beliefs, memory_usage, memory_relationships, consolidation_log, reviews"


async def analyze_tables(engine: AsyncEngine, *, came: int) -> None:
    """Has the tables looked at after `came` rows came into them at once: until autovacuum comes round, the planner would take them for
    all but empty, and compare every row with every other. What came is stored already, so trouble here is only logged."""
    if came < MANY:
        return
    try:
        async with engine.begin() as connection:
            await connection.execute(sa.text(_ANALYZE))
    except SQLAlchemyError as problem:
        logger.warning("The tables' statistics were not refreshed: %s", type(problem).__name__)
