"""What people rejected: reviews that a fact now being stored may repeat."""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.relation import Relation
from app.planning.hints import Rejection
from app.store.engine import fetch_rows

# The latest rejected reviews about these memories, or of a fact with one of these texts or slots.
_REJECTED = """
    SELECT r.relation, r.decided_at, r.relied_on, r.memory_id, m.fuzzy_hash,
           CASE WHEN m.slot_key IS NOT NULL THEN m.slot_hash END AS slot_hash
    FROM reviews r LEFT JOIN memories m ON m.agent_id = r.agent_id AND m.id = r.memory_id
    WHERE r.agent_id = :agent AND r.status = 'rejected' AND (
        r.relied_on ?| CAST(:about AS text[]) OR m.fuzzy_hash = ANY(:texts) OR (m.slot_key IS NOT NULL AND m.slot_hash = ANY(:slots))
    )
    ORDER BY r.decided_at DESC NULLS LAST, r.id DESC LIMIT :limit
"""


async def find_rejected(
    connection: AsyncConnection,
    agent: AgentId,
    about: Collection[UUID],
    texts: Collection[bytes],
    slots: Collection[bytes],
    *,
    limit: int,
) -> list[Rejection]:
    """Proposals that a person rejected, the latest first, `limit` at most; `texts` are fuzzy hashes, `slots` digests."""
    given = {
        "agent": agent,
        "about": [str(i) for i in about],
        "texts": list(texts),
        "slots": list(slots),
        "limit": limit,
    }
    return [_rejected_from_row(row) for row in await fetch_rows(connection, _REJECTED, given)]


def _rejected_from_row(row: Mapping[str, Any]) -> Rejection:
    about = frozenset(map(UUID, row["relied_on"])) - {row["memory_id"]}
    return Rejection(
        Relation(row["relation"]),
        row["decided_at"],
        about,
        row["memory_id"],
        row["fuzzy_hash"],
        row["slot_hash"],
    )
