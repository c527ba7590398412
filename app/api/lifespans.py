"""Ending a session or a project."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Path
from starlette.responses import Response

from app.api import examples
from app.api.answers.lifespans import EndAnswer
from app.api.deps import ServicesDep
from app.api.idempotency import Caller, CallerDep
from app.api.openapi import BODY, WRITE, document_problems
from app.api.responses import respond_with_answer
from app.api.schemas.fields import Word
from app.api.schemas.lifespans import EndRequest
from app.api.secrets import SecretFreeRoute
from app.domain.fact import Lifespan
from app.planning.lifespans import NamedLifespan
from app.services.lifespans import EndedLifespan, LifespanEnder

router = APIRouter(prefix="/v1", tags=["lifespans"], route_class=SecretFreeRoute)


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
    services: ServicesDep,
    caller: CallerDep,
    session_id: Annotated[Word, Path(openapi_examples=examples.SESSION)],
    body: EndBody = None,
) -> Response:
    session = NamedLifespan(Lifespan.SESSION, session_id)
    return await _end_named_lifespan(services.lifespans, caller, session, body or EndRequest())


@router.post("/projects/{project:path}/end", responses=_RESPONSES, response_model=None)
async def end_project(
    services: ServicesDep,
    caller: CallerDep,
    project: Annotated[Word, Path(openapi_examples=examples.PROJECT)],
    body: EndBody = None,
) -> Response:
    """End a project: the same, with its memories of lifespan `project`."""
    named = NamedLifespan(Lifespan.PROJECT, project)
    return await _end_named_lifespan(services.lifespans, caller, named, body or EndRequest())


async def _end_named_lifespan(
    lifespans: LifespanEnder, caller: Caller, lifespan: NamedLifespan, body: EndRequest
) -> Response:
    call = caller.build_call(_render_end)
    ended = await lifespans.end_lifespan(call, lifespan, at=body.at, reason=body.reason)
    return _render_end(ended)


def _render_end(ended: EndedLifespan) -> Response:
    return respond_with_answer(EndAnswer.from_result(ended))
