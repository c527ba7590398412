"""The figures of an agent."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, HTTPException
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.responses import Response

from app.api.answers.stats import StatsOut
from app.api.deps import NamedAgentDep, ServicesDep
from app.api.openapi import document_problems
from app.api.position import PURE_READ
from app.api.responses import respond_with_answer
from app.domain.errors import UnknownAgent
from app.store import agents, stats
from app.store.engine import begin_for_agent

router = APIRouter(prefix="/v1/agents", tags=["agents"])


@router.get(
    "/{agent_id:path}/stats",
    dependencies=PURE_READ,
    responses={200: {"model": StatsOut}, **document_problems(404)},
    response_model=None,
    description=(
        "Count what an agent has: memories by status, what holds and how strong it is, the log by "
        "operation and judge, reviews. All numbers are those of `as_of`. Those of a large agent, "
        "which has an index, are a while old: the worker counts them now and then."
    ),
)
async def get_stats(services: ServicesDep, agent_id: NamedAgentDep) -> Response:
    async def read(connection: AsyncConnection) -> Mapping[str, Any]:
        if not await agents.is_seen(connection, agent_id):
            raise UnknownAgent(agent_id)
        return await stats.read_stats(connection, agent_id, services.half_lives)

    row = await services.reads.run(agent_id, read, door=begin_for_agent)
    return respond_with_answer(StatsOut.from_row(agent_id, row))


@router.patch("/{agent_id:path}/stats", include_in_schema=False)
async def refuse_patch() -> None:
    """Answer 405. Without this route, the mode of an agent named `…/stats` would be changed."""
    raise HTTPException(405)
