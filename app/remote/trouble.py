"""What came of asking a server, as a value: why there is no reply, what asking cost, and what an error's body says."""

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

MAX_DETAIL = 300


class Reason(StrEnum):
    """Why there is no reply; one word each, for logs and metrics."""

    BUSY = "busy"  # no free place among the concurrent calls in time
    CIRCUIT_OPEN = "circuit_open"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    UNAUTHORIZED = "unauthorized"
    REJECTED = "rejected"  # another 4xx: about this request
    TOO_LARGE = "too_large"
    MALFORMED = "malformed"  # not what was asked for
    REFUSAL = "refusal"
    CUT_OFF = "cut_off"  # the token limit was reached
    EMPTY = "empty"


PASSING = {Reason.TIMEOUT, Reason.UNREACHABLE, Reason.RATE_LIMITED, Reason.SERVER_ERROR}
NEVER_SENT = {Reason.CIRCUIT_OPEN, Reason.BUSY}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """What asking cost: HTTP calls, tokens as counted by the server (0 where it does not say), milliseconds in all."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Trouble(CallOutcome):
    """There is no reply: a word for machines, a sentence for people, and the seconds that the server asked to be left alone for."""

    reason: Reason
    detail: str
    wait: float | None = None


def find_error_message(body: bytes) -> str:
    """What an error's body says, if it says so in one of the usual ways; bounded, else empty."""
    error = field_of(parse_json(body), "error")
    message = error if isinstance(error, str) else field_of(error, "message")
    return put_on_one_line(message)[:MAX_DETAIL] if isinstance(message, str) else ""


def put_on_one_line(text: str) -> str:
    """The text on one line, without what cannot be shown or stored."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def format_detail(words: str) -> str:
    """Foreign words as the end of a sentence: after a colon, bounded; nothing where there are none."""
    words = put_on_one_line(words)[:MAX_DETAIL].rstrip(". ")
    return f": {words}" if words else ""


def parse_json(body: bytes) -> Any:
    """The JSON of a body; None where it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def field_of(value: Any, name: str) -> Any:
    """A field of a parsed object; None where there is no such field, or no object."""
    return value.get(name) if isinstance(value, dict) else None
