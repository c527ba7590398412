"""Insights: what keeps changing in an agent's memory, and which judges err."""

from collections.abc import Callable
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
from app.services.insights import read_insights
from app.store.insights import MOST_EXAMINED, Rows

router = APIRouter(prefix="/v1", tags=["insights"])


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
        "Report what keeps changing and which judges err: churn, flip-flops, lives of values, "
        "retired and given back, signals, stale constraints, lengths of\n"
        "chains; each entry with ids to look at. A report: it changes nothing.\n"
        "A large agent, which has an index, is answered with what was counted lately: `counted_at` "
        "says when. With `since`, `until` or a `limit` above 100 it is counted now, and no more "
        f"than the newest {MOST_EXAMINED:,} memories, operations and reviews of the window: "
        "`counted_since` says from when on. `exact` counts all of the window now, which reads the "
        "whole agent."
    ),
)
async def get_insights(
    services: ServicesDep, agent: AgentDep, query: Annotated[InsightsQuery, Query()]
) -> Response:
    read = await read_insights(services.engine, agent, query.to_question())
    values: dict[str, Any] = dict.fromkeys(Section)
    for section, rows in read.rows.items():
        values[section] = _BUILDERS[section](rows)
    values |= {"as_of": read.moment.as_of, "known_at": read.moment.known_at}
    for name in ("counted_at", "counted_since", "log_archived_until"):
        values[name] = getattr(read, name)
    return respond_with_answer(InsightsAnswer.from_values(values))
