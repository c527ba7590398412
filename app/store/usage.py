"""Writing down what was used: counters that touch no belief, no revision, and not the agent's lock."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.store.engine import fetch_rows

# A write that confirms the same memories holds their counters in another order. It must not wait for this one until Postgres
# calls it a deadlock (after a second) and ends either of the two: this one gives way.
_GIVE_WAY = "SET LOCAL lock_timeout = '100ms'"

# Of all uses within a minute of the clock one counts. What is not a memory of this agent, or was erased meanwhile, is left out.
_COUNT = """
    INSERT INTO memory_usage (agent_id, memory_id, access_count, use_count, last_accessed_at)
    SELECT m.agent_id, m.id, 0, 1, used.at
    FROM unnest(CAST(:ids AS uuid[]), CAST(:times AS timestamptz[])) AS used (id, at)
    JOIN memories m ON m.agent_id = :agent AND m.id = used.id AND m.erased_at IS NULL
    ORDER BY m.id
    ON CONFLICT (agent_id, memory_id) DO UPDATE SET
        use_count = memory_usage.use_count + CASE
            WHEN date_trunc('minute', excluded.last_accessed_at) <= date_trunc('minute', memory_usage.last_accessed_at) THEN 0 ELSE 1 END,
        last_accessed_at = greatest(memory_usage.last_accessed_at, excluded.last_accessed_at)
"""


async def count_uses(
    connection: AsyncConnection, agent: AgentId, used: Mapping[UUID, datetime]
) -> None:
    """Counts these memories as used, each at that time. Raises psycopg's LockNotAvailable where a write holds their counters."""
    await fetch_rows(connection, _GIVE_WAY, {})
    await fetch_rows(
        connection, _COUNT, {"agent": agent, "ids": list(used), "times": list(used.values())}
    )
