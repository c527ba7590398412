"""Find the operations of the log that touched some memories."""

from collections.abc import Collection
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.store.engine import fetch_rows

# The database's own function has an index that row-level security would keep a plain condition
# from. It stands alone in its statement: on a cluster, a function that reads the log cannot run on
# the node to which a statement about an agent goes.
_FIND = "SELECT operations_on(CAST(:ids AS uuid[])) AS id"


async def find_operations_touching(
    connection: AsyncConnection, ids: Collection[UUID]
) -> list[UUID]:
    """Return the operations on these memories, of the agent that the connection serves."""
    rows = await fetch_rows(connection, _FIND, {"ids": list(ids)})
    return [row["id"] for row in rows]
