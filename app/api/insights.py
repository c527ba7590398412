"""Insights: what keeps changing in an agent's memory, and which judges err."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from app.api.answers.insights import (
    ChainLengthsOut,
    ChurnOut,
    FlipFlopOut,
    InsightsAnswer,
    LifetimesOut,
    RetireRateOut,
    SignalRecordOut,
    StaleConstraintOut,
)
from app.api.deps import AgentDep, ServicesDep
from app.api.responses import respond_with_answer
from app.api.schemas.insights import InsightsQuery
from app.domain.insights import Section
from app.store import insights, memories
from app.store.insights import Rows
from app.store.log import archived as archived_log

router = APIRouter(prefix="/v1", tags=["insights"])


# The time from which an insight without `since` counts.
_BEGINNING = datetime.min.replace(tzinfo=UTC)

_BUILDERS: dict[Section, Callable[[Rows], Any]] = {
    Section.CHURN: ChurnOut.from_rows,
    Section.FLIP_FLOPS: FlipFlopOut.from_rows,
    Section.LIFETIMES: LifetimesOut.from_rows,
    Section.RETIRE_RATES: RetireRateOut.from_rows,
    Section.SIGNALS: SignalRecordOut.from_rows,
    Section.STALE_CONSTRAINTS: StaleConstraintOut.from_rows,
    Section.CHAIN_LENGTHS: ChainLengthsOut.from_rows,
}


@router.get(
    "/insights",
    responses={200: {"model": InsightsAnswer}},
    response_model=None,
    description=(
        "What keeps changing and who errs: churn, flip-flops, lives of values, retired and given "
        "back, signals, stale constraints, lengths of\n"
        "chains; each entry with ids to look at. A report: it changes nothing.\n"
        "A large agent, which has an index, is answered with what was counted lately: `counted_at` "
        "says when. With `since`, `until`, `exact` or a `limit` above 100 it is counted now, which "
        "reads the whole agent."
    ),
)
async def get_insights(
    services: ServicesDep, agent: AgentDep, query: Annotated[InsightsQuery, Query()]
) -> Response:
    values: dict[str, Any] = dict.fromkeys((*Section, "counted_at"))
    async with insights.open_insights_snapshot(services.engine, agent, query.until) as connection:
        moment = await memories.read_moment(connection, agent)
        scope = query.to_scope(agent, moment.as_of)
        sections = query.section or tuple(Section)
        counted = None
        if query.may_be_counted:
            counted = await insights.find_counted_insights(connection, agent, sections)
        for section in sections:
            rows = counted.list_entries(section, query.limit) if counted else None
            if counted and rows is not None:
                values["counted_at"] = counted.as_of
            else:
                rows = await insights.read_section(connection, section, scope)
            values[section] = _BUILDERS[section](rows)
        values["log_archived_until"] = await archived_log.find_archived_until(
            connection,
            agent,
            since=query.since or _BEGINNING,
            known_at=min(query.until or moment.known_at, moment.known_at),
        )
    values |= {"as_of": moment.as_of, "known_at": moment.known_at}
    return respond_with_answer(InsightsAnswer.from_values(values))
