"""Creating, listing, trying and removing webhooks.

Creating takes no Idempotency-Key: the stored answer would hold the secret.
"""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Body, Path, Query
from starlette.responses import Response

from app.api import examples
from app.api.answers.webhooks import (
    DeliveryOut,
    NewWebhookOut,
    WebhookOut,
    WebhooksAnswer,
    WebhookWithDeliveriesOut,
)
from app.api.deps import ActorDep, AgentHeader, ServicesDep
from app.api.openapi import BODY, document_links, document_problems
from app.api.responses import respond_with_answer
from app.api.schemas.webhooks import WebhookRequest, WebhooksQuery
from app.domain.webhooks import WebhookId

router = APIRouter(prefix="/v1/webhooks", tags=["webhooks"])

WebhookPath = Annotated[
    UUID, Path(description="`id` of a webhook: paste one from the answer to a POST, or the list.")
]

_BEGINNING = UUID(int=0)
_LEADS_TO = document_links("id", "webhook_id", "get_webhook", "ping_webhook", "delete_webhook")


@router.post(
    "",
    status_code=201,
    responses={201: {"model": NewWebhookOut, "links": _LEADS_TO}, **document_problems(*BODY, 409)},
    response_model=None,
    description=(
        "Send events to an address from now on, signed as Standard Webhooks says. The secret "
        "is shown only in this answer. The key of the call must be for the agents, and the webhook "
        "ends with it."
    ),
)
async def create_webhook(
    services: ServicesDep,
    actor: ActorDep,
    body: Annotated[WebhookRequest, Body(openapi_examples=examples.NEW_WEBHOOK)],
    agent: AgentHeader = None,
) -> Response:
    new = await services.webhooks.create_webhook(
        actor,
        agents=body.agents or actor.rights.choose_agent(agent),
        url=body.url,
        operations=tuple(dict.fromkeys(body.operations)),
    )
    return respond_with_answer(NewWebhookOut.from_new(new), 201)


@router.get("", responses={200: {"model": WebhooksAnswer}}, response_model=None)
async def list_webhooks(
    services: ServicesDep, actor: ActorDep, query: Annotated[WebhooksQuery, Query()]
) -> Response:
    """List webhooks of agents that the key of the call is for, without their secrets."""
    listed = await services.webhooks.list_webhooks(
        actor, limit=query.limit + 1, after=query.cursor or _BEGINNING
    )
    items = [WebhookOut.from_webhook(webhook) for webhook in listed[: query.limit]]
    next_cursor = str(items[-1].id) if len(listed) > query.limit else None
    return respond_with_answer(WebhooksAnswer.model_construct(items=items, next_cursor=next_cursor))


@router.get(
    "/{webhook_id}",
    responses={200: {"model": WebhookWithDeliveriesOut}, **document_problems(404)},
    response_model=None,
)
async def get_webhook(services: ServicesDep, actor: ActorDep, webhook_id: WebhookPath) -> Response:
    """Read a webhook, whether it works, and what became of its last messages."""
    state = await services.webhooks.get_webhook(actor, WebhookId(webhook_id))
    return respond_with_answer(WebhookWithDeliveriesOut.from_state(state))


@router.delete(
    "/{webhook_id}",
    responses={200: {"model": WebhookOut}, **document_problems(404)},
    response_model=None,
)
async def delete_webhook(
    services: ServicesDep, actor: ActorDep, webhook_id: WebhookPath
) -> Response:
    """Remove a webhook, with its secret and its deliveries."""
    webhook = await services.webhooks.delete_webhook(actor, WebhookId(webhook_id))
    return respond_with_answer(WebhookOut.from_webhook(webhook))


@router.post(
    "/{webhook_id}/ping",
    responses={200: {"model": DeliveryOut}, **document_problems(404)},
    response_model=None,
)
async def ping_webhook(services: ServicesDep, actor: ActorDep, webhook_id: WebhookPath) -> Response:
    """Send a message of type `ping` now, once, and answer what became of it."""
    delivery = await services.webhooks.ping_webhook(actor, WebhookId(webhook_id))
    return respond_with_answer(DeliveryOut.from_delivery(delivery))


@router.post(
    "/{webhook_id}/enable",
    responses={200: {"model": WebhookOut}, **document_problems(404, 409)},
    response_model=None,
)
async def enable_webhook(
    services: ServicesDep, actor: ActorDep, webhook_id: WebhookPath
) -> Response:
    """Let a webhook go on at once, if it is disabled or waits for its next try. One that ended
    with its key goes on with the key of the call."""
    webhook = await services.webhooks.enable_webhook(actor, WebhookId(webhook_id))
    return respond_with_answer(WebhookOut.from_webhook(webhook))
