"""The history that insights are about, and the connection that reads it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.domain.agent import AgentId
from app.store.engine import begin_for_agent, fetch_rows, open_snapshot
from app.store.known_time import settle_window

MOST_IDS = 20


@dataclass(frozen=True, slots=True)
class InsightsScope:
    """An agent's history at `as_of`, narrowed to what became known from `since` until `until`.

    `until` itself does not belong to the window; None is no bound. A section has at most `limit`
    entries. A constraint is old if nobody affirmed it for `stale_days`.
    """

    agent: AgentId
    as_of: datetime
    since: datetime | None
    until: datetime | None
    limit: int
    stale_days: int

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
