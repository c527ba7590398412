"""Storing messages with the facts that are read from them, and reading and undoing captures."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Body, Path, Query
from starlette.responses import Response

from app.api import examples
from app.api.answers.brief import BriefCaptureAnswer, BriefCapturesAnswer, BriefRevertsAnswer
from app.api.answers.captures import CaptureAnswer, CapturesAnswer, ListedCapture
from app.api.answers.reverts import RevertsAnswer
from app.api.cursors import build_next_cursor, decode_position
from app.api.deps import AgentDep, ServicesDep
from app.api.idempotency import CallerDep
from app.api.message_forms import MessageRoute
from app.api.openapi import BODY, WRITE, document_links, document_problems
from app.api.responses import respond_with_answer
from app.api.schemas.captures import CapturesQuery, MessagesRequest, UndoRequest
from app.api.secrets import RedactedDep
from app.api.views import View, ViewDep
from app.domain.captures import CaptureState
from app.domain.fact import DEFAULT_TRUST
from app.services.capture_reports import CaptureReport
from app.services.reverts import RevertedOperation
from app.store.captures import captures
from app.store.engine import begin_for_agent

messages_router = APIRouter(prefix="/v1/messages", tags=["messages"], route_class=MessageRoute)
router = APIRouter(prefix="/v1/captures", tags=["messages"])

CapturePath = Annotated[
    UUID,
    Path(description="`capture_id`: paste one from the answer to POST /v1/messages, or a list."),
]

_FOLLOW = document_links("capture_id", "capture_id", "get_capture", "undo_capture")


@messages_router.post(
    "",
    responses={
        200: {"model": CaptureAnswer | BriefCaptureAnswer, "links": _FOLLOW},
        202: {
            "model": CaptureAnswer | BriefCaptureAnswer,
            "description": "The messages are stored; a worker reads their facts",
        },
        **document_problems(*BODY, *WRITE),
    },
    response_model=None,
    description=(
        "Store messages of a session, and the facts that are read from them.\n"
        "\n"
        "The messages are stored first. A short call that the network reads is answered with the "
        "facts. A long one is finished by a worker, and so is what a model reads, together with "
        "the next messages of the session: ask for the capture. A message whose id the session has "
        "already is not stored again."
    ),
)
async def capture(
    services: ServicesDep,
    caller: CallerDep,
    body: Annotated[MessagesRequest, Body(openapi_examples=examples.MESSAGES)],
    redacted: RedactedDep,
    view: ViewDep = View.FULL,
) -> Response:

    def render(report: CaptureReport) -> Response:
        is_pending = report.capture.state is CaptureState.PENDING and not report.dry_run
        answer = CaptureAnswer.from_report(report, services.half_lives)
        return respond_with_answer(answer, 202 if is_pending else 200, view=view)

    ceiling = caller.rights.trust_ceiling
    request = body.to_capture_request(
        extract=services.messages.choose_extractor(body.extract),
        trust=min(services.settings.capture_trust, ceiling),
        may_end_stated=ceiling >= DEFAULT_TRUST,
        model_waits=not services.settings.capture_quiet_seconds,
        redacted=redacted,
    )
    report = await services.captures.capture(caller.build_call(render), request)
    return render(report)


@router.get(
    "", responses={200: {"model": CapturesAnswer | BriefCapturesAnswer}}, response_model=None
)
async def list_captures(
    services: ServicesDep, agent: AgentDep, query: Annotated[CapturesQuery, Query()]
) -> Response:
    """List the calls that stored messages, newest first, and how far each is read."""
    async with begin_for_agent(services.engine, agent) as connection:
        rows = await captures.list_captures(
            connection,
            agent,
            session_id=query.session_id,
            state=query.state,
            limit=query.limit + 1,
            after=decode_position(query.cursor),
        )
    items = [ListedCapture.from_row(row) for row in rows[: query.limit]]
    next_cursor = build_next_cursor(rows, query.limit)
    answer = CapturesAnswer.model_construct(items=items, next_cursor=next_cursor)
    return respond_with_answer(answer, view=query.view)


@router.get(
    "/{capture_id}",
    responses={200: {"model": CaptureAnswer | BriefCaptureAnswer}, **document_problems(404)},
    response_model=None,
)
async def get_capture(
    services: ServicesDep,
    agent: AgentDep,
    capture_id: CapturePath,
    view: ViewDep = View.FULL,
) -> Response:
    """Read the messages of a call, how far they are read, and the facts of each."""
    report = await services.captures.get_report(agent, capture_id)
    answer = CaptureAnswer.from_report(report, services.half_lives)
    return respond_with_answer(answer, view=view)


@router.post(
    "/{capture_id}/undo",
    responses={
        200: {"model": RevertsAnswer | BriefRevertsAnswer},
        **document_problems(*BODY, 404, *WRITE),
    },
    response_model=None,
    description=(
        "Undo what the facts of a capture did: all that stands, newest first, all or none. Its "
        "messages stay."
    ),
)
async def undo_capture(
    services: ServicesDep,
    caller: CallerDep,
    capture_id: CapturePath,
    body: Annotated[UndoRequest | None, Body(openapi_examples=examples.UNDO)] = None,
    view: ViewDep = View.FULL,
) -> Response:
    body = body or UndoRequest.model_validate({})

    def render(reverts: list[RevertedOperation]) -> Response:
        answer = RevertsAnswer.from_reverts(reverts, services.half_lives, dry_run=body.dry_run)
        return respond_with_answer(answer, view=view)

    reverts = await services.captures.undo_capture(
        caller.build_call(render), capture_id, cascade=body.cascade, dry_run=body.dry_run
    )
    return render(reverts)
