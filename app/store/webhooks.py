"""Webhooks, how far each has come with each agent, and what became of its last messages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.events import Position
from app.domain.keys import Actor
from app.domain.relation import Operation
from app.domain.webhooks import (
    UNREADABLE_DELAY,
    Answer,
    Delivery,
    DeliveryProblem,
    UnreadableAgent,
    Webhook,
    WebhookId,
)
from app.store.engine import fetch_rows
from app.store.fragments import CLOCK, CLOCK_AND_LEASE

# A runner that has not renewed its lease for this long is taken to be dead. A try takes less.
LEASE = timedelta(seconds=60)
# Tries of each webhook that are remembered.
REMEMBERED = 100

_COLUMNS = """
    id, agents, url, operations, secret, created_at, created_by, expires_at,
    failures, next_try_at, disabled_at, disabled_because
"""

# --- webhooks ------------------------------------------------------------------------------------

# Store a new webhook.
_INSERT = """
    INSERT INTO webhooks (
        id, agents, url, operations, secret, created_at, created_by, expires_at, failures
    )
    VALUES (
        :id, :agents, :url, CAST(:operations AS text[]), :secret,
        :created_at, :created_by, :expires_at, 0
    )
"""

# List webhooks in order.
_LIST = f"SELECT {_COLUMNS} FROM webhooks WHERE id > :after ORDER BY id"

# Find a webhook, and let nobody else change it until the transaction ends.
_LOCK = f"SELECT {_COLUMNS} FROM webhooks WHERE id = :id FOR UPDATE"

_DELETE = "DELETE FROM webhooks WHERE id = :id"

# Let a disabled webhook go on from where it was. One that ended with its key is the actor's now.
_ENABLE = f"""
    UPDATE webhooks SET
        failures = 0, next_try_at = NULL, disabled_at = NULL, disabled_because = NULL,
        created_by = CASE WHEN expires_at <= clock.now THEN :actor ELSE created_by END,
        expires_at = CASE
            WHEN expires_at <= clock.now THEN CAST(:actor_expires_at AS timestamptz)
            ELSE expires_at
        END
    FROM {CLOCK}
    WHERE id = :id
    RETURNING {_COLUMNS}
"""

# Let the webhooks of an actor be another actor's, and end when that one does.
_HAND_OVER = f"""
    UPDATE webhooks SET created_by = :new, expires_at = :expires_at
    FROM {CLOCK}
    WHERE created_by = :old AND (expires_at IS NULL OR expires_at > clock.now)
"""

# Let the webhooks of an actor end at a time, unless they end before.
_END = """
    UPDATE webhooks SET expires_at = least(expires_at, :at)
    WHERE created_by = :actor
"""

# Count the webhooks of an actor that have not ended.
_COUNT_OF_ACTOR = f"""
    SELECT count(*) AS webhooks
    FROM webhooks, {CLOCK}
    WHERE created_by = :actor AND (expires_at IS NULL OR expires_at > clock.now)
