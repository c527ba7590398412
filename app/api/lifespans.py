"""Ending a session or a project."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Path
from starlette.responses import Response

from app.api import examples
from app.api.answers.lifespans import EndAnswer
from app.api.deps import AgentDep, OriginDep, Parts, PartsDep
from app.api.idempotency import IdempotentCall, KeyedDep
from app.api.openapi import BODY, WRITE, document_problems
from app.api.responses import respond_with_answer
from app.api.schemas.fields import Word
from app.api.schemas.lifespans import EndRequest
from app.domain.agent import AgentId
from app.domain.fact import Lifespan
from app.planning.lifespans import NamedLifespan
from app.services.agent_write import Call
from app.services.lifespans import EndedLifespan
from app.store.rows import CallInfo

router = APIRouter(prefix="/v1", tags=["lifespans"])


_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"model": EndAnswer},
    **document_problems(*BODY, *WRITE),
}

EndBody = Annotated[EndRequest | None, Body(openapi_examples=examples.END)]


@router.post(
    "/sessions/{session_id:path}/end",
    responses=_RESPONSES,
    response_model=None,
    description=(
        "End a session: every memory of it with lifespan `session` is retracted, constraints "
        "included; all others stay. An operation each;\n"
        "`POST /v1/reverts` with this call's X-Request-Id undoes them all."
    ),
)
async def end_session(
    parts: PartsDep,
    agent: AgentDep,
    origin: OriginDep,
    keyed: KeyedDep,
    session_id: Annotated[Word, Path(openapi_examples=examples.SESSION)],
    body: EndBody = None,
) -> Response:
    return await _end_span(
        parts, agent, origin, keyed, NamedLifespan(Lifespan.SESSION, session_id), body
    )


@router.post("/projects/{project:path}/end", responses=_RESPONSES, response_model=None)
async def end_project(
    parts: PartsDep,
    agent: AgentDep,
    origin: OriginDep,
    keyed: KeyedDep,
    project: Annotated[Word, Path(openapi_examples=examples.PROJECT)],
    body: EndBody = None,
) -> Response:
    """The same for a project and its memories with lifespan `project`."""
    return await _end_span(
        parts, agent, origin, keyed, NamedLifespan(Lifespan.PROJECT, project), body
    )


async def _end_span(
    parts: Parts,
    agent: AgentId,
    origin: CallInfo,
    keyed: IdempotentCall,
    span: NamedLifespan,
    body: EndRequest | None,
) -> Response:
    body = body or EndRequest()

    def render_answer(ended: EndedLifespan) -> Response:
        return respond_with_answer(EndAnswer.from_result(ended))

    return render_answer(
        await parts.lifespans.end_lifespan(
            Call(agent, origin, keyed.plan_replay(render_answer)),
            span,
            at=body.at,
            reason=body.reason,
        )
    )
