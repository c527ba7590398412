"""An agent in numbers. One statement reads all rows of the agent, so the numbers fit together.

Archived operations of the log are counted too. That takes long in a large agent, so a worker counts
it now and then, and stores the numbers with the agent's index. A read returns the stored numbers,
which are all of one moment. They have no words, so an erasure does not remove them.
"""

import json
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.strength import HalfLives
from app.domain.version import Status
from app.store.counting import build_is_due
from app.store.engine import fetch_rows, lift_statement_timeout
from app.store.fragments import AS_OF, CLOCK, HOLDS, LATEST, MOMENT, NEVER_SQL, ONE_VALUE
from app.store.staleness import broken_relationships_sql
from app.store.strength import STRENGTH, USAGE, half_life_values

# The status of a memory as `domain/timeline.compute_status` has it. A test compares the two.
STATUS = f"""
    CASE
        WHEN m.erased_at IS NOT NULL THEN '{Status.ERASED}'
        WHEN b.void THEN '{Status.REVERTED}'
        WHEN b.valid_from > {AS_OF} THEN '{Status.SCHEDULED}'
        WHEN {HOLDS} THEN '{Status.CURRENT}'
        WHEN coalesce(b.valid_until > {AS_OF}, true) THEN '{Status.COVERED}'
        WHEN b.superseded_by IS NOT NULL AND b.merged THEN '{Status.MERGED}'
        WHEN b.superseded_by IS NOT NULL THEN '{Status.SUPERSEDED}'
        WHEN b.retracted_at <= coalesce(b.said_until, b.retracted_at) THEN '{Status.RETRACTED}'
        ELSE '{Status.EXPIRED}'
    END
"""


def _counts_by_value_sql(column: str, table: str, where: str = "true") -> str:
    """Return the number of rows for each value of the column, as a JSON object."""
    return f"""
        (
            SELECT coalesce(jsonb_object_agg(value, n), '{{}}')
            FROM (
                SELECT {column} AS value, count(*) AS n
                FROM {table}
                WHERE {where}
                GROUP BY 1
            ) AS counted
        )
    """


_OF_AGENT = "agent_id = :agent"
_OF_LAST_WEEK = f"created_at > {AS_OF} - interval '7 days'"

# Count everything of an agent.
_STATS = f"""
    WITH {MOMENT},
    version AS MATERIALIZED (
        SELECT
            m.id,
            m.kind,
            b.tier,
            m.lifespan,
            m.chain_id,
            m.slot_hash,
            m.look_again,
            octet_length(m.content) AS bytes,
            {STATUS} AS status,
            {ONE_VALUE} AS one_value,
            {STRENGTH} AS strength
        FROM {LATEST}
        {USAGE}
        WHERE m.agent_id = :agent
    ),
    done AS (
        SELECT operation, decided_by, created_at, hash
        FROM consolidation_log
        WHERE {_OF_AGENT}
        UNION ALL
        SELECT operation, decided_by, created_at, hash
        FROM folded_operations
        WHERE {_OF_AGENT} AND archive_id IS NOT NULL
    ),
    holding AS (SELECT * FROM version WHERE status = '{Status.CURRENT}'),
    crowded_slots AS (
        SELECT FROM holding
        WHERE one_value
        GROUP BY slot_hash
        HAVING count(*) > 1
    )
    SELECT
        {AS_OF} AS as_of,
        (SELECT min(created_at) FROM done) AS first_known_at,
        (
            SELECT nullif(last_known_at, {NEVER_SQL})
            FROM agents
            WHERE {_OF_AGENT}
        ) AS last_known_at,
        (SELECT count(*) FROM version) AS memories,
        {_counts_by_value_sql("status", "version")} AS by_status,
        {_counts_by_value_sql("kind", "holding")} AS by_kind,
        {_counts_by_value_sql("tier", "holding")} AS by_tier,
        {_counts_by_value_sql("lifespan", "holding")} AS by_lifespan,
        (SELECT count(DISTINCT chain_id) FROM version) AS chains,
        (SELECT count(*) FROM crowded_slots) AS crowded_slots,
        (SELECT count(*) FROM memory_beliefs WHERE {_OF_AGENT}) AS beliefs,
        (SELECT count(*) FROM memory_relationships WHERE {_OF_AGENT}) AS relationships,
        (SELECT count(*) FROM version WHERE look_again IS NOT NULL) AS look_again,
        (
            SELECT count(*) FROM holding WHERE id = ANY(ARRAY(
                SELECT tie.memory_id {broken_relationships_sql(past=False)}
            ))
        ) AS stale,
        (SELECT coalesce(sum(bytes), 0) FROM version) AS text_bytes,
        (SELECT count(*) FROM done) AS operations,
        (SELECT encode(log_head, 'hex') FROM agents WHERE {_OF_AGENT}) AS log_head,
        (SELECT count(hash) FROM done) AS log_length,
        {_counts_by_value_sql("operation", "done")} AS by_operation,
        {_counts_by_value_sql("operation", "done", _OF_LAST_WEEK)} AS by_operation_last_week,
        {_counts_by_value_sql("decided_by", "done")} AS by_judge,
        {_counts_by_value_sql("status", "reviews", _OF_AGENT)} AS by_review_status,
        (SELECT avg(strength) FROM holding) AS mean_strength,
        (
            SELECT percentile_cont(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY strength)
            FROM holding
        ) AS quartiles
"""


