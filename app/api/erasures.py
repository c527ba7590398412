"""Erasing a chain, a session or a whole agent."""

from typing import Annotated

from fastapi import APIRouter, Body
from starlette.responses import Response

from app.api import examples
from app.api.answers.erasures import ErasureAnswer
from app.api.deps import AgentDep, OriginDep, PartsDep
from app.api.idempotency import KeyedDep
from app.api.openapi import BODY, WRITE, document_problems
from app.api.responses import respond_with_answer
from app.api.schemas.erasures import ErasureRequest
from app.domain.errors import InvalidFact
from app.services.agent_write import Call
from app.services.erasures import ErasureScope, Receipt

router = APIRouter(prefix="/v1/erasures", tags=["erasures"])


@router.post(
    "",
    responses={200: {"model": ErasureAnswer}, **document_problems(*BODY, 404, *WRITE)},
    response_model=None,
    description=(
        "Erase every version of a fact, a session, or everything of the agent: texts, vectors, "
        "hashes, in the tables and in the log.\n"
        "\n"
        "Intervals stay, so that reads over the hole say `erased`. This cannot be undone."
    ),
)
async def erase(
    parts: PartsDep,
    agent: AgentDep,
    origin: OriginDep,
    keyed: KeyedDep,
    body: Annotated[ErasureRequest, Body(openapi_examples=examples.ERASE)],
) -> Response:
    if body.agent_id is not None and body.agent_id != agent:
        raise InvalidFact(
            f"agent_id ({body.agent_id}) is not the agent of this call ({agent}); repeat it to confirm."
        )
    scope = ErasureScope(
        chain_id=body.chain_id, session_id=body.session_id, whole_agent=body.agent_id is not None
    )
    call = Call(agent, origin, keyed.plan_replay(render_erasure_retry))
    return render_erasure(await parts.erase.erase_scope(call, scope, cascade=body.cascade))


def render_erasure(receipt: Receipt) -> Response:
    return respond_with_answer(ErasureAnswer.from_receipt(receipt))


def render_erasure_retry(receipt: Receipt) -> Response:
    """What a retry gets: the key of the receipt is told once."""
    return respond_with_answer(ErasureAnswer.from_receipt(receipt, shows_key=False))
