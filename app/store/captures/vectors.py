"""The vectors of messages. They are made after the messages were stored, the newest first.

Each is of the model that `encoder` names. While another model's vectors are being made, messages
have none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.store.engine import VectorList, fetch_rows
from app.store.fragments import LOCK_AGENT


@dataclass(frozen=True, slots=True)
class UnembeddedTurn:
    """A message that has no vector yet."""

    agent: AgentId
    id: UUID
    name: str | None
    content: str

    @property
    def text(self) -> str:
        """What the vector is made of: who said it, if that is known, and what was said."""
        return f"{self.name}: {self.content}" if self.name else self.content


_IS_WAITING = """
    t.embedding IS NULL AND t.content IS NOT NULL
    AND (SELECT name FROM encoder WHERE next_name IS NULL) = :encoder
"""

# List the messages of all agents that have no vector.
_LIST_UNEMBEDDED = f"""
    SELECT agent_id, id, name, content FROM turns t
    WHERE {_IS_WAITING}
    ORDER BY id DESC
    LIMIT :limit
"""


async def list_unembedded_turns(
    connection: AsyncConnection, encoder: str, *, limit: int
) -> list[UnembeddedTurn]:
    """Return the newest messages without a vector; none if the vectors are of another encoder."""
    values = {"encoder": encoder, "limit": limit}
    rows = await fetch_rows(connection, _LIST_UNEMBEDDED, values)
    return [
        UnembeddedTurn(AgentId(row["agent_id"]), row["id"], row["name"], row["content"])
        for row in rows
    ]


# Store vectors. A message that lost words after it was read gets none.
_STORE_VECTORS = f"""
    UPDATE turns t
    SET embedding = CAST(made.vector AS halfvec)
    FROM unnest(CAST(:ids AS uuid[]), CAST(:contents AS text[]), CAST(:vectors AS vector[]))
        AS made (id, content, vector)
    WHERE t.agent_id = :agent AND t.id = made.id AND t.content = made.content AND {_IS_WAITING}
"""


async def store_turn_vectors(
    connection: AsyncConnection,
    agent: AgentId,
    encoder: str,
    turns: Sequence[UnembeddedTurn],
    vectors: Sequence[NDArray[np.float32]],
) -> None:
    """Store the encoder's vectors of messages of an agent."""
    await fetch_rows(connection, LOCK_AGENT, {"agent": agent})
    values = {
        "agent": agent,
        "encoder": encoder,
        "ids": [turn.id for turn in turns],
        "contents": [turn.content for turn in turns],
        "vectors": VectorList(vectors),
    }
    await fetch_rows(connection, _STORE_VECTORS, values)


# Remove the vectors of an agent's messages.
_CLEAR_VECTORS = """
    UPDATE turns SET embedding = NULL WHERE agent_id = :agent AND embedding IS NOT NULL
"""


async def clear_turn_vectors(connection: AsyncConnection, agent: AgentId) -> None:
    """Remove the vectors of an agent's messages. What stores vectors meanwhile waits."""
    await fetch_rows(connection, LOCK_AGENT, {"agent": agent})
    await fetch_rows(connection, _CLEAR_VECTORS, {"agent": agent})
