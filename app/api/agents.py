"""The agents that have memories here, and their modes."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query
from starlette.responses import Response

from app.api import examples
from app.api.answers.agents import AgentOut, AgentsAnswer
from app.api.deps import ActorDep, NamedAgentDep, ServicesDep
from app.api.idempotency import CallerDep
from app.api.openapi import BODY, document_problems
from app.api.responses import respond_with_answer
from app.api.schemas.agents import AgentPatch, AgentsQuery
from app.domain.errors import UnknownAgent
from app.services.agents import change_agent
from app.store import agents
from app.store.engine import begin_as_operator, begin_for_agent

router = APIRouter(prefix="/v1/agents", tags=["agents"])


@router.get(
    "",
    responses={200: {"model": AgentsAnswer}},
    response_model=None,
    description=(
        "List agents, with how many memories each has and when it last learnt something: all that "
        "were ever written to and that the key is for."
    ),
)
async def list_agents(
    services: ServicesDep, actor: ActorDep, query: Annotated[AgentsQuery, Query()]
) -> Response:
    async with begin_as_operator(services.engine) as connection:
        rows = await agents.list_agents(
            connection,
            limit=query.limit + 1,
            after=query.cursor or "",
            allowed=actor.rights.agents,
        )
    items = [AgentOut.from_values(row) for row in rows[: query.limit]]
    next_cursor = items[-1].agent_id if len(rows) > query.limit else None
    return respond_with_answer(AgentsAnswer.model_construct(items=items, next_cursor=next_cursor))


@router.get(
    "/{agent_id:path}",
    responses={200: {"model": AgentOut}, **document_problems(404)},
    response_model=None,
)
async def get_agent(services: ServicesDep, agent_id: NamedAgentDep) -> Response:
    """Read an agent: its mode, its time zone, and how many memories it has."""
    async with begin_for_agent(services.engine, agent_id) as connection:
        row = await agents.find_agent(connection, agent_id)
    if row is None:
        raise UnknownAgent(agent_id)
    return _render_agent(row)


def _render_agent(row: Mapping[str, Any]) -> Response:
    return respond_with_answer(AgentOut.from_values(row))


@router.patch(
    "/{agent_id:path}",
    responses={200: {"model": AgentOut}, **document_problems(*BODY, 409, 410)},
    response_model=None,
    description=(
        "Choose an agent's mode or time zone: what becomes of changes to its memories, and where "
        "the dates in its words are read. In shadow mode changes become reviews; frozen, nothing "
        "is written."
    ),
)
async def patch_agent(
    services: ServicesDep,
    caller: CallerDep,
    agent_id: NamedAgentDep,
    body: Annotated[AgentPatch, Body(openapi_examples=examples.MODE)],
) -> Response:
    call = caller.build_call(_render_agent)
    row = await change_agent(services.engine, call, agent_id, body.to_change())
    return _render_agent(row)
