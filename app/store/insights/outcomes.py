"""Outcomes of the decisions of judges, and of the signals that led to them."""

from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from app.planning.opinions import OVERRULING
from app.store.engine import fetch_rows
from app.store.insights.scope import (
    MOST_IDS,
    REVIEW_STATUSES,
    InsightsScope,
    choose_source,
    select_examined,
    where_known_in_window,
)
from app.store.tables import HAS_OPINIONS, JUDGED, LED_TO

# Bounds of the bands of confidence. The last band includes its upper end.
BANDS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)

# What is counted of an operation.
_EXAMINED = select_examined(
    "consolidation_log",
    """
        id,
        operation,
        relation,
        confidence,
        decided_by,
        signal_names,
        created_at,
        reverted_by
    """,
)


_OPERATIONS = choose_source("consolidation_log", is_bounded=False)
_EXAMINED_OPERATIONS = choose_source("consolidation_log", is_bounded=True)


def _select_decided(source: str) -> str:
    """Return the operations that judges decided."""
    return f"""
        SELECT
            id,
            decided_by,
            width_bucket(confidence, CAST(:thresholds AS float8[])) AS band,
            created_at,
            operation IN ('UPDATE', 'DELETE', 'SUPERSEDE') AS retires,
            reverted_by IS NOT NULL AS reverted
        FROM {source}
            AND {JUDGED}
            AND {where_known_in_window("created_at")}
    """


def _build_retire_rates(start: str, decided: str) -> str:
    """Return the statement that counts what was decided, retired and reverted."""
    return f"""
    {start} bands AS (
        SELECT
            decided_by,
            band,
            count(*) AS decided,
            count(*) FILTER (WHERE retires) AS retired,
            count(*) FILTER (WHERE retires AND reverted) AS reverted
        FROM ({decided}) AS decided
        GROUP BY decided_by, band
        ORDER BY reverted DESC, retired DESC, decided_by, band DESC
        LIMIT :limit
    )
    SELECT
        bands.*,
        ARRAY(
            SELECT id
            FROM ({decided}) AS one
            WHERE one.decided_by = bands.decided_by AND one.band = bands.band AND retires
            ORDER BY one.reverted DESC, created_at DESC, id DESC
            LIMIT {MOST_IDS}
        ) AS log_ids
    FROM bands
    ORDER BY reverted DESC, retired DESC, decided_by, band DESC
    """


_RETIRE_RATES = _build_retire_rates("WITH", _select_decided(_OPERATIONS))
# Of a large agent, the operations are read once.
_RETIRE_RATES_OF_EXAMINED = _build_retire_rates(
    f"WITH {_EXAMINED}, decided AS MATERIALIZED ({_select_decided(_EXAMINED_OPERATIONS)}),",
    "SELECT * FROM decided",
)


async def read_retire_rates(
    connection: AsyncConnection, scope: InsightsScope
) -> list[dict[str, Any]]:
    """Return what judges decided, retired and had reverted, by judge and confidence.

    `band` counts in BANDS. The judges with most reverted come first.
    """
    values = scope.parameters | {"thresholds": list(BANDS[1:-1])}
    statement = _RETIRE_RATES_OF_EXAMINED if scope.is_bounded else _RETIRE_RATES
    return await fetch_rows(connection, statement, values)


# The signals that saw something in a memory, where another judge's word counted more.
_OVERRULED_SIGNALS = "$[*] ? ({}).signals[*]".format(
    " || ".join(f'@.not_done.reason == "{reason.value}"' for reason in OVERRULING)
)


def _select_led_to_by_signals(source: str) -> str:
    """Return the operations that signals led to."""
    return f"""
        SELECT id, signal_names, created_at, reverted_by IS NOT NULL AS reverted
        FROM {source}
            AND signal_names <> '[]'
            AND {LED_TO}
            AND {where_known_in_window("created_at")}
    """


def _build_signals(start: str, led_to_by_signals: str) -> str:
    """Return the statement that counts what each signal led to.

    A signal counts once in an operation or a review, however often it fired there. Names are
    separated once for each combination, not for each row. The newest operations of a signal are
    among the newest of the combinations that it is in.
    """
    return f"""
    {start} combined AS (
        SELECT
            signal_names,
            count(*) FILTER (WHERE NOT reverted) AS stand,
            count(*) FILTER (WHERE reverted) AS reverted
        FROM ({led_to_by_signals}) AS operation
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
            FROM ({led_to_by_signals}) AS operation
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
            AND r.status IN {REVIEW_STATUSES}
            AND r.source <> 'frozen'
            AND {where_known_in_window("r.created_at")}
    ),
    proposals AS (
        SELECT
            name,
            count(*) FILTER (WHERE status = 'accepted') AS accepted,
            count(*) FILTER (WHERE status = 'rejected') AS rejected,
            count(*) FILTER (WHERE status IN ('expired', 'overtaken')) AS expired,
            count(*) FILTER (WHERE status = 'pending') AS pending
        FROM proposed
        GROUP BY name
    ),
    overruled AS (
        SELECT name, count(*) AS overruled
        FROM consolidation_log l
        CROSS JOIN LATERAL (
            SELECT DISTINCT signal #>> '{{}}'
            FROM jsonb_path_query(l.opinions, '{_OVERRULED_SIGNALS}') AS signal
        ) AS named (name)
        WHERE l.agent_id = :agent
            AND {HAS_OPINIONS}
            AND {where_known_in_window("l.created_at")}
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
            coalesce(pending, 0) AS pending,
            coalesce(overruled, 0) AS overruled
        FROM operations o
        FULL JOIN proposals p USING (name)
        FULL JOIN overruled v USING (name)
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


_SIGNALS = _build_signals("WITH", _select_led_to_by_signals(_OPERATIONS))
_SIGNALS_OF_EXAMINED = _build_signals(
    f"WITH {_EXAMINED},", _select_led_to_by_signals(_EXAMINED_OPERATIONS)
)


async def read_signal_outcomes(
    connection: AsyncConnection, scope: InsightsScope
) -> list[dict[str, Any]]:
    """Return what became of what each signal led to, and of what it proposed in vain.

    The signal that errs most comes first.
    """
    statement = _SIGNALS_OF_EXAMINED if scope.is_bounded else _SIGNALS
    return await fetch_rows(connection, statement, scope.parameters)
