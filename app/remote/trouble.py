"""Outcomes of asking a server, as values: the trouble, the cost, and the message of an error."""

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

MAX_DETAIL = 300


class Reason(StrEnum):
    """The reason why there is no reply: one word each, for logs and metrics."""

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
    """The cost of asking: HTTP calls, tokens as the server counts them, milliseconds in all.

    Tokens are 0 if the server does not count them.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Trouble(CallOutcome):
    """There is no reply.

    `reason` is a word for machines and `detail` a sentence for people. `wait` is the number of
    seconds that the server asked for, if it did.
    """

    reason: Reason
    detail: str
    wait: float | None = None


def find_error_message(body: bytes) -> str:
    """Return the message in an error's body, bounded, or nothing if its form is unusual."""
    error = field_of(parse_json(body), "error")
    message = error if isinstance(error, str) else field_of(error, "message")
    if not isinstance(message, str):
        return ""
    return put_on_one_line(message)[:MAX_DETAIL]


def put_on_one_line(text: str) -> str:
    """Return the text on one line, with spaces for characters that cannot be shown or stored."""
    printable = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(printable.split())


def format_detail(words: str) -> str:
    """Return foreign words as the end of a sentence: bounded, after a colon, or nothing."""
    words = put_on_one_line(words)[:MAX_DETAIL].rstrip(". ")
    return f": {words}" if words else ""


def parse_json(body: bytes) -> Any:
    """Return the parsed JSON of a body, or None if the body is not JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def field_of(value: Any, name: str) -> Any:
    """Return a field of a parsed object, or None if there is no such field or no object."""
    return value.get(name) if isinstance(value, dict) else None