"""

# Remove the webhooks that are for this agent alone.
_DELETE_OF_AGENT = "DELETE FROM webhooks WHERE agents = :agent"


async def insert_webhook(connection: AsyncConnection, webhook: Webhook) -> None:
    values = {
        "id": webhook.id,
        "agents": webhook.agents,
        "url": webhook.url,
        "operations": list(webhook.operations),
        "secret": webhook.secret,
        "created_at": webhook.created_at,
        "created_by": webhook.created_by,
        "expires_at": webhook.expires_at,
    }
    await fetch_rows(connection, _INSERT, values)


async def list_webhooks(connection: AsyncConnection, *, after: UUID) -> list[Webhook]:
    """Return the webhooks in order of their ids, beginning after the id `after`."""
    return list(map(_to_webhook, await fetch_rows(connection, _LIST, {"after": after})))


async def lock_webhook(connection: AsyncConnection, webhook_id: WebhookId) -> Webhook | None:
    """Return the webhook, which nobody else can change until the transaction ends."""
    rows = await fetch_rows(connection, _LOCK, {"id": webhook_id})
    return _to_webhook(rows[0]) if rows else None


async def delete_webhook(connection: AsyncConnection, webhook_id: WebhookId) -> None:
    await fetch_rows(connection, _DELETE, {"id": webhook_id})


async def enable_webhook(
    connection: AsyncConnection, webhook_id: WebhookId, actor: Actor
) -> Webhook:
    await fetch_rows(connection, _READ_AGAIN, {"webhook": webhook_id})
    values = {"id": webhook_id, "actor": actor.name, "actor_expires_at": actor.expires_at}
    [row] = await fetch_rows(connection, _ENABLE, values)
    return _to_webhook(row)


async def count_webhooks(connection: AsyncConnection, actor: Actor) -> int:
    """Return how many webhooks the actor has that have not ended."""
    [row] = await fetch_rows(connection, _COUNT_OF_ACTOR, {"actor": actor.name})
    count: int = row["webhooks"]
    return count


async def hand_webhooks_over(connection: AsyncConnection, *, old: Actor, new: Actor) -> None:
    """Let the webhooks of one actor, unless they have ended, be those of another one."""
    values = {"old": old.name, "new": new.name, "expires_at": new.expires_at}
    await fetch_rows(connection, _HAND_OVER, values)


async def end_webhooks(connection: AsyncConnection, actor: Actor, *, at: datetime) -> None:
    """Let the webhooks of an actor end at a time, unless they end before."""
    await fetch_rows(connection, _END, {"actor": actor.name, "at": at})


async def delete_webhooks_of_agent(connection: AsyncConnection, agent: AgentId) -> None:
    """Remove the webhooks that are for this agent alone."""
    await fetch_rows(connection, _DELETE_OF_AGENT, {"agent": agent})


def _to_webhook(row: Mapping[str, Any]) -> Webhook:
    operations = tuple(map(Operation, row["operations"]))
    return Webhook(**{**row, "secret": bytes(row["secret"]), "operations": operations})


# --- what is due ---------------------------------------------------------------------------------

# Find the webhooks that may be tried now and that no living runner has, with the agents that were
# written to since they were served last and can be read. `agents` is an id, a beginning and a
# star, or a star. However many agents some webhooks have, each webhook that is due is found.
_DUE = """
    SELECT id, created_by, agents, agent_id, last_known_at
    FROM (
        SELECT
            w.id, w.created_by, w.agents, a.agent_id, a.last_known_at,
            row_number() OVER (PARTITION BY w.id ORDER BY a.last_known_at) AS place
        FROM webhooks w
        JOIN agents a
            ON a.agent_id = w.agents
            OR w.agents = '*'
            OR (
                w.agents LIKE '%/*'
                AND starts_with(a.agent_id, left(w.agents, -1))
                AND a.agent_id <> left(w.agents, -1)
            )
        LEFT JOIN webhook_positions p ON p.webhook_id = w.id AND p.agent = a.agent_id
        WHERE w.disabled_at IS NULL
          AND (w.expires_at IS NULL OR w.expires_at > clock_timestamp())
          AND (w.next_try_at IS NULL OR w.next_try_at <= clock_timestamp())
          AND (w.alive_at IS NULL OR w.alive_at <= clock_timestamp() - CAST(:lease AS interval))
          AND a.last_known_at > coalesce(p.at, w.created_at)
          AND (p.next_try_at IS NULL OR p.next_try_at <= clock_timestamp())
    ) AS due
    ORDER BY place, last_known_at
    LIMIT 1000
"""


@dataclass(frozen=True, slots=True)
class DueWebhook:
    """A webhook that is due, with agents and the known time of the last write of each."""

    id: WebhookId
    created_by: str
    agents: str
    writes: list[tuple[AgentId, datetime]] = field(default_factory=list)


async def list_due(connection: AsyncConnection) -> list[DueWebhook]:
    """Return the webhooks that are due."""
    due: dict[WebhookId, DueWebhook] = {}
    for row in await fetch_rows(connection, _DUE, {"lease": LEASE}):
        webhook = DueWebhook(WebhookId(row["id"]), row["created_by"], row["agents"])
        writes = due.setdefault(webhook.id, webhook).writes
        writes.append((AgentId(row["agent_id"]), row["last_known_at"]))
    return list(due.values())


# Claim a webhook that no living runner has.
_CLAIM = f"""
    UPDATE webhooks SET runner = :runner, alive_at = clock.now
    FROM {CLOCK_AND_LEASE}
    WHERE id = :id AND disabled_at IS NULL AND (expires_at IS NULL OR expires_at > clock.now)
      AND (next_try_at IS NULL OR next_try_at <= clock.now)
      AND (alive_at IS NULL OR alive_at <= clock.lease_end)
    RETURNING {_COLUMNS}
