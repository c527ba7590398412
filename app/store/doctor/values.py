"""The faults of values that no write leaves."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.planning.audit.faults import Fault
from app.store.wrong_values import stream_wrong_values

# The name of a row in a fault, by its table.
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


async def stream_value_faults(connection: AsyncConnection, agent: AgentId) -> AsyncGenerator[Fault]:
    """Yield a fault for each value of the agent that no write leaves."""
    for table, name in _NAMES.items():
        async with aclosing(stream_wrong_values(connection, agent, table)) as values:
            async for value in values:
                row = " ".join([name, *value.ids])
                sentence = (
                    f"{row} has a value in {value.column}{value.path} that no write leaves there. "
                    "Of the rest of this agent, only the chain of the log was checked."
                )
                yield Fault("values", value.ids, sentence)
