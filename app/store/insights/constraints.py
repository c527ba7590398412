"""Constraints that hold and may not be meant any more."""

from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from app.store.engine import fetch_rows
from app.store.fragments import ONE_VALUE, WARM, build_holds
from app.store.insights.scope import MOST_IDS, InsightsScope, where_known_in_window

# Find the constraints that hold and are old or contradicted. `affirmed_at` is the last time at
# which somebody stored, confirmed or corrected one.
_STALE = f"""
    WITH binding AS MATERIALIZED (
        SELECT
            m.id,
            m.valid_from,
            m.created_at,
            greatest(
                m.created_at,
                (
                    SELECT u.last_reinforced_at
                    FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.access_count > 0
                ),
                (
                    SELECT max(l.created_at)
                    FROM consolidation_log l
                    WHERE l.agent_id = :agent
                        AND l.target_memory_id = m.id
                        AND l.operation = 'AMEND'
                        AND l.reverted_by IS NULL
                        AND NOT jsonb_path_exists(l.after_state, '$[*].links')
                )
            ) AS affirmed_at
        FROM memories m
        WHERE m.agent_id = :agent
            AND kind = 'constraint'
            AND NOT void
            AND NOT ({ONE_VALUE})
            AND {build_holds("m.", ":as_of")}
            AND {WARM}
    ),
    contradicting AS (
        SELECT
            r.target_id AS id,
            count(*) AS contradictions,
            (array_agg(r.source_id ORDER BY r.created_at DESC, r.source_id DESC))[1:{MOST_IDS}]
                AS contradicted_by
        FROM memory_relationships r
        JOIN binding ON binding.id = r.target_id
        JOIN memories f
            ON f.agent_id = :agent
            AND f.id = r.source_id
            AND NOT f.void
            AND f.created_at > binding.created_at
        WHERE r.agent_id = :agent
            AND r.type = 'contradicts'
            AND {where_known_in_window("r.created_at")}
        GROUP BY r.target_id
    ),
    proposed AS (
        SELECT
            about.id,
            count(*) FILTER (WHERE r.status = 'pending') AS pending,
            count(*) FILTER (WHERE r.status = 'rejected') AS rejected,
            (array_agg(r.id ORDER BY r.created_at DESC, r.id DESC))[1:{MOST_IDS}] AS review_ids
        FROM reviews r
        CROSS JOIN LATERAL (
            SELECT DISTINCT named #>> '{{}}'
            FROM jsonb_path_query(r.judgments, '$[*].memory_id') AS named
        ) AS about (id)
        WHERE r.agent_id = :agent
            AND r.status IN ('pending', 'rejected')
            AND r.relation IN ('UPDATE', 'CONTRADICTION', 'RETRACTION')
            AND r.source <> 'frozen'
            AND {where_known_in_window("r.created_at")}
        GROUP BY about.id
    ),
    stale AS (
        SELECT
            binding.id,
            valid_from,
            affirmed_at,
            affirmed_at <= CAST(:as_of AS timestamptz) - make_interval(days => :stale_days)
                AS is_old,
            CAST(
                floor(date_part('epoch', CAST(:as_of AS timestamptz) - affirmed_at) / 86400) AS int
            ) AS days,
            coalesce(contradictions, 0) AS contradictions,
            coalesce(contradicted_by, '{{}}') AS contradicted_by,
            coalesce(pending, 0) AS pending,
            coalesce(rejected, 0) AS rejected,
            coalesce(review_ids, '{{}}') AS review_ids
        FROM binding
        LEFT JOIN contradicting USING (id)
        LEFT JOIN proposed ON proposed.id = CAST(binding.id AS text)
    ),
    top AS (
        SELECT * FROM stale
        WHERE is_old OR contradictions > 0 OR pending > 0 OR rejected > 0
        ORDER BY contradictions + pending + rejected DESC, affirmed_at, id
        LIMIT :limit
    )
    SELECT
        top.*,
        entity,
        category,
        key,
        CASE WHEN erased_at IS NULL THEN content END AS content
    FROM top
    JOIN memories m ON m.agent_id = :agent AND m.id = top.id
    ORDER BY contradictions + pending + rejected DESC, affirmed_at, top.id
"""


async def read_stale_constraints(
    connection: AsyncConnection, scope: InsightsScope
) -> list[dict[str, Any]]:
    """Return the constraints that hold and are old or contradicted.

    A constraint is old if nobody stored, confirmed or corrected it for `stale_days`. Those with
    most against them come first, then those that were affirmed longest ago.
    """
    return await fetch_rows(connection, _STALE, scope.parameters)
