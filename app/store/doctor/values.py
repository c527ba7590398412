"""Reads of the doctor for values that cannot be read: no member of their enumeration, other JSON."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.planning.audit.faults import Fault
from app.store.column_values import ENUMERATIONS, JSON_SCHEMAS, find_wrong_value
from app.store.engine import stream_rows
from app.store.tables import metadata

# What a row of a table is called, by the table.
_NAMES = {
    "agents": "The row of the agent",
    "memories": "Memory",
    "memory_beliefs": "A past belief of memory",
    "consolidation_log": "Operation",
    "folded_operations": "The archived operation",
    "memory_relationships": "A relationship of memory",
    "reviews": "Review",
    "log_checkpoints": "The checkpoint of memory",
    "captures": "Capture",
    "turns": "Message",
    "captured_facts": "The fact of a message",
    "sweeps": "Sweep",
    "idempotency_keys": "A stored answer",
    "agent_indexes": "The index of the agent",
}


def build_values_statement(table: str) -> str:
    """Return the statement that reads the checked columns of a table, and the ids of its rows."""
    columns = [f"CAST({column} AS text) AS {column}" for column in JSON_SCHEMAS.get(table, ())]
    columns += ENUMERATIONS.get(table, ())
    ids = [
        f"CAST({column.name} AS text)"
        for column in metadata.tables[table].primary_key
        if column.name in ("id", "memory_id", "source_id")
    ]
    return f"""
        SELECT CAST(ARRAY[{", ".join(ids)}] AS text[]) AS ids, {", ".join(columns)}
        FROM {table}
        WHERE agent_id = :agent
    """


async def stream_value_faults(connection: AsyncConnection, agent: AgentId) -> AsyncGenerator[Fault]:
    """Yield a fault for each row with a value that no write leaves."""
    for table, name in _NAMES.items():
        statement = build_values_statement(table)
        async with aclosing(stream_rows(connection, statement, {"agent": agent})) as rows:
            async for row in rows:
                place = find_wrong_value(table, row)
                if place is not None:
                    yield _build_fault(name, row, place)


def _build_fault(name: str, row: Mapping[str, Any], place: str) -> Fault:
    ids = tuple(row["ids"])
    sentence = (
        f"{' '.join([name, *ids])} has a value in {place} that no write leaves there. Nothing else "
        "of this agent was checked."
    )
    return Fault("values", ids, sentence)
