"""Undoing operations of the log."""

from typing import Annotated

from fastapi import APIRouter, Body
from starlette.responses import Response

from app.api import examples
from app.api.answers.reverts import RevertAnswer, RevertsAnswer
from app.api.deps import AgentDep, OriginDep, PartsDep
from app.api.idempotency import KeyedDep
from app.api.log import LogPath
from app.api.openapi import BODY, WRITE, document_problems
from app.api.responses import respond_with_answer
from app.api.schemas.reverts import RevertRequest, RevertsRequest
from app.services.agent_write import Call
from app.services.reverts import RevertedOperation

log_router = APIRouter(prefix="/v1/log", tags=["log"])
router = APIRouter(prefix="/v1/reverts", tags=["log"])


@log_router.post(
    "/{log_id}/revert",
    responses={200: {"model": RevertAnswer}, **document_problems(*BODY, 404, *WRITE)},
    response_model=None,
    description=(
        "Undo an operation, a revert included. Reads at an earlier `known_at` stay as they were. "
        "409 lists what was built on it."
    ),
)
async def revert(
    parts: PartsDep,
    agent: AgentDep,
    origin: OriginDep,
    keyed: KeyedDep,
    log_id: LogPath,
    body: Annotated[RevertRequest | None, Body(openapi_examples=examples.REVERT)] = None,
) -> Response:
    body = body or RevertRequest()

    def render_answer(undone: list[RevertedOperation]) -> Response:
        return respond_with_answer(RevertAnswer.from_reverts(undone, parts.half_lives))

    call = Call(agent, origin, keyed.plan_replay(render_answer))
    return render_answer(
        await parts.reverts.revert_one(call, log_id, cascade=body.cascade, store=body.store)
    )


@router.post(
    "",
    responses={200: {"model": RevertsAnswer}, **document_problems(*BODY, *WRITE)},
    response_model=None,
    description=(
        "Undo every operation of a batch, an import, a session, a source, a judge or a time, "
        "newest first, all or none."
    ),
)
async def revert_many(
    parts: PartsDep,
    agent: AgentDep,
    origin: OriginDep,
    keyed: KeyedDep,
    body: Annotated[RevertsRequest, Body(openapi_examples=examples.REVERTS)],
) -> Response:

    def render_answer(undone: list[RevertedOperation]) -> Response:
        return respond_with_answer(
            RevertsAnswer.from_reverts(undone, parts.half_lives, dry_run=body.dry_run)
        )

    call = Call(agent, origin, keyed.plan_replay(render_answer))
    return render_answer(
        await parts.reverts.revert_selection(
            call, body.to_selection(), cascade=body.cascade, dry_run=body.dry_run
        )
    )
