"""Rejected reviews whose proposal a fact that is being stored may repeat."""

from collections.abc import Collection
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.relation import Relation
from app.planning.hints import Rejection
from app.store.engine import fetch_rows
from app.store.log.state import decode_relied_ids

# Find the latest rejected reviews about these memories, or of a fact with one of these texts or
# slots.
_REJECTED = """
    SELECT r.relation, r.decided_at, r.relied_on, r.memory_id, m.fuzzy_hash,
           CASE WHEN m.slot_key IS NOT NULL THEN m.slot_hash END AS slot_hash
    FROM reviews r
    LEFT JOIN memories m ON m.agent_id = :agent AND m.id = r.memory_id
    WHERE r.agent_id = :agent AND r.status = 'rejected' AND (
        r.relied_on ?| CAST(:about AS text[])
        OR m.fuzzy_hash = ANY(:texts)
        OR (m.slot_key IS NOT NULL AND m.slot_hash = ANY(:slots))
    )
    ORDER BY r.decided_at DESC NULLS LAST, r.id DESC
    LIMIT :limit
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
    """Return proposals that a person rejected, the latest first.

    `texts` are fuzzy hashes, `slots` are digests of slots.
    """
    values = {
        "agent": agent,
        "about": [str(i) for i in about],
        "texts": list(texts),
        "slots": list(slots),
        "limit": limit,
    }
    return [
        Rejection(
            relation=Relation(row["relation"]),
            decided_at=row["decided_at"],
            about=frozenset(decode_relied_ids(row["relied_on"])) - {row["memory_id"]},
            memory_id=row["memory_id"],
            fuzzy_hash=row["fuzzy_hash"],
            slot_hash=row["slot_hash"],
        )
        for row in await fetch_rows(connection, _REJECTED, values)
    ]
