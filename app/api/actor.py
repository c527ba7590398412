"""Who calls: what a program must know of its own key."""

from fastapi import APIRouter, Depends
from starlette.responses import Response

from app.api.answers.actor import ActorOut
from app.api.deps import ActorDep, document_key
from app.api.openapi import document_problems
from app.api.responses import respond_with_answer

# Every right key may ask, whatever its scopes are.
router = APIRouter(prefix="/v1/actor", tags=["keys"], dependencies=[Depends(document_key)])


@router.get(
    "",
    responses={200: {"model": ActorOut}, **document_problems(401, 403, 429, 500, 503)},
    response_model=None,
    description="Read who calls with this key, what the key allows, and until when.",
)
async def get_actor(actor: ActorDep) -> Response:
    return respond_with_answer(ActorOut.from_actor(actor))
