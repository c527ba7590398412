"""A capture: the messages of one call, and how facts are read from them."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from app.domain.talk import Role


class ExtractBy(StrEnum):
    """What reads facts from messages. OFF stores the messages and reads nothing."""

    NETWORK = "network"
    MODEL = "model"
    OFF = "off"


class CaptureState(StrEnum):
    """How a capture stands; the last two are final."""

    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Message:
    """A message as a caller sends it. Without `at`, it was said when it arrived.

    The offset of `at` says in which zone.
    """

    role: Role
    content: str
    id: str | None = None
    name: str | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class CaptureRequest:
    """The messages of one call, in the order in which they were said.

    With `split`, a sentence that the network reads becomes as many facts as it states. `trust` is
    that of every fact, 0 to 100. If the facts `may_end_stated` ones, they end what was stated with
    ordinary trust where that is very sure. A call that does not wait for its facts is answered at
    once, and a worker reads the messages together with those that follow. A dry run writes nothing.
    `redacted` counts the secrets that were taken out of the messages. Without `session_id`, the
    messages make a session of their own.
    """

    session_id: str | None
    messages: tuple[Message, ...]
    extract: ExtractBy
    split: bool
    trust: int
    may_end_stated: bool
    waits: bool = True
    dry_run: bool = False
    redacted: int = 0
