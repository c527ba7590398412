"""Sweeps: a worker looks at stored memories again, on call."""

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Body, Path, Query
from starlette.responses import Response

from app.api import examples
from app.api.answers.sweeps import (
    SweepOut,
    SweepsAnswer,
    SweepSummary,
)
from app.api.cursors import build_next_cursor, decode_position
from app.api.deps import AgentDep, ServicesDep
from app.api.idempotency import CallerDep
from app.api.openapi import BODY, WRITE, document_links, document_problems
from app.api.responses import respond_with_answer
from app.api.schemas.sweeps import SweepRequest, SweepsQuery
from app.domain.errors import InvalidFact, UnknownSweep
from app.store.engine import begin_for_agent
from app.store.sweeps import runs as sweep_runs

router = APIRouter(prefix="/v1/sweeps", tags=["sweeps"])

SweepPath = Annotated[
    UUID,
    Path(description="`id` of a sweep: paste one from the answer to a POST, or from the list."),
]


_FOLLOW = document_links("id", "sweep_id", "get_sweep", "cancel_sweep")


@router.post(
    "",
    status_code=202,
    responses={202: {"model": SweepOut, "links": _FOLLOW}, **document_problems(*BODY, *WRITE)},
    response_model=None,
    description=(
        "Look at stored memories again, as a store would: what contradicts something later "
        "ends, as far as rules, judges and caps allow.\n"
        "\n"
        "A worker does it; ask for the sweep to see how far it is. To undo it: `POST /v1/reverts` "
        "with its id as `sweep_id`."
    ),
)
async def start_sweep(
    services: ServicesDep,
    caller: CallerDep,
    body: Annotated[SweepRequest | None, Body(openapi_examples=examples.SWEEP)] = None,
) -> Response:
    body = body or SweepRequest.model_validate({})
    if body.agent_id is not None and body.agent_id != caller.agent:
        raise InvalidFact(
            f"agent_id ({body.agent_id}) is not the agent of this call ({caller.agent}); "
            "name it in X-Agent-Id."
        )
    row = await services.sweep_requests.start(caller.build_call(_render_start), body.to_scope())
    return _render_start(row)


def _render_start(row: Mapping[str, Any]) -> Response:
    return respond_with_answer(SweepOut.from_row(row), 202)


@router.get("", responses={200: {"model": SweepsAnswer}}, response_model=None)
async def list_sweeps(
    services: ServicesDep, agent: AgentDep, query: Annotated[SweepsQuery, Query()]
) -> Response:
    """List sweeps, newest first, those started by the clock and after stores included."""
    async with begin_for_agent(services.engine, agent) as connection:
        rows = await sweep_runs.list_sweeps(
            connection, agent, limit=query.limit + 1, after=decode_position(query.cursor)
        )
    items = [SweepSummary.from_row(row) for row in rows[: query.limit]]
    next_cursor = build_next_cursor(rows, query.limit)
    return respond_with_answer(SweepsAnswer.model_construct(items=items, next_cursor=next_cursor))


@router.get(
    "/{sweep_id}",
    responses={200: {"model": SweepOut}, **document_problems(404)},
    response_model=None,
)
async def get_sweep(services: ServicesDep, agent: AgentDep, sweep_id: SweepPath) -> Response:
    """Read how far a sweep is, and what it found."""
    async with begin_for_agent(services.engine, agent) as connection:
        row = await sweep_runs.find_sweep(connection, agent, sweep_id)
    if row is None:
        raise UnknownSweep(sweep_id)
    return _render_sweep(row)


@router.post(
    "/{sweep_id}/cancel",
    responses={200: {"model": SweepOut}, **document_problems(*BODY, 404, *WRITE)},
    response_model=None,
    description=(
        "Stop a sweep where it is. What it did stays, and can be undone; one that is over stays as "
        "it is."
    ),
)
async def cancel_sweep(services: ServicesDep, caller: CallerDep, sweep_id: SweepPath) -> Response:
    row = await services.sweep_requests.cancel(caller.build_call(_render_sweep), sweep_id)
    return _render_sweep(row)


def _render_sweep(row: Mapping[str, Any]) -> Response:
    return respond_with_answer(SweepOut.from_row(row))
