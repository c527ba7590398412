"""How many memories judges have ended of late."""

from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.store.engine import fetch_rows
from app.store.tables import CLOSES

# Count the memories that judges ended from a known time on.
_COUNT = f"""
    SELECT coalesce(sum(cardinality(source_memory_ids)), 0) AS closures
    FROM consolidation_log
    WHERE agent_id = :agent AND created_at > :since AND {CLOSES}
"""


async def count_closures(connection: AsyncConnection, agent: AgentId, since: datetime) -> int:
    """Return how many memories judges ended after this known time, by `Plan.closures`."""
    [row] = await fetch_rows(connection, _COUNT, {"agent": agent, "since": since})
    return int(row["closures"])