"""

# Renew the lease of a webhook.
_RENEW = f"""
    UPDATE webhooks SET alive_at = clock.now
    FROM {CLOCK}
    WHERE id = :id AND runner = :runner AND disabled_at IS NULL
      AND (expires_at IS NULL OR expires_at > clock.now)
    RETURNING id
"""

# Release a webhook, so that another runner may go on at once.
_RELEASE = "UPDATE webhooks SET alive_at = NULL WHERE id = :id AND runner = :runner"


async def claim_webhook(
    connection: AsyncConnection, webhook_id: WebhookId, runner: UUID
) -> Webhook | None:
    """Claim the webhook. Return None if it is not due any more, or if a living runner has it."""
    values = {"id": webhook_id, "runner": runner, "lease": LEASE}
    rows = await fetch_rows(connection, _CLAIM, values)
    return _to_webhook(rows[0]) if rows else None


async def renew_lease(connection: AsyncConnection, webhook_id: WebhookId, runner: UUID) -> bool:
    """Return False if the webhook is gone, or another runner has it."""
    return bool(await fetch_rows(connection, _RENEW, {"id": webhook_id, "runner": runner}))


async def release_webhook(connection: AsyncConnection, webhook_id: WebhookId, runner: UUID) -> None:
    await fetch_rows(connection, _RELEASE, {"id": webhook_id, "runner": runner})


_FIND_POSITION = """
    SELECT at, id FROM webhook_positions WHERE webhook_id = :webhook AND agent = :agent
"""

# Note how far a webhook has come with an agent, if this runner still has it.
_SET_POSITION = """
    INSERT INTO webhook_positions (webhook_id, agent, at, id)
    SELECT id, :agent, :at, :last_id FROM webhooks WHERE id = :webhook AND runner = :runner
    ON CONFLICT (webhook_id, agent) DO UPDATE SET
        at = excluded.at, id = excluded.id, unreadable_since = NULL, next_try_at = NULL
"""


async def find_position(
    connection: AsyncConnection, webhook_id: WebhookId, agent: AgentId
) -> Position | None:
    """Return how far the webhook has come with the agent, if it has begun."""
    rows = await fetch_rows(connection, _FIND_POSITION, {"webhook": webhook_id, "agent": agent})
    return Position(rows[0]["at"], rows[0]["id"]) if rows else None


async def set_position(
    connection: AsyncConnection,
    webhook_id: WebhookId,
    runner: UUID,
    agent: AgentId,
    position: Position,
) -> None:
    values = {
        "webhook": webhook_id,
        "runner": runner,
        "agent": agent,
        "at": position.at,
        "last_id": position.id,
    }
    await fetch_rows(connection, _SET_POSITION, values)


# Note that the events of an agent cannot be read, and when to try again.
_NOTE_UNREADABLE = """
    INSERT INTO webhook_positions (webhook_id, agent, at, id, unreadable_since, next_try_at)
    SELECT w.id, :agent, :at, :last_id, clock.now, clock.next_try
    FROM webhooks w
    CROSS JOIN (
        SELECT clock_timestamp() AS now, clock_timestamp() + CAST(:delay AS interval) AS next_try
    ) AS clock
    WHERE w.id = :webhook AND w.runner = :runner
    ON CONFLICT (webhook_id, agent) DO UPDATE SET
        unreadable_since = coalesce(
            webhook_positions.unreadable_since, excluded.unreadable_since
        ),
        next_try_at = excluded.next_try_at
"""

# List the agents whose events a webhook cannot read.
_LIST_UNREADABLE = """
    SELECT agent, unreadable_since AS since, next_try_at
    FROM webhook_positions
    WHERE webhook_id = :webhook AND unreadable_since IS NOT NULL
    ORDER BY unreadable_since, agent
    LIMIT :limit
"""

# Let a webhook read the events of such agents at once.
_READ_AGAIN = """
    UPDATE webhook_positions SET next_try_at = NULL
    WHERE webhook_id = :webhook AND unreadable_since IS NOT NULL
"""

# Count the agents whose events some webhook cannot read.
_COUNT_UNREADABLE = """
    SELECT count(DISTINCT agent) AS agents
    FROM webhook_positions
    WHERE unreadable_since IS NOT NULL
