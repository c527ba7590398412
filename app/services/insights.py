"""What an agent's history tells of itself: counted by a worker lately, or counted now."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.agent import AgentId
from app.domain.insights import Section
from app.domain.version import Moment
from app.store import insights, memories
from app.store.insights import InsightsScope, Rows
from app.store.log.archived import find_archived_until

# The time from which an insight without `since` counts.
_BEGINNING = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class InsightsQuestion:
    """Which sections are wanted, and what they count: what became known in a window.

    `exact`: count all of it now, even if the agent is large.
    """

    section: tuple[Section, ...] = tuple(Section)
    since: datetime | None = None
    until: datetime | None = None
    limit: int = 20
    stale_days: int = 180
    exact: bool = False

    @property
    def may_be_counted(self) -> bool:
        """True if what a worker counted without a window may answer this."""
        return not self.exact and self.since is None and self.until is None


@dataclass(frozen=True, slots=True)
class Insights:
    """The rows of each section, as of the moment.

    A worker counted some of them at `counted_at`. Of a large agent the others count what became
    known from `counted_since` on; None: all of the window. Operations of the window were archived
    until `log_archived_until`.
    """

    rows: Mapping[Section, Rows]
    moment: Moment
    counted_at: datetime | None
    counted_since: datetime | None
    log_archived_until: datetime | None


async def read_insights(
    engine: AsyncEngine, agent: AgentId, question: InsightsQuestion
) -> Insights:
    """Return the insights of an agent. A large one is not read whole unless `exact`."""
    async with insights.open_insights_snapshot(engine, agent, question.until) as connection:
        moment = await memories.read_moment(connection, agent)
        counted = None
        if question.may_be_counted:
            counted = await insights.find_counted_insights(
                connection, agent, question.section, question.limit
            )
        rows = dict(counted.rows) if counted else {}
        scope = whole = InsightsScope(
            agent,
            moment.as_of,
            question.since,
            question.until,
            question.limit,
            question.stale_days,
        )
        anew = [section for section in question.section if section not in rows]
        if anew and not question.exact:
            scope = await insights.narrow_scope(connection, whole, anew)
        archived_until = await find_archived_until(
            connection,
            agent,
            since=question.since or _BEGINNING,
            known_at=min(question.until or moment.known_at, moment.known_at),
        )
        return Insights(
            rows=rows
            | {
                section: await insights.read_section(connection, section, scope) for section in anew
            },
            moment=moment,
            counted_at=counted.as_of if counted else None,
            counted_since=None if scope.since == whole.since else scope.since,
            log_archived_until=archived_until,
        )
