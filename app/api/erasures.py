"""Erasing a chain, a session or a whole agent."""

from typing import Annotated

from fastapi import APIRouter, Body
from starlette.responses import Response

from app.api import examples
from app.api.answers.erasures import ErasureAnswer
from app.api.deps import ServicesDep
from app.api.idempotency import CallerDep
from app.api.openapi import BODY, WRITE, document_problems
from app.api.responses import respond_with_answer
from app.api.schemas.erasures import ErasureRequest
from app.domain.errors import InvalidFact
from app.services.erasures import Receipt

router = APIRouter(prefix="/v1/erasures", tags=["erasures"])


@router.post(
    "",
    responses={200: {"model": ErasureAnswer}, **document_problems(*BODY, 404, *WRITE)},
    response_model=None,
    description=(
        "Erase a fact with all versions, a session, or an agent: texts, vectors, "
        "hashes, in the tables and in the log.\n"
        "\n"
        "Intervals stay, so that reads over the hole say `erased`. This cannot be undone."
    ),
)
async def erase(
    services: ServicesDep,
    caller: CallerDep,
    body: Annotated[ErasureRequest, Body(openapi_examples=examples.ERASE)],
) -> Response:
    if body.agent_id is not None and body.agent_id != caller.agent:
        raise InvalidFact(
            f"agent_id ({body.agent_id}) is not the agent of this call ({caller.agent}); "
            "repeat it to confirm."
        )
    call = caller.build_call(render_erasure_retry)
    receipt = await services.erasures.erase_scope(call, body.to_scope(), cascade=body.cascade)
    return render_erasure(receipt)


def render_erasure(receipt: Receipt) -> Response:
    return respond_with_answer(ErasureAnswer.from_receipt(receipt))


def render_erasure_retry(receipt: Receipt) -> Response:
    """Answer a retry: the key of the receipt is answered only once."""
    return respond_with_answer(ErasureAnswer.from_receipt(receipt, shows_key=False))
