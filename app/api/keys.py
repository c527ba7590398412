"""Issuing, listing, revoking and rotating the keys of callers.

These routes take no Idempotency-Key: the stored answer would hold the secret.
"""

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Path, Query
from starlette.responses import Response

from app.api import examples
from app.api.answers.keys import IssuedKeyOut, KeyOut, KeysAnswer
from app.api.deps import ActorDep, ServicesDep, check_keys_on
from app.api.openapi import BODY, document_links, document_problems
from app.api.responses import respond_with_answer
from app.api.schemas.keys import KEY_ID_PATTERN, KeyRequest, KeysQuery, RotateRequest
from app.api.secrets import SecretFreeRoute
from app.domain.keys import KeyId
from app.services.keys import IssuedKey

router = APIRouter(
    prefix="/v1/keys",
    tags=["keys"],
    route_class=SecretFreeRoute,
    dependencies=[Depends(check_keys_on)],
    responses=document_problems(409),
)

KeyPath = Annotated[
    str,
    Path(
        pattern=KEY_ID_PATTERN,
        description="`id` of a key: paste one from the answer to a POST, or from the list.",
    ),
]

_LEADS_TO = document_links("id", "key_id", "rotate_key", "revoke_key")


@router.post(
    "",
    status_code=201,
    responses={201: {"model": IssuedKeyOut, "links": _LEADS_TO}, **document_problems(*BODY)},
    response_model=None,
    description=(
        "Issue a key. It may do no more than the key of this call, and its secret is shown only in "
        "this answer. 409 without PALIMPSEST_API_KEY."
    ),
)
async def issue_key(
    services: ServicesDep,
    actor: ActorDep,
    body: Annotated[KeyRequest, Body(openapi_examples=examples.NEW_KEY)],
) -> Response:
    issued = await services.keys.issue_key(
        actor, body.name, body.to_rights(), expires_at=body.expires_at
    )
    return _render_issued(issued)


def _render_issued(issued: IssuedKey) -> Response:
    return respond_with_answer(IssuedKeyOut.from_issued(issued), 201)


@router.get("", responses={200: {"model": KeysAnswer}}, response_model=None)
async def list_keys(
    services: ServicesDep, actor: ActorDep, query: Annotated[KeysQuery, Query()]
) -> Response:
    """List keys that may do no more than the key of this call, without their secrets."""
    keys = await services.keys.list_keys(actor, limit=query.limit + 1, after=query.cursor or "")
    items = [KeyOut.from_key(key) for key in keys[: query.limit]]
    next_cursor = items[-1].id if len(keys) > query.limit else None
    return respond_with_answer(KeysAnswer.model_construct(items=items, next_cursor=next_cursor))


@router.delete(
    "/{key_id}",
    responses={200: {"model": KeyOut}, **document_problems(404)},
    response_model=None,
)
async def revoke_key(services: ServicesDep, actor: ActorDep, key_id: KeyPath) -> Response:
    """Revoke a key. Within a second no process takes it any more; it stays in the list."""
    key = await services.keys.revoke_key(actor, KeyId(key_id))
    return respond_with_answer(KeyOut.from_key(key))


@router.post(
    "/{key_id}/rotate",
    status_code=201,
    responses={201: {"model": IssuedKeyOut, "links": _LEADS_TO}, **document_problems(*BODY, 404)},
    response_model=None,
    description=(
        "Replace a key: the new one has another id and secret, and the same name, rights and "
        "length of life. The old one ends after `overlap` seconds."
    ),
)
async def rotate_key(
    services: ServicesDep,
    actor: ActorDep,
    key_id: KeyPath,
    body: Annotated[RotateRequest | None, Body(openapi_examples=examples.ROTATE)] = None,
) -> Response:
    body = body or RotateRequest.model_validate({})
    issued = await services.keys.rotate_key(actor, KeyId(key_id), overlap=body.to_overlap())
    return _render_issued(issued)
