"""Which memories belong to a session or a project, and which of them go on."""

from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.planning.lifespans import NamedLifespan
from app.store.engine import fetch_rows

# Those that hold at a moment or later.
_GOING_ON = """
    FROM memories WHERE agent_id = :agent AND {named_by} = :name AND erased_at IS NULL AND NOT void
    AND (valid_until IS NULL OR valid_until > greatest(:at, valid_from))
"""


async def list_ids_to_end(
    connection: AsyncConnection, agent: AgentId, span: NamedLifespan, *, at: datetime
) -> list[UUID]:
    """The memories that live as long as the span and hold at that moment or later; those of one chain stand together."""
    going_on = _GOING_ON.format(named_by=span.lifespan.named_by)
    statement = f"SELECT id {going_on} AND lifespan = :lifespan ORDER BY chain_id, created_at, id"
    rows = await fetch_rows(
        connection,
        statement,
        {"agent": agent, "name": span.name, "lifespan": span.lifespan, "at": at},
    )
    return [row["id"] for row in rows]


async def count_going_on(
    connection: AsyncConnection, agent: AgentId, span: NamedLifespan, *, at: datetime
) -> int:
    """How many memories of the span hold at that moment or later, whatever their lifespan."""
    statement = f"SELECT count(*) AS kept {_GOING_ON.format(named_by=span.lifespan.named_by)}"
    [row] = await fetch_rows(connection, statement, {"agent": agent, "name": span.name, "at": at})
    kept: int = row["kept"]
    return kept
