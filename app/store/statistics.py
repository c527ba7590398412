"""Refresh the statistics from which Postgres' planner estimates."""

import logging

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.store.engine import begin_as_operator, fetch_rows, get_driver, is_on_cluster

logger = logging.getLogger(__name__)

# Autovacuum notices fewer new rows than this soon enough.
MANY = 1_000

# Refresh the statistics of the tables of memories, as the owner of the tables.
_REFRESH = "SELECT refresh_statistics()"


async def analyze_tables(engine: AsyncEngine, *, came: int) -> None:
    """Refresh the statistics after `came` rows came into the tables at once.

    Until autovacuum comes round, the planner would take the tables for all but empty, and compare
    every row with every other. The rows are stored already, so a failure is only logged.
    """
    if came < MANY:
        return
    try:
        async with begin_as_operator(engine) as connection:
            await connection.execute(sa.text(_REFRESH))
    except SQLAlchemyError as problem:
        logger.warning("The tables' statistics were not refreshed: %s", type(problem).__name__)


# Make the statistics of texts anew, as the owner of the tables.
_REFRESH_TEXTS = "SELECT refresh_text_statistics()"


async def refresh_text_statistics(connection: AsyncConnection) -> None:
    """Replace the statistics of texts by those of the rows as this transaction leaves them.

    Statistics hold values of columns, so without this the erased ones stay there. The transaction
    then keeps other erasures and autovacuum waiting until it ends. On a cluster, statistics lie on
    the nodes, where autovacuum replaces them.
    """
    if not is_on_cluster(get_driver(connection)):
        await fetch_rows(connection, _REFRESH_TEXTS, {})
