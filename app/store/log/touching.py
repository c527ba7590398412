"""Find the operations of the log that touched some memories."""

from collections.abc import Collection
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.store.engine import fetch_rows, get_driver, is_on_cluster

# The database's own function has an index that row-level security would keep a plain condition
# from. It stands alone in its statement, as every function that reads the log.
_FIND = "SELECT operations_on(CAST(:ids AS uuid[])) AS id"

# On a cluster a plain condition it is. The function reads in another role, and so over another
# connection to the node, which would not see what this transaction wrote.
_FIND_ON_CLUSTER = """
    SELECT id FROM consolidation_log
    WHERE agent_id = :agent
      AND (
          target_memory_id = ANY(CAST(:ids AS uuid[]))
          OR source_memory_ids && CAST(:ids AS uuid[])
      )
"""


async def find_operations_touching(
    connection: AsyncConnection, agent: AgentId, ids: Collection[UUID]
) -> list[UUID]:
    """Return the operations on these memories of the agent, which the connection serves."""
    if is_on_cluster(get_driver(connection)):
        values = {"agent": agent, "ids": list(ids)}
        rows = await fetch_rows(connection, _FIND_ON_CLUSTER, values)
    else:
        rows = await fetch_rows(connection, _FIND, {"ids": list(ids)})
    return [row["id"] for row in rows]
