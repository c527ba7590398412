"""What is asked of a history, and the connection on which it is."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.domain.agent import AgentId
from app.store.engine import fetch_rows, open_snapshot

MOST_IDS = 20


@dataclass(frozen=True, slots=True)
class InsightsScope:
    """Whose history, as it stands at `as_of`; what became known from `since` until before `until` (None: whenever); entries per section."""

    agent: AgentId
    as_of: datetime
    since: datetime | None
    until: datetime | None
    limit: int
    stale_days: int

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of a statement."""
        window = {"since": self.since, "until": self.until}
        return {
            "agent": self.agent,
            "as_of": self.as_of,
            "limit": self.limit,
            "stale_days": self.stale_days,
            **window,
        }


def where_known_in_window(known: str) -> str:
    """Whether the known time in this column lies in the window."""
    return f"({known} >= coalesce(CAST(:since AS timestamptz), '-infinity') AND {known} < coalesce(CAST(:until AS timestamptz), 'infinity'))"


# A hundred thousand rows are sorted and hashed in memory; compiling a statement takes longer than running it; and a plan that is kept for
# any window takes an index that is only good for a narrow one.
_AT_EASE = "SELECT set_config('work_mem', '64MB', true), set_config('jit', 'off', true), set_config('plan_cache_mode', 'force_custom_plan', true)"


@asynccontextmanager
async def open_insights_snapshot(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A connection on which all sections see one state of the database."""
    async with open_snapshot(engine) as connection:
        await fetch_rows(connection, _AT_EASE, {})
        yield connection
