"""Read the values that a slot or a chain had, one after the other. Hints are made from them."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.planning.hints import (
    MAX_NAMED,
    LineSummary,
    PlacedStep,
    ValueLine,
    ValueStep,
    compute_recent_start,
)
from app.store.engine import fetch_rows
from app.store.fragments import ONE_VALUE
from app.turns import iterate_in_turns

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
            AND x.agent_id = :agent
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

# Sum up a line of values by the latest beliefs: the versions of a chain, and of a slot that holds
# one value at a time, in the order of their starts.
_SUMMARY = f"""
    WITH step AS MATERIALIZED (
        SELECT
            m.id, v.value, row_number() OVER line AS place,
            lag(v.value) OVER line <> v.value
                AND least(m.created_at, m.valid_from) > :since AS is_recent_change,
            lead(v.value) OVER line IS DISTINCT FROM v.value AS is_last_of_value
        FROM memories m
        CROSS JOIN LATERAL (
            SELECT CASE
                WHEN m.erased_at IS NULL THEN coalesce(m.value_hash, m.folded_hash)
                ELSE uuid_send(m.id)
            END AS value
        ) AS v
        WHERE m.agent_id = :agent AND NOT m.void AND m.created_at <= :at
            AND (m.chain_id = :chain OR (m.slot_hash = :slot AND {ONE_VALUE}))
        WINDOW line AS (ORDER BY m.valid_from, m.asserted_at, m.id)
    )
    SELECT
        (SELECT count(*) FROM step WHERE is_recent_change) AS recent_changes,
        ARRAY(
            SELECT id FROM step WHERE is_recent_change ORDER BY place DESC LIMIT :named
        ) AS recent_ids,
        ARRAY(
            SELECT id FROM step WHERE is_last_of_value ORDER BY place DESC LIMIT 3
        ) AS last_ids,
        ARRAY(
            SELECT value FROM step WHERE is_last_of_value ORDER BY place DESC LIMIT 3
        ) AS last_values
"""


async def summarize_value_line(
    connection: AsyncConnection, agent: AgentId, line: ValueLine, *, at: datetime
) -> LineSummary:
    """Return the summary of a line of values by the latest beliefs, without what came after `at`.

    It is what `summarize_line` makes of all steps of the line.
    """
    values = {
        "agent": agent,
        "chain": line.chain_id,
        "slot": line.slot.digest if line.slot else None,
        "at": at,
        "since": compute_recent_start(at),
        "named": MAX_NAMED,
    }
    [row] = await fetch_rows(connection, _SUMMARY, values)
    return LineSummary(
        recent_changes=row["recent_changes"],
        recent_ids=tuple(reversed(row["recent_ids"])),
        last_values=tuple(zip(row["last_ids"][::-1], row["last_values"][::-1], strict=True)),
    )


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
    return [_placed_from_row(row) async for row in iterate_in_turns(rows)]


def _placed_from_row(row: Mapping[str, Any]) -> PlacedStep:
    # An erased value equals no other.
    value = row["id"].bytes if row["erased_at"] else row["value_hash"] or row["folded_hash"]
    step = ValueStep(row["id"], row["valid_from"], row["asserted_at"], row["created_at"], value)
    return PlacedStep(step, row["chain_id"], row["slot"])
