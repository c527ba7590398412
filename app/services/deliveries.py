"""Sending events to webhooks: at least once, and in order for each webhook.

Each process of the service looks every second which webhooks are due, and claims each as captures
are claimed. A worker, which is busy for hours, would send late. Each event that is taken is noted
before the next one is sent; one that is not taken stops its webhook until the next try. An agent
whose log cannot be read is noted too, and holds up no other agent. Keys take turns, and the
webhooks of each key do, with one event a turn: a receiver that answers slowly slows no other.
"""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from uuid_utils.compat import uuid7

from app.domain.agent import AgentId
from app.domain.events import Event
from app.domain.webhooks import Delivery, Webhook, WebhookId, decide_retry, end_of
from app.fair_places import FairPlaces, Party, find_party
from app.remote.webhooks import WebhookSender
from app.services.background_tasks import BackgroundTasks
from app.services.webhooks import build_message
from app.store import webhooks
from app.store.engine import begin_as_operator, begin_for_agent, begin_for_keys
from app.store.log import events
from app.store.log.events import Selection
from app.store.webhooks import DueWebhook
from app.turns import serve_request

logger = logging.getLogger(__name__)

LOOK_EVERY = 1.0  # seconds
# Events that one process sends at a time. One key alone has half of these places.
AT_ONCE = 32
# Webhooks that one process serves at a time. Most of them wait for their turns.
MOST_SERVED = 1_000
MOST_SERVED_OF_KEY = 50
PAGE = 100


class Stopped(Exception):
    """A message was not taken, or another runner has the webhook. This runner sends no more."""


class Deliverer:
    """Sends the events of agents to their webhooks."""

    def __init__(self, engine: AsyncEngine, sender: WebhookSender) -> None:
        self._engine = engine
        self._sender = sender
        self._places = FairPlaces("delivery", AT_ONCE, queue=MOST_SERVED, patience=None)
        self._running = BackgroundTasks[tuple[str, WebhookId]]()  # by key and webhook

    @asynccontextmanager
    async def deliver_in_background(self) -> AsyncIterator[None]:
        """Deliver what is due during the block. What is under way at its end is broken off."""
        async with self._running.work_beside(self._keep_looking()):
            yield

    async def _keep_looking(self) -> None:
        while True:
            with serve_request("", is_short=True):
                await self._start_due()
            await asyncio.sleep(LOOK_EVERY)

    async def _start_due(self) -> None:
        try:
            due = await self._list_due()
        except Exception as problem:
            logger.warning("Webhooks cannot be looked at: %s", type(problem).__name__)
            return
        running = set(self._running)
        running_of = Counter(key for key, _ in running)
        for webhook in due:
            key = _find_party(webhook).key
            has_room = len(self._running) < MOST_SERVED and running_of[key] < MOST_SERVED_OF_KEY
            if has_room and (key, webhook.id) not in running:
                self._running.start((key, webhook.id), self._serve(webhook))
                running_of[key] += 1

    async def deliver_due(self) -> None:
        """Deliver what is due now, and return when each webhook has all or has failed."""
        for webhook in await self._list_due():
            await self._serve(webhook)

    async def _list_due(self) -> Sequence[DueWebhook]:
        async with begin_as_operator(self._engine) as connection:
            return await webhooks.list_due(connection)

    async def _serve(self, due: DueWebhook) -> None:
        """Send a webhook what is due of its agents, if no other runner has it."""
        try:
            async with self._claim(due.id) as service:
                for agent, last_known_at in due.writes:
                    await service.serve_agent(agent, last_known_at)
        except Stopped:
            return
        except Exception as problem:
            logger.warning("A webhook could not be served: %s", type(problem).__name__)

    @asynccontextmanager
    async def _claim(self, webhook_id: WebhookId) -> AsyncIterator["_Service"]:
        """Claim a webhook during the block. Raises Stopped if another runner has it."""
        runner = uuid7()
        async with begin_for_keys(self._engine) as connection:
            webhook = await webhooks.claim_webhook(connection, webhook_id, runner)
        if webhook is None:
            raise Stopped
        try:
            yield _Service(self._engine, self._sender, self._places, webhook, runner)
        finally:
            async with begin_for_keys(self._engine) as connection:
                await webhooks.release_webhook(connection, webhook_id, runner)


