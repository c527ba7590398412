"""Insights: what keeps changing in an agent's memory, and which judges err."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from sqlalchemy.ext.asyncio import AsyncConnection
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
from app.store.insights import InsightsScope
from app.store.log import archived as archived_log

router = APIRouter(prefix="/v1", tags=["insights"])


# The time from which an insight without `since` counts.
_BEGINNING = datetime.min.replace(tzinfo=UTC)

Rows = list[dict[str, Any]]
ReadSection = Callable[[AsyncConnection, InsightsScope], Awaitable[Rows]]
_SECTIONS: dict[Section, tuple[ReadSection, Callable[[Rows], Any]]] = {
    Section.CHURN: (insights.read_churn, ChurnOut.from_rows),
    Section.FLIP_FLOPS: (insights.read_flip_flops, FlipFlopOut.from_rows),
    Section.LIFETIMES: (insights.read_lifetimes, LifetimesOut.from_rows),
    Section.RETIRE_RATES: (insights.read_retire_rates, RetireRateOut.from_rows),
    Section.SIGNALS: (insights.read_signal_outcomes, SignalRecordOut.from_rows),
    Section.STALE_CONSTRAINTS: (insights.read_stale_constraints, StaleConstraintOut.from_rows),
    Section.CHAIN_LENGTHS: (insights.read_chain_lengths, ChainLengthsOut.from_rows),
}


@router.get(
    "/insights",
    responses={200: {"model": InsightsAnswer}},
    response_model=None,
    description=(
        "What keeps changing and who errs: churn, flip-flops, lives of values, retired and given "
        "back, signals, stale constraints, lengths of\n"
        "chains; each entry with ids to look at. A report: it changes nothing."
    ),
)
async def get_insights(
    services: ServicesDep, agent: AgentDep, query: Annotated[InsightsQuery, Query()]
) -> Response:
    values: dict[str, Any] = dict.fromkeys(Section)
    async with insights.open_insights_snapshot(services.engine, agent) as connection:
        moment = await memories.read_moment(connection, agent)
        scope = query.to_scope(agent, moment.as_of)
        for section in query.section or Section:
            read_section, build_answer = _SECTIONS[section]
            values[section] = build_answer(await read_section(connection, scope))
        values["log_archived_until"] = await archived_log.find_archived_until(
            connection,
            agent,
            since=query.since or _BEGINNING,
            known_at=min(query.until or moment.known_at, moment.known_at),
        )
    values |= {"as_of": moment.as_of, "known_at": moment.known_at}
    return respond_with_answer(InsightsAnswer.from_values(values))
