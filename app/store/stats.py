"""An agent in numbers. One statement reads all rows of the agent, so the numbers fit together.

Archived operations of the log are counted too. Nobody waits for that in a large agent: a worker
counts, and `recent_stats` adds what changed since.
"""

from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.strength import HalfLives
from app.domain.version import Status
from app.store.engine import fetch_rows
from app.store.fragments import AS_OF, HOLDS, LATEST, MOMENT, NEVER_SQL, ONE_VALUE
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

# Count everything of an agent.
_STATS = f"""
    WITH {MOMENT},
    version AS MATERIALIZED (
        SELECT
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
        (SELECT coalesce(sum(bytes), 0) FROM version) AS text_bytes,
        (SELECT count(*) FROM done) AS operations,
        (SELECT encode(log_head, 'hex') FROM agents WHERE {_OF_AGENT}) AS log_head,
        (SELECT count(hash) FROM done) AS log_length,
        {_counts_by_value_sql("operation", "done")} AS by_operation,
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
