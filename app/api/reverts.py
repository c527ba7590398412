"""Undoing operations of the log."""

from typing import Annotated

from fastapi import APIRouter, Body
from starlette.responses import Response

from app.api import examples
from app.api.answers.brief import BriefRevertAnswer, BriefRevertsAnswer
from app.api.answers.reverts import RevertAnswer, RevertsAnswer
from app.api.deps import ServicesDep
from app.api.idempotency import CallerDep
from app.api.log import LogPath
from app.api.openapi import BODY, WRITE, document_problems
from app.api.responses import respond_with_answer
from app.api.schemas.reverts import RevertRequest, RevertsRequest
from app.api.views import View, ViewDep
from app.services.reverts import RevertedOperation

log_router = APIRouter(prefix="/v1/log", tags=["log"])
router = APIRouter(prefix="/v1/reverts", tags=["log"])


@log_router.post(
    "/{log_id}/revert",
    responses={
        200: {"model": RevertAnswer | BriefRevertAnswer},
        **document_problems(*BODY, 404, *WRITE),
    },
    response_model=None,
    description=(
        "Undo an operation, a revert included. Reads at an earlier `known_at` stay as they were. "
        "409 lists what was built on it."
    ),
)
async def revert(
    services: ServicesDep,
    caller: CallerDep,
    log_id: LogPath,
    body: Annotated[RevertRequest | None, Body(openapi_examples=examples.REVERT)] = None,
    view: ViewDep = View.FULL,
) -> Response:
    body = body or RevertRequest()

    def render(reverts: list[RevertedOperation]) -> Response:
        return respond_with_answer(
            RevertAnswer.from_reverts(reverts, services.half_lives), view=view
        )

    reverts = await services.reverts.revert_one(
        caller.build_call(render), log_id, cascade=body.cascade, store=body.store
    )
    return render(reverts)


@router.post(
    "",
    responses={
        200: {"model": RevertsAnswer | BriefRevertsAnswer},
        **document_problems(*BODY, 404, *WRITE),
    },
    response_model=None,
    description=(
        "Undo many operations, newest first, all or none: those of a batch, an import, a session, "
        "a source, a judge or a time, or those that are named."
    ),
)
async def revert_many(
    services: ServicesDep,
    caller: CallerDep,
    body: Annotated[RevertsRequest, Body(openapi_examples=examples.REVERTS)],
    view: ViewDep = View.FULL,
) -> Response:
    def render(reverts: list[RevertedOperation]) -> Response:
        answer = RevertsAnswer.from_reverts(reverts, services.half_lives, dry_run=body.dry_run)
        return respond_with_answer(answer, view=view)

    reverts = await services.reverts.revert_selection(
        caller.build_call(render),
        body.to_selection(),
        cascade=body.cascade,
        dry_run=body.dry_run,
    )
    return render(reverts)
