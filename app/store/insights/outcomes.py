"""Outcomes of the decisions of judges, and of the signals that led to them."""

from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from app.store.engine import fetch_rows
from app.store.insights.scope import MOST_IDS, InsightsScope, where_known_in_window
from app.store.tables import JUDGED, LED_TO

# Bounds of the bands of confidence. The last band includes its upper end.
BANDS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)

# The operations that judges decided.
_DECIDED = f"""
    SELECT
        id,
        decided_by,
        width_bucket(confidence, CAST(:thresholds AS float8[])) AS band,
        created_at,
        operation IN ('UPDATE', 'DELETE', 'SUPERSEDE') AS retires,
        reverted_by IS NOT NULL AS reverted
    FROM consolidation_log
    WHERE agent_id = :agent
        AND {JUDGED}
        AND {where_known_in_window("created_at")}
"""

# Count by judge and confidence what was decided, retired and reverted.
_RETIRE_RATES = f"""
    WITH bands AS (
        SELECT
            decided_by,
            band,
            count(*) AS decided,
            count(*) FILTER (WHERE retires) AS retired,
            count(*) FILTER (WHERE retires AND reverted) AS reverted
        FROM ({_DECIDED}) AS decided
        GROUP BY decided_by, band
        ORDER BY reverted DESC, retired DESC, decided_by, band DESC
        LIMIT :limit
    )
    SELECT
        bands.*,
        ARRAY(
            SELECT id
            FROM ({_DECIDED}) AS one
            WHERE one.decided_by = bands.decided_by AND one.band = bands.band AND retires
            ORDER BY one.reverted DESC, created_at DESC, id DESC
            LIMIT {MOST_IDS}
        ) AS log_ids
    FROM bands
    ORDER BY reverted DESC, retired DESC, decided_by, band DESC
"""


async def read_retire_rates(
    connection: AsyncConnection, scope: InsightsScope
) -> list[dict[str, Any]]:
    """Return what judges decided, retired and had reverted, by judge and confidence.

    `band` counts in BANDS. The judges with most reverted come first.
    """
    values = scope.parameters | {"thresholds": list(BANDS[1:-1])}
    return await fetch_rows(connection, _RETIRE_RATES, values)


# The operations that signals led to.
_LED_TO_BY_SIGNALS = f"""
    SELECT id, signal_names, created_at, reverted_by IS NOT NULL AS reverted
    FROM consolidation_log
    WHERE agent_id = :agent
        AND signal_names <> '[]'
        AND {LED_TO}
        AND {where_known_in_window("created_at")}
"""

# Count what each signal led to. A signal counts once in an operation or a review, however often
# it fired there. Names are separated once for each combination, not for each row. The newest
# operations of a signal are among the newest of the combinations that it is in.
_SIGNALS = f"""
    WITH combined AS (
        SELECT
            signal_names,
            count(*) FILTER (WHERE NOT reverted) AS stand,
            count(*) FILTER (WHERE reverted) AS reverted
        FROM ({_LED_TO_BY_SIGNALS}) AS operation
        GROUP BY signal_names
    ),
    operations AS (
        SELECT
            name,
            CAST(sum(stand) AS bigint) AS stand,
            CAST(sum(reverted) AS bigint) AS reverted
        FROM combined
        CROSS JOIN LATERAL (
            SELECT DISTINCT jsonb_array_elements_text(signal_names)
        ) AS named (name)
        GROUP BY name
    ),
    newest AS MATERIALIZED (
        SELECT *
        FROM (
            SELECT
                *,
                row_number() OVER (
                    PARTITION BY signal_names, reverted ORDER BY created_at DESC, id DESC
                ) AS place
            FROM ({_LED_TO_BY_SIGNALS}) AS operation
        ) AS placed
        WHERE place <= {MOST_IDS}
    ),
    proposed AS MATERIALIZED (
        SELECT name, r.id, r.status, r.created_at
        FROM reviews r
        CROSS JOIN LATERAL (
            SELECT DISTINCT signal #>> '{{}}'
            FROM jsonb_path_query(r.judgments, '$[*].findings[*].name') AS signal
        ) AS named (name)
        WHERE r.agent_id = :agent
            AND r.source <> 'frozen'
            AND {where_known_in_window("r.created_at")}
    ),
    proposals AS (
        SELECT
            name,
            count(*) FILTER (WHERE status = 'accepted') AS accepted,
            count(*) FILTER (WHERE status = 'rejected') AS rejected,
            count(*) FILTER (WHERE status = 'expired') AS expired,
            count(*) FILTER (WHERE status = 'pending') AS pending
        FROM proposed
        GROUP BY name
    ),
    counted AS (
        SELECT
            name,
            coalesce(stand, 0) AS stand,
            coalesce(o.reverted, 0) AS reverted,
            coalesce(accepted, 0) AS accepted,
            coalesce(rejected, 0) AS rejected,
            coalesce(expired, 0) AS expired,
            coalesce(pending, 0) AS pending
        FROM operations o
        FULL JOIN proposals p USING (name)
    ),
    worst AS (
        SELECT
            *,
            reverted + rejected AS wrong,
            CAST(reverted + rejected AS float8)
                / nullif(stand + reverted + accepted + rejected, 0) AS error_rate
        FROM counted
        ORDER BY error_rate DESC NULLS LAST, wrong DESC, name
        LIMIT :limit
    )
    SELECT
        worst.*,
        ARRAY(
            SELECT id
            FROM newest
            WHERE jsonb_exists(newest.signal_names, worst.name)
            ORDER BY newest.reverted DESC, created_at DESC, id DESC
            LIMIT {MOST_IDS}
        ) AS log_ids,
        ARRAY(
            SELECT id
            FROM proposed
            WHERE proposed.name = worst.name
            ORDER BY status = 'rejected' DESC, created_at DESC, id DESC
            LIMIT {MOST_IDS}
        ) AS review_ids
    FROM worst
    ORDER BY error_rate DESC NULLS LAST, wrong DESC, name
"""


async def read_signal_outcomes(
    connection: AsyncConnection, scope: InsightsScope
) -> list[dict[str, Any]]:
    """Return what became of what each signal led to, and of what it proposed to people.

    The signal that errs most comes first.
    """
    return await fetch_rows(connection, _SIGNALS, scope.parameters)
