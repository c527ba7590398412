"""The strengths of a large agent's memories, in order, as a worker counted them last.

Strengths fade at different rates, so their order changes from moment to moment and no index has it.
The worker sorts all memories by their strength at one time, now and then. A list reads this order
from the start or from its cursor, and looks at what became known since then. The order before the
last one is kept as well, for the lists that were begun with it.
"""

import time
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.strength import HalfLives
from app.store.counting import build_is_due
from app.store.engine import fetch_rows, lift_statement_timeout
from app.store.fragments import CLOCK, LATEST
from app.store.strength import STRENGTH_THEN, USAGE, half_life_values

# Memories in a row of the table.
PART_SIZE = 1_000

# Find the strengths that were counted for a time, or those counted last.
_FIND = """
    SELECT p.as_of, p.counted_until
    FROM agent_indexes i
    JOIN counted_strengths p
        ON p.agent_id = :agent
        AND p.as_of = coalesce(CAST(:as_of AS timestamptz), i.strengths_as_of)
        AND p.place = 0
    WHERE i.agent_id = :agent
"""


@dataclass(frozen=True, slots=True)
class CountedStrengths:
    """An order by the strengths at a time, of all memories known until another time."""

    as_of: datetime
    counted_until: datetime


async def find_counted_strengths(
    connection: AsyncConnection, agent: AgentId, as_of: datetime | None
) -> CountedStrengths | None:
    """Return the order by the strengths at `as_of`, or the last one; None if it is not stored."""
    rows = await fetch_rows(connection, _FIND, {"agent": agent, "as_of": as_of})
    return CountedStrengths(**rows[0]) if rows else None


# Is it time to count anew? The clock and the last known time are those of the new count.
_READ_NEED = f"""
    SELECT
        {build_is_due("i.strengths_as_of", "i.strengths_seconds")} AS is_due,
        i.strengths_as_of,
        greatest(clock.now, a.last_known_at) AS as_of,
        a.last_known_at AS counted_until
    FROM agent_indexes i
    JOIN agents a ON a.agent_id = :agent
    CROSS JOIN {CLOCK}
    WHERE i.agent_id = :agent
"""

# Sort the memories by their strength, and store them in parts. Every repetition and use counts.
_COUNT = f"""
    WITH moment AS (
        SELECT CAST(:strength_as_of AS timestamptz) AS as_of,
               CAST(:counted_until AS timestamptz) AS known_at
    ),
    placed AS (
        SELECT id, strength, row_number() OVER (ORDER BY strength DESC, id DESC) - 1 AS place
        FROM (
            SELECT m.id, {STRENGTH_THEN} AS strength
            FROM {LATEST} {USAGE}
            WHERE m.agent_id = :agent AND m.created_at <= :counted_until
        ) AS one
    )
    INSERT INTO counted_strengths (
        agent_id, as_of, place, counted_until, ids, strengths, last_strength, last_id
    )
    SELECT :agent, CAST(:strength_as_of AS timestamptz), place / :part_size, :counted_until,
           array_agg(id ORDER BY placed.place),
           array_agg(strength ORDER BY placed.place),
           min(strength),
           (array_agg(id ORDER BY placed.place DESC))[1]
    FROM placed
    GROUP BY 3
"""

_NOTE = """
    UPDATE agent_indexes SET strengths_as_of = :as_of, strengths_seconds = :seconds
    WHERE agent_id = :agent
"""

# Remove what was counted before this time.
_REMOVE = """
    DELETE FROM counted_strengths
    WHERE agent_id = :agent AND as_of < coalesce(CAST(:before AS timestamptz), 'infinity')
"""


async def refresh_strengths(
    connection: AsyncConnection, agent: AgentId, half_lives: HalfLives
) -> None:
    """Sort the memories of a large agent by their strengths anew if it is time."""
    rows = await fetch_rows(connection, _READ_NEED, {"agent": agent})
    if not rows or not rows[0]["is_due"]:
        return
    [need] = rows
    await lift_statement_timeout(connection)
    started = time.monotonic()
    values = {
        "agent": agent,
        "strength_as_of": need["as_of"],
        "counted_until": need["counted_until"],
        "part_size": PART_SIZE,
        "used_by": None,
        **half_life_values(half_lives),
    }
    await fetch_rows(connection, _COUNT, values)
    seconds = time.monotonic() - started
    note = {"agent": agent, "as_of": need["as_of"], "seconds": seconds}
    await fetch_rows(connection, _NOTE, note)
    before = need["strengths_as_of"] or need["as_of"]
    await fetch_rows(connection, _REMOVE, {"agent": agent, "before": before})


async def remove_strengths(connection: AsyncConnection, agent: AgentId) -> None:
    """Remove all strengths that were counted of an agent."""
    await fetch_rows(connection, _REMOVE, {"agent": agent, "before": None})
