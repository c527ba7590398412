"""Webhooks: where events are sent, and what becomes of one that fails."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NewType
from uuid import UUID

from app.domain.events import Position
from app.domain.relation import Operation

WebhookId = NewType("WebhookId", UUID)

PING = "ping"

# How long after each failure the next try is made, as Standard Webhooks recommends. After one more
# failure the webhook is disabled.
DELAYS = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=14),
    timedelta(hours=20),
    timedelta(hours=24),
)
# How long after events could not be read they are read again.
UNREADABLE_DELAY = timedelta(minutes=10)
# The answer by which a receiver says that it wants nothing more.
GONE = 410


class DeliveryProblem(StrEnum):
    """Why a message was not taken. No word of what the other side sent is in it."""

    ADDRESS = "the address may not be called"
    UNKNOWN_HOST = "the name of the host cannot be resolved"
    UNREACHABLE = "no connection could be made"
    TIMEOUT = "no answer came in time"
    BROKEN = "the connection broke"
    REFUSED = "the answer was not a success"


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one try: the status of the answer if there was one, and the problem."""

    status: int | None
    problem: DeliveryProblem | None
    duration_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """A webhook as it is stored. `agents` is an agent's id, `acme/*`, or `*`.

    It expires when the key that created it does.
    """

    id: WebhookId
    agents: str
    url: str
    operations: tuple[Operation, ...]
    secret: bytes = field(repr=False)
    created_at: datetime
    created_by: str
    expires_at: datetime | None = None
    failures: int = 0
    next_try_at: datetime | None = None
    disabled_at: datetime | None = None
    disabled_because: str | None = None

    @property
    def beginning(self) -> Position:
        """The place in the log of each agent from which on events are sent."""
        return end_of(self.created_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One try to send a message. `agent` is None for a ping."""

    id: UUID
    message_id: str
    type: str
    agent: str | None
    attempt: int
    at: datetime
    answer: Answer


@dataclass(frozen=True, slots=True)
class UnreadableAgent:
    """An agent whose events a webhook does not get, because they cannot be read."""

    agent: str
    since: datetime
    next_try_at: datetime | None


@dataclass(frozen=True, slots=True)
class RetryDecision:
    """What follows on a failure: another try after a delay, or the end, with its reason."""

    delay: timedelta | None
    disabled_because: str | None


def decide_retry(answer: Answer, failures: int) -> RetryDecision:
    """Return what follows on the last of so many failures in a row."""
    if answer.status == GONE:
        return RetryDecision(None, "The receiver answered that it is gone for good.")
    if failures <= len(DELAYS):
        return RetryDecision(DELAYS[failures - 1], None)
    status = f" (status {answer.status})" if answer.status else ""
    because = f"{failures} tries failed in a row, the last because {answer.problem}{status}."
    return RetryDecision(None, because)


def end_of(time: datetime) -> Position:
    """Return the place behind everything of this known time."""
    return Position(time, UUID(int=2**128 - 1))
