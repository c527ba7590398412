"""Creating, listing and removing webhooks, and trying them out."""

import base64
import json
import logging
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from uuid_utils.compat import uuid7

from app.domain.errors import (
    AddressNotAllowed,
    AgentForbidden,
    KeyEnded,
    TooManyWebhooks,
    UnknownWebhook,
)
from app.domain.keys import ANONYMOUS, ROOT, Actor
from app.domain.relation import Operation
from app.domain.webhooks import PING, Delivery, UnreadableAgent, Webhook, WebhookId
from app.remote.public_http import AddressRefused
from app.remote.webhooks import WebhookSender
from app.store import keys, webhooks
from app.store.engine import begin_for_keys, read_clock

logger = logging.getLogger(__name__)

SECRET_BYTES = 32
# Webhooks that one key may have. The root key may have any number.
MOST_WEBHOOKS = 100
# Tries, and agents that cannot be read, that are shown with a webhook.
SHOWN = 20


@dataclass(frozen=True, slots=True)
class NewWebhook:
    """A new webhook. `secret` is what its receiver verifies with; it is shown this once."""

    webhook: Webhook
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class WebhookState:
    """A webhook, its last tries, newest first, and agents whose events cannot be read."""

    webhook: Webhook
    deliveries: Sequence[Delivery]
    unreadable: Sequence[UnreadableAgent]


class WebhookKeeper:
    """Keeps webhooks. Nobody sees or changes one that is for agents that their key is not for."""

    def __init__(self, engine: AsyncEngine, sender: WebhookSender) -> None:
        self._engine = engine
        self._sender = sender

    async def create_webhook(
        self, actor: Actor, *, agents: str, url: str, operations: Sequence[Operation]
    ) -> NewWebhook:
        """Store a new webhook and return it with its secret.

        It ends with the key of the actor. Raises AgentForbidden, AddressNotAllowed, KeyEnded and
        TooManyWebhooks.
        """
        if not actor.rights.allows_agent(agents):
            raise AgentForbidden(agents)
        try:
            await self._sender.client.check_address(url)
        except AddressRefused as refused:
            raise AddressNotAllowed(str(refused)) from None
        secret = secrets.token_bytes(SECRET_BYTES)
        async with begin_for_keys(self._engine) as connection:
            actor = await _lock_key(connection, actor)
            if actor not in (ROOT, ANONYMOUS):
                count = await webhooks.count_webhooks(connection, actor)
                if count >= MOST_WEBHOOKS:
                    raise TooManyWebhooks(MOST_WEBHOOKS)
            webhook = Webhook(
                id=WebhookId(uuid7()),
                agents=agents,
                url=url,
                operations=tuple(operations),
                secret=secret,
                created_at=await read_clock(connection),
                created_by=actor.name,
                expires_at=actor.expires_at,
            )
            await webhooks.insert_webhook(connection, webhook)
        _log_change("a webhook was created", actor, webhook.id)
        return NewWebhook(webhook, f"whsec_{base64.b64encode(secret).decode()}")

    async def list_webhooks(self, actor: Actor, *, limit: int, after: UUID) -> list[Webhook]:
        """Return webhooks in order of their ids, beginning after the id `after`."""
        async with begin_for_keys(self._engine) as connection:
            listed = await webhooks.list_webhooks(connection, after=after)
        return [one for one in listed if actor.rights.allows_agent(one.agents)][:limit]

    async def get_webhook(self, actor: Actor, webhook_id: WebhookId) -> WebhookState:
        """Return a webhook and how it fares. Raises UnknownWebhook."""
        async with begin_for_keys(self._engine) as connection:
            webhook = await _lock_webhook(connection, actor, webhook_id)
            deliveries = await webhooks.list_deliveries(connection, webhook_id, limit=SHOWN)
            unreadable = await webhooks.list_unreadable(connection, webhook_id, limit=SHOWN)
            return WebhookState(webhook, deliveries, unreadable)

    async def count_unreadable_agents(self) -> int:
        """Return how many agents have events that some webhook cannot read."""
        async with begin_for_keys(self._engine) as connection:
            return await webhooks.count_unreadable(connection)

    async def delete_webhook(self, actor: Actor, webhook_id: WebhookId) -> Webhook:
        """Remove a webhook. Raises UnknownWebhook."""
        async with begin_for_keys(self._engine) as connection:
            webhook = await _lock_webhook(connection, actor, webhook_id)
            await webhooks.delete_webhook(connection, webhook_id)
        _log_change("a webhook was removed", actor, webhook_id)
        return webhook

    async def enable_webhook(self, actor: Actor, webhook_id: WebhookId) -> Webhook:
        """Let a webhook go on from where it was, at once. Raises UnknownWebhook.

        One that ended with its key goes on as the actor's. Raises KeyEnded too.
        """
        async with begin_for_keys(self._engine) as connection:
            actor = await _lock_key(connection, actor)
            await _lock_webhook(connection, actor, webhook_id)
            return await webhooks.enable_webhook(connection, webhook_id, actor)

    async def ping_webhook(self, actor: Actor, webhook_id: WebhookId) -> Delivery:
        """Send a message that says nothing, and return what became of it. Raises UnknownWebhook."""
        async with begin_for_keys(self._engine) as connection:
            webhook = await _lock_webhook(connection, actor, webhook_id)
        now, ping_id = datetime.now(UTC), uuid7()
        message_id = f"{PING}_{ping_id}"
        body = build_message(PING, now, {"webhook_id": str(webhook_id)})
        answer = await self._sender.send(webhook.url, webhook.secret, message_id, body)
        delivery = Delivery(
            id=ping_id,
            message_id=message_id,
            type=PING,
            agent=None,
            attempt=1,
            at=now,
            answer=answer,
        )
        async with begin_for_keys(self._engine) as connection:
            await _lock_webhook(connection, actor, webhook_id)
            await webhooks.remember_delivery(connection, webhook_id, delivery)
        return delivery


async def _lock_webhook(
    connection: AsyncConnection, actor: Actor, webhook_id: WebhookId
) -> Webhook:
    webhook = await webhooks.lock_webhook(connection, webhook_id)
    if webhook is None or not actor.rights.allows_agent(webhook.agents):
        raise UnknownWebhook(webhook_id)
    return webhook


async def _lock_key(connection: AsyncConnection, actor: Actor) -> Actor:
    """Return the actor with the end of their key as it is now. Raises KeyEnded.

    Whoever revokes or rotates the key waits for the transaction, and then finds its webhook.
    """
    if actor.key_id is None:
        return actor
    key = await keys.lock_key(connection, actor.key_id)
    if key is None or not key.is_valid(await read_clock(connection)):
        raise KeyEnded(actor.key_id)
    return key.actor


def build_message(kind: str, at: datetime, data: dict[str, object]) -> str:
    """Return the body of a message, as Standard Webhooks has it."""
    return json.dumps({"type": kind, "timestamp": at.isoformat(), "data": data})


def _log_change(what: str, actor: Actor, webhook_id: WebhookId) -> None:
    logger.info(what, extra={"webhook_id": str(webhook_id), "actor": actor.name})
