"""How many memories judges have ended of late, how many were stored, and how many are live."""

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

# Count the memories that became known from a known time on.
_COUNT_STORED = """
    SELECT count(*) AS stored FROM memories WHERE agent_id = :agent AND created_at > :since
"""

# Count the memories that hold or will, up to a number.
_COUNT_LIVE = """
    SELECT count(*) AS live FROM (
        SELECT FROM memories
        WHERE agent_id = :agent AND NOT cold
          AND (valid_until IS NULL OR valid_until > clock_timestamp())
        LIMIT :most
    ) AS live
"""

_SET_COUNTED_FROM = "UPDATE agents SET closures_counted_from = :since WHERE agent_id = :agent"


async def count_closures(connection: AsyncConnection, agent: AgentId, since: datetime) -> int:
    """Return how many memories judges ended after this known time, by `Plan.closures`."""
    [row] = await fetch_rows(connection, _COUNT, {"agent": agent, "since": since})
    return int(row["closures"])


async def count_stored(connection: AsyncConnection, agent: AgentId, since: datetime) -> int:
    """Return how many memories were stored after this known time."""
    [row] = await fetch_rows(connection, _COUNT_STORED, {"agent": agent, "since": since})
    return int(row["stored"])


async def count_live(connection: AsyncConnection, agent: AgentId, *, most: int) -> int:
    """Return how many memories hold or will, at most `most`."""
    [row] = await fetch_rows(connection, _COUNT_LIVE, {"agent": agent, "most": most})
    return int(row["live"])


async def count_closures_from(connection: AsyncConnection, agent: AgentId, since: datetime) -> None:
    """Let the closures up to this known time count for nothing from now on."""
    await fetch_rows(connection, _SET_COUNTED_FROM, {"agent": agent, "since": since})