async def count_stats(
    connection: AsyncConnection, agent: AgentId, half_lives: HalfLives
) -> dict[str, Any]:
    """Return the numbers of an agent that has a row. This reads every memory and the whole log.

    The objects leave out values with a count of zero. Quartiles of nothing are None.
    """
    values = {
        "agent": agent,
        "as_of": None,
        "known_at": None,
        "used_by": None,
        **half_life_values(half_lives),
    }
    [row] = await fetch_rows(connection, _STATS, values)
    return row


# --- large agents --------------------------------------------------------------------------------

_FIND = "SELECT i.stats FROM agent_indexes i WHERE i.agent_id = :agent AND i.stats IS NOT NULL"


async def read_stats(
    connection: AsyncConnection, agent: AgentId, half_lives: HalfLives
) -> Mapping[str, Any]:
    """Return the numbers of an agent as `count_stats` does, or those that a worker counted last.

    The latter have `counted_at` too, which is their `as_of`.
    """
    rows = await fetch_rows(connection, _FIND, {"agent": agent})
    if not rows:
        return await count_stats(connection, agent, half_lives)
    stats: dict[str, Any] = rows[0]["stats"]
    for name in ("as_of", "first_known_at", "last_known_at"):
        if stats[name] is not None:
            stats[name] = datetime.fromisoformat(stats[name])
    return stats | {"counted_at": stats["as_of"]}


# Is it time to count anew?
_READ_NEED = f"""
    SELECT {build_is_due("counted.at", "i.stats_seconds", known_until="counted.until")} AS is_due
    FROM agent_indexes i
    JOIN agents a ON a.agent_id = :agent
    CROSS JOIN {CLOCK}
    CROSS JOIN LATERAL (
        SELECT CAST(i.stats ->> 'as_of' AS timestamptz) AS at,
               CAST(i.stats ->> 'last_known_at' AS timestamptz) AS until
    ) AS counted
    WHERE i.agent_id = :agent
"""

_STORE = """
    UPDATE agent_indexes SET stats = CAST(:stats AS jsonb), stats_seconds = :seconds
    WHERE agent_id = :agent
"""


async def refresh_stats(connection: AsyncConnection, agent: AgentId, half_lives: HalfLives) -> None:
    """Count the numbers of a large agent anew if it is time."""
    rows = await fetch_rows(connection, _READ_NEED, {"agent": agent})
    if not rows or not rows[0]["is_due"]:
        return
    await lift_statement_timeout(connection)
    started = time.monotonic()
    stats = await count_stats(connection, agent, half_lives)
    values = {
        "agent": agent,
        "stats": json.dumps(stats, default=str),
        "seconds": time.monotonic() - started,
    }
    await fetch_rows(connection, _STORE, values)


_FORGET = "UPDATE agent_indexes SET stats = NULL WHERE agent_id = :agent"


async def forget_stats(connection: AsyncConnection, agent: AgentId) -> None:
    """Forget the stored numbers of a large agent. They are counted anew."""
    await fetch_rows(connection, _FORGET, {"agent": agent})