class _Service:
    """One claim of a webhook by a runner."""

    def __init__(
        self,
        engine: AsyncEngine,
        sender: WebhookSender,
        places: FairPlaces,
        webhook: Webhook,
        runner: UUID,
    ) -> None:
        self._engine = engine
        self._sender = sender
        self._places = places
        self._webhook = webhook
        self._runner = runner
        self._failures = webhook.failures

    async def serve_agent(self, agent: AgentId, last_known_at: datetime) -> None:
        """Send the events of an agent, at least up to a known time that was seen.

        Everything up to that time is seen now, as writes are seen in the order of their times. If
        the events cannot be read, note that and try again later.
        """
        webhook_id = self._webhook.id
        selection = Selection(PAGE, self._webhook.operations)
        try:
            async with begin_for_keys(self._engine) as connection:
                position = await webhooks.find_position(connection, webhook_id, agent)
            position = position or self._webhook.beginning
            page: list[Event] | None = None
            while page is None or len(page) == PAGE:
                async with begin_for_agent(self._engine, agent) as connection:
                    page = await events.list_events(connection, agent, position, selection)
                for event in page:
                    await self._send_event(agent, event)
                    position = event.position
            end = max(position, end_of(last_known_at))
            async with begin_for_keys(self._engine) as connection:
                await webhooks.set_position(connection, webhook_id, self._runner, agent, end)
        except Stopped:
            raise
        except Exception as problem:
            extra = {"webhook_id": str(webhook_id), "unreadable_agent": agent}
            kind = type(problem).__name__
            logger.warning("the events of an agent cannot be read: %s", kind, extra=extra)
            async with begin_for_keys(self._engine) as connection:
                await webhooks.note_unreadable(connection, self._webhook, self._runner, agent)

    async def _send_event(self, agent: AgentId, event: Event) -> None:
        """Send an event when it is the webhook's turn. Raises Stopped if it is not taken."""
        webhook, message_id, party = self._webhook, str(event.id), _find_party(self._webhook)
        async with self._places.hold(party):
            with serve_request(party.key, is_short=True):
                async with self._hold_lease():
                    pass
                kind, at = f"operation.{event.operation.lower()}", datetime.now(UTC)
                body = build_message(kind, event.at, {"agent_id": agent, **encode_event(event)})
                answer = await self._sender.send(webhook.url, webhook.secret, message_id, body)
        delivery = Delivery(
            id=uuid7(),
            message_id=message_id,
            type=kind,
            agent=agent,
            attempt=self._failures + 1,
            at=at,
            answer=answer,
        )
        if answer.problem is not None:
            await self._note_failure(delivery)
            raise Stopped
        self._failures = 0
        async with self._hold_lease() as connection:
            await webhooks.record_success(connection, webhook.id)
            await webhooks.set_position(connection, webhook.id, self._runner, agent, event.position)
            await webhooks.remember_delivery(connection, webhook.id, delivery)

    @asynccontextmanager
    async def _hold_lease(self) -> AsyncIterator[AsyncConnection]:
        """Renew the lease, and write in the same transaction. Raises Stopped if it is lost."""
        async with begin_for_keys(self._engine) as connection:
            if not await webhooks.renew_lease(connection, self._webhook.id, self._runner):
                raise Stopped
            yield connection

    async def _note_failure(self, delivery: Delivery) -> None:
        decision = decide_retry(delivery.answer, delivery.attempt)
        # Receivers that were down together are not called together again.
        delay = decision.delay and decision.delay * random.uniform(1, 1.2)  # noqa: S311
        webhook_id = self._webhook.id
        reason = decision.disabled_because
        async with self._hold_lease() as connection:
            await webhooks.record_failure(
                connection, webhook_id, self._runner, delay=delay, reason=reason
            )
            await webhooks.remember_delivery(connection, webhook_id, delivery)
        if reason:
            extra = {"webhook_id": str(webhook_id)}
            logger.warning("a webhook is disabled: %s", reason, extra=extra)


def _find_party(webhook: Webhook | DueWebhook) -> Party:
    """Return whose turn a webhook has: its key's, or its agents' if the root key created it."""
    return Party(find_party(webhook.created_by, webhook.agents).key, str(webhook.id))


def encode_event(event: Event) -> dict[str, object]:
    """Return the event as JSON has it, the same as readers of the feed get it."""
    return {name: _encode_value(value) for name, value in asdict(event).items()}


def _encode_value(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    if isinstance(value, list):
        return [str(one) for one in value]
    return str(value) if isinstance(value, UUID) else value
