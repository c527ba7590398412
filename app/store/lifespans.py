"""Find the memories of a session or a project that go on."""

from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.planning.lifespans import NamedLifespan
from app.store.engine import fetch_rows


def _going_on_sql(span: NamedLifespan) -> str:
    """Return FROM and WHERE of the span's memories that hold at `:at` or later."""
    return f"""
        FROM memories
        WHERE agent_id = :agent
            AND {span.lifespan.named_by} = :name
            AND erased_at IS NULL
            AND NOT void
            AND (valid_until IS NULL OR valid_until > greatest(:at, valid_from))
    """


async def list_ids_to_end(
    connection: AsyncConnection, agent: AgentId, span: NamedLifespan, *, at: datetime
) -> list[UUID]:
    """Return the memories that live as long as the span and hold at that moment or later.

    The memories of one chain follow one another.
    """
    statement = f"""
        SELECT id
        {_going_on_sql(span)}
            AND lifespan = :lifespan
        ORDER BY chain_id, created_at, id
    """
    values = {"agent": agent, "name": span.name, "lifespan": span.lifespan, "at": at}
    rows = await fetch_rows(connection, statement, values)
    return [row["id"] for row in rows]


async def count_going_on(
    connection: AsyncConnection, agent: AgentId, span: NamedLifespan, *, at: datetime
) -> int:
    """Return how many memories of the span, of any lifespan, hold at that moment or later."""
    statement = f"SELECT count(*) AS going_on {_going_on_sql(span)}"
    [row] = await fetch_rows(connection, statement, {"agent": agent, "name": span.name, "at": at})
    going_on: int = row["going_on"]
    return going_on