"""


async def note_unreadable(
    connection: AsyncConnection, webhook: Webhook, runner: UUID, agent: AgentId
) -> None:
    """Note that the events of the agent cannot be read, if this runner still has the webhook."""
    values = {
        "webhook": webhook.id,
        "runner": runner,
        "agent": agent,
        "at": webhook.beginning.at,
        "last_id": webhook.beginning.id,
        "delay": UNREADABLE_DELAY,
    }
    await fetch_rows(connection, _NOTE_UNREADABLE, values)


async def list_unreadable(
    connection: AsyncConnection, webhook_id: WebhookId, *, limit: int
) -> Sequence[UnreadableAgent]:
    """Return the agents whose events the webhook cannot read, the longest unread first."""
    values = {"webhook": webhook_id, "limit": limit}
    rows = await fetch_rows(connection, _LIST_UNREADABLE, values)
    return [UnreadableAgent(**row) for row in rows]


async def count_unreadable(connection: AsyncConnection) -> int:
    """Return how many agents have events that some webhook cannot read."""
    [row] = await fetch_rows(connection, _COUNT_UNREADABLE, {})
    agents: int = row["agents"]
    return agents


# --- tries ---------------------------------------------------------------------------------------

# Note that a message was taken.
_SUCCEED = "UPDATE webhooks SET failures = 0, next_try_at = NULL WHERE id = :id AND failures > 0"

# Note that a message was not taken, and what follows.
_FAIL = """
    UPDATE webhooks SET
        failures = failures + 1,
        next_try_at = clock.next_try,
        disabled_at = CASE WHEN CAST(:reason AS text) IS NOT NULL THEN clock.now END,
        disabled_because = :reason
    FROM (
        SELECT clock_timestamp() AS now, clock_timestamp() + CAST(:delay AS interval) AS next_try
    ) AS clock
    WHERE id = :id AND runner = :runner
"""

# Remember a try, and forget the oldest ones.
_REMEMBER = """
    INSERT INTO webhook_deliveries (
        webhook_id, id, message_id, type, agent, attempt, at, status, problem, duration_ms
    )
    VALUES (
        :webhook, :id, :message_id, :type, :agent, :attempt, :at, :status, :problem, :duration_ms
    )
"""
_FORGET = """
    DELETE FROM webhook_deliveries
    WHERE webhook_id = :webhook AND id <= (
        SELECT id FROM webhook_deliveries WHERE webhook_id = :webhook
        ORDER BY id DESC
        OFFSET :remembered LIMIT 1
    )
"""

# List the last tries of some webhooks, newest first.
_DELIVERIES = """
    SELECT webhook_id, id, message_id, type, agent, attempt, at, status, problem, duration_ms
    FROM webhook_deliveries
    WHERE webhook_id = :webhook
    ORDER BY id DESC
    LIMIT :limit
"""


async def record_success(connection: AsyncConnection, webhook_id: WebhookId) -> None:
    await fetch_rows(connection, _SUCCEED, {"id": webhook_id})


async def record_failure(
    connection: AsyncConnection,
    webhook_id: WebhookId,
    runner: UUID,
    *,
    delay: timedelta | None,
    reason: str | None,
) -> None:
    """Note a failure: the next try comes after `delay`, or the webhook is disabled for `reason`."""
    values = {"id": webhook_id, "runner": runner, "delay": delay, "reason": reason}
    await fetch_rows(connection, _FAIL, values)


async def remember_delivery(
    connection: AsyncConnection, webhook_id: WebhookId, delivery: Delivery
) -> None:
    """Remember a try."""
    values = {
        "webhook": webhook_id,
        "id": delivery.id,
        "message_id": delivery.message_id,
        "type": delivery.type,
        "agent": delivery.agent,
        "attempt": delivery.attempt,
        "at": delivery.at,
        "status": delivery.answer.status,
        "problem": delivery.answer.problem,
        "duration_ms": delivery.answer.duration_ms,
    }
    await fetch_rows(connection, _REMEMBER, values)
    forgotten = {"webhook": webhook_id, "remembered": REMEMBERED}
    await fetch_rows(connection, _FORGET, forgotten)


async def list_deliveries(
    connection: AsyncConnection, webhook_id: WebhookId, *, limit: int
) -> Sequence[Delivery]:
    """Return the last tries, newest first."""
    values = {"webhook": webhook_id, "limit": limit}
    return list(map(_to_delivery, await fetch_rows(connection, _DELIVERIES, values)))


def _to_delivery(row: Mapping[str, Any]) -> Delivery:
    problem = DeliveryProblem(row["problem"]) if row["problem"] else None
    return Delivery(
        id=row["id"],
        message_id=row["message_id"],
        type=row["type"],
        agent=row["agent"],
        attempt=row["attempt"],
        at=row["at"],
        answer=Answer(row["status"], problem, row["duration_ms"]),
    )
