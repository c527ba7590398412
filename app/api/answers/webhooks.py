"""Answers of the routes of webhooks."""

from typing import Any, Self
from uuid import UUID

from pydantic import Field

from app.api.answers.base import AnswerBase
from app.api.times import Time
from app.domain.relation import Operation
from app.domain.webhooks import Delivery, Webhook
from app.services.webhooks import NewWebhook, WebhookState


class DeliveryOut(AnswerBase):
    """One try to send a message."""

    message_id: str = Field(description="The header `webhook-id`: the id of the event.")
    type: str = Field(description="`ping`, or `operation.` and the operation.")
    agent_id: str | None = Field(description="Whose event it was; null for a ping.")
    attempt: int = Field(description="Which try of this message it was, from 1.")
    at: Time = Field(description="When it was sent.")
    status: int | None = Field(description="The status of the answer; null: there was none.")
    problem: str | None = Field(description="Why it was not taken; null: it was.")
    duration_ms: float = Field(description="How long it took, in milliseconds.")

    @classmethod
    def from_delivery(cls, delivery: Delivery) -> Self:
        answer = delivery.answer
        return cls.from_attributes(
            delivery,
            agent_id=delivery.agent,
            status=answer.status,
            problem=answer.problem,
            duration_ms=answer.duration_ms,
        )


class WebhookOut(AnswerBase):
    """A webhook, without its secret."""

    id: UUID
    url: str = Field(description="Where events are sent.")
    agents: str = Field(description="Whose events: an agent's id, `acme/*`, or `*` for all.")
    operations: list[Operation] = Field(description="Only events of these; empty: all.")
    created_at: Time
    created_by: str = Field(description="Who created it, as `actor` in the log.")
    expires_at: Time | None = Field(
        description="When its key ends, and the webhook with it; null: its key has no end."
    )
    failures: int = Field(description="How many tries failed in a row.")
    next_try_at: Time | None = Field(
        description="When what failed is tried again; null: nothing has to wait."
    )
    disabled_at: Time | None = Field(description="When it was disabled; null: it is not.")
    disabled_because: str | None = Field(description="Why it was disabled.")

    @classmethod
    def from_webhook(cls, webhook: Webhook, **more: Any) -> Self:
        return cls.from_attributes(webhook, operations=list(webhook.operations), **more)


class NewWebhookOut(WebhookOut):
    """A new webhook, with its secret."""

    secret: str = Field(
        description="What the receiver verifies signatures with. It is shown only here."
    )

    @classmethod
    def from_new(cls, new: NewWebhook) -> Self:
        return cls.from_webhook(new.webhook, secret=new.secret)


class UnreadableAgentOut(AnswerBase):
    """An agent whose events the webhook does not get, because they cannot be read."""

    agent_id: str
    since: Time = Field(description="When they could not be read for the first time.")
    next_try_at: Time | None = Field(description="When they are read again; null: at once.")


class WebhookWithDeliveriesOut(WebhookOut):
    """A webhook, its last tries, and the agents whose events it does not get."""

    deliveries: list[DeliveryOut] = Field(description="The last 20 tries, newest first.")
    unreadable_agents: list[UnreadableAgentOut] = Field(
        description="The first 20 agents whose events cannot be read. `palimpsest doctor` says "
        "what is wrong with an agent; the webhook gets the events of all others."
    )

    @classmethod
    def from_state(cls, state: WebhookState) -> Self:
        tries = [DeliveryOut.from_delivery(delivery) for delivery in state.deliveries]
        unreadable = [
            UnreadableAgentOut.from_attributes(one, agent_id=one.agent) for one in state.unreadable
        ]
        return cls.from_webhook(state.webhook, deliveries=tries, unreadable_agents=unreadable)


class WebhooksAnswer(AnswerBase):
    """Webhooks in order of their ids."""

    items: list[WebhookOut]
    next_cursor: str | None
