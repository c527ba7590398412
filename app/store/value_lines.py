"""Read the values that a slot or a chain had, one after the other. Hints are made from them."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.planning.hints import PlacedStep, ValueStep
from app.store.engine import fetch_rows
from app.store.fragments import ONE_VALUE

# Read the versions of long lines that were not withdrawn in the belief at `known_at`. That belief
# is the row's own if it was known by then, else an earlier one.
_LINES = f"""
    SELECT
        m.id,
        m.chain_id,
        m.created_at,
        m.value_hash,
        m.folded_hash,
        m.erased_at,
        b.valid_from,
        b.asserted_at,
        CASE WHEN {ONE_VALUE} THEN m.slot_hash END AS slot
    FROM memories m
    JOIN LATERAL (
        SELECT m.void, m.valid_from, m.asserted_at
        WHERE m.known_from <= :known_at
        UNION ALL
        SELECT x.void, x.valid_from, x.asserted_at
        FROM memory_beliefs x
        WHERE m.known_from > :known_at
            AND x.agent_id = m.agent_id
            AND x.memory_id = m.id
            AND x.known_from <= :known_at
            AND x.known_until > :known_at
    ) AS b ON NOT b.void
    WHERE m.agent_id = :agent AND m.id IN (
        SELECT id FROM memories
        WHERE agent_id = :agent AND chain_id IN (
            SELECT chain_id FROM memories
            WHERE agent_id = :agent AND chain_id = ANY(:chains)
            GROUP BY chain_id
            HAVING count(*) >= :at_least
        )
        UNION
        SELECT id FROM memories
        WHERE agent_id = :agent AND slot_key IS NOT NULL AND slot_hash IN (
            SELECT slot_hash FROM memories
            WHERE agent_id = :agent AND slot_key IS NOT NULL AND slot_hash = ANY(:slots)
            GROUP BY slot_hash
            HAVING count(*) >= :at_least
        )
    )
"""


async def list_value_lines(
    connection: AsyncConnection,
    agent: AgentId,
    *,
    chains: Collection[UUID],
    slots: Collection[bytes],
    known_at: datetime,
    at_least: int,
) -> list[PlacedStep]:
    """Return the versions of these chains and slots as known at `known_at`.

    Slots are named by their digests. A chain or slot of fewer than `at_least` versions is left out.
    """
    values = {
        "agent": agent,
        "chains": list(chains),
        "slots": list(slots),
        "known_at": known_at,
        "at_least": at_least,
    }
    rows = await fetch_rows(connection, _LINES, values)
    return [_placed_from_row(row) for row in rows]


def _placed_from_row(row: Mapping[str, Any]) -> PlacedStep:
    # An erased value equals no other.
    value = row["id"].bytes if row["erased_at"] else row["value_hash"] or row["folded_hash"]
    step = ValueStep(row["id"], row["valid_from"], row["asserted_at"], row["created_at"], value)
    return PlacedStep(step, row["chain_id"], row["slot"])
