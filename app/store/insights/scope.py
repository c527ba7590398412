"""The history that insights are about, and the connection that reads it."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.domain.agent import AgentId
from app.domain.insights import Section
from app.store.engine import begin_for_agent, fetch_rows, open_snapshot
from app.store.known_time import settle_window

MOST_IDS = 20
# So many memories, operations and reviews of a large agent are counted at most. For most of them
# the version before is looked up.
MOST_EXAMINED = 5_000


@dataclass(frozen=True, slots=True)
class InsightsScope:
    """An agent's history at `as_of`, narrowed to what became known from `since` until `until`.

    `until` itself does not belong to the window; None is no bound. A section has at most `limit`
    entries. A constraint is old if nobody affirmed it for `stale_days`. `is_bounded` is True
    if the window was narrowed because the agent is large: a section then counts `examined`.
    """

    agent: AgentId
    as_of: datetime
    since: datetime | None
    until: datetime | None
    limit: int
    stale_days: int
    is_bounded: bool = False

    @property
    def parameters(self) -> dict[str, Any]:
        """The values of the parameters of a statement."""
        return {
            "agent": self.agent,
            "as_of": self.as_of,
            "limit": self.limit,
            "stale_days": self.stale_days,
            "since": self.since,
            "until": self.until,
        }


def where_known_in_window(column: str) -> str:
    """Return the condition that the known time in this column lies in the window."""
    return f"""
        (
            {column} >= coalesce(CAST(:since AS timestamptz), '-infinity')
            AND {column} < coalesce(CAST(:until AS timestamptz), 'infinity')
        )
    """


_STATUSES = ("pending", "accepted", "rejected", "expired", "overtaken")
# All statuses of reviews. The index of their known times begins with the status.
REVIEW_STATUSES = f"({', '.join(map(repr, _STATUSES))})"


# --- large agents --------------------------------------------------------------------------------


def select_examined(table: str, columns: str) -> str:
    """Return the CTE `examined` with the rows of a table that became known in the window.

    The index of known times gives their ids, which the planner takes for few. So it looks them up,
    whatever the window, and does not read another index of the agent whole.
    """
    return f"""
        examined AS MATERIALIZED (
            SELECT {columns}
            FROM {table}
            WHERE agent_id = :agent AND id = ANY(ARRAY(
                SELECT id FROM {table}
                WHERE agent_id = :agent AND {where_known_in_window("created_at")}
            ))
        )
    """


def choose_source(table: str, *, is_bounded: bool) -> str:
    """Return what follows FROM, up to the first condition: `examined`, or the agent's rows."""
    return "examined WHERE true" if is_bounded else f"{table} WHERE agent_id = :agent"


# The tables that a section counts.
_COUNTED_TABLES = {
    Section.CHURN: ("memories",),
    Section.FLIP_FLOPS: ("memories",),
    Section.LIFETIMES: ("memories",),
    Section.RETIRE_RATES: ("consolidation_log",),
    Section.SIGNALS: ("consolidation_log", "reviews"),
    Section.STALE_CONSTRAINTS: ("reviews",),
    Section.CHAIN_LENGTHS: ("memories",),
}


def _select_newest(table: str, condition: str = "true") -> str:
    """Return the SELECT of the known times of the newest rows, and of one more than are counted."""
    return f"""
        SELECT created_at FROM {table}
        WHERE agent_id = :agent AND {condition} AND {where_known_in_window("created_at")}
        ORDER BY created_at DESC, id DESC
        LIMIT :examined + 1
    """


_NEWEST_REVIEWS = f"""
    SELECT newest.created_at
    FROM (VALUES {", ".join(f"('{status}')" for status in _STATUSES)}) AS one (status)
    CROSS JOIN LATERAL ({_select_newest("reviews", "status = one.status")}) AS newest
"""

_NEWEST = {
    "memories": _select_newest("memories"),
    "consolidation_log": _select_newest("consolidation_log"),
    "reviews": _NEWEST_REVIEWS,
}


async def narrow_scope(
    connection: AsyncConnection, scope: InsightsScope, sections: Iterable[Section]
) -> InsightsScope:
    """Return the scope of a large agent with the newest part of its window, as far as is counted.

    No table that a section counts has more than MOST_EXAMINED rows in it. Of rows that became known
    at the same time, all are in it, or none.
    """
    tables = dict.fromkeys(table for section in sections for table in _COUNTED_TABLES[section])
    # The known time of the newest row of each table that is not counted, if there is one.
    left_out = ", ".join(
        f"""
        (
            SELECT created_at FROM ({_NEWEST[table]}) AS {table}
            ORDER BY created_at DESC
            OFFSET :examined LIMIT 1
        )
        """
        for table in tables
    )
    # Find from when on a large agent is counted.
    statement = f"""
        SELECT greatest({left_out}) + interval '1 microsecond' AS since
        FROM agent_indexes
        WHERE agent_id = :agent
    """
    rows = await fetch_rows(connection, statement, scope.parameters | {"examined": MOST_EXAMINED})
    if not rows:
        return scope
    return replace(scope, since=rows[0]["since"] or scope.since, is_bounded=True)


# --- the connection ------------------------------------------------------------------------------

# A hundred thousand rows are sorted and hashed in memory. Compiling a statement takes longer than
# running it. A plan that is kept for any window takes an index that is only good for a narrow one.
_SET_FOR_REPORTS = """
    SELECT
        set_config('work_mem', '64MB', true),
        set_config('jit', 'off', true),
        set_config('plan_cache_mode', 'force_custom_plan', true)
"""


@asynccontextmanager
async def open_insights_snapshot(
    engine: AsyncEngine, agent: AgentId, until: datetime | None
) -> AsyncIterator[AsyncConnection]:
    """Open a connection on which all sections see one state, final up to `until`."""
    if until is not None:
        async with begin_for_agent(engine, agent) as connection:
            await settle_window(connection, agent, until)
    async with open_snapshot(engine, agent) as connection:
        await fetch_rows(connection, _SET_FOR_REPORTS, {})
        yield connection
