"""Record which memories were used, and how often questions were shown.

The counters touch neither a belief nor a revision, and nobody takes the agent's lock for them.
"""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.store.engine import fetch_rows, set_on_every_node

# A write that confirms the same memories locks their counters in another order. It must not wait
# for this transaction until Postgres sees a deadlock (after a second) and ends one of the two. So
# this transaction gives way.
_GIVE_WAY_AFTER = "100ms"


def _to_minute(time: str) -> str:
    """Return the expression of the minute of a time. Unlike date_trunc it needs no time zone."""
    return f"date_bin('1 minute', {time}, timestamptz '2000-01-01 00:00:00+00')"


# Count uses. Of all uses of a memory within a minute of the clock one counts. An id that is not of
# this agent, or whose memory was erased meanwhile, is left out.
_COUNT = f"""
    INSERT INTO memory_usage (agent_id, memory_id, access_count, use_count, last_accessed_at)
    SELECT m.agent_id, m.id, 0, 1, used.at
    FROM unnest(CAST(:ids AS uuid[]), CAST(:times AS timestamptz[])) AS used (id, at)
    JOIN memories m ON m.agent_id = :agent AND m.id = used.id AND m.erased_at IS NULL
    ORDER BY m.id
    ON CONFLICT (agent_id, memory_id) DO UPDATE SET
        use_count = memory_usage.use_count + CASE
            WHEN {_to_minute("excluded.last_accessed_at")}
                <= {_to_minute("memory_usage.last_accessed_at")} THEN 0
            ELSE 1
        END,
        last_accessed_at = greatest(memory_usage.last_accessed_at, excluded.last_accessed_at)
"""


async def count_uses(
    connection: AsyncConnection, agent: AgentId, used: Mapping[UUID, datetime]
) -> None:
    """Count these memories as used, each at its time.

    Raise psycopg's LockNotAvailable if a write has their counters locked.
    """
    await set_on_every_node(connection, "lock_timeout", _GIVE_WAY_AFTER)
    values = {"agent": agent, "ids": list(used), "times": list(used.values())}
    await fetch_rows(connection, _COUNT, values)


# Count how often contexts showed reviews.
_COUNT_SHOWN = """
    UPDATE reviews r SET shown = r.shown + counted.times
    FROM unnest(CAST(:ids AS uuid[]), CAST(:times AS integer[])) AS counted (id, times)
    WHERE r.agent_id = :agent AND r.id = counted.id
"""


async def count_shown(
    connection: AsyncConnection, agent: AgentId, shown: Mapping[UUID, int]
) -> None:
    """Add to how often these reviews were shown.

    Raise psycopg's LockNotAvailable if a write decides one of them.
    """
    await set_on_every_node(connection, "lock_timeout", _GIVE_WAY_AFTER)
    values = {"agent": agent, "ids": list(shown), "times": list(shown.values())}
    await fetch_rows(connection, _COUNT_SHOWN, values)
