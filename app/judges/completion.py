"""What came of asking a model, as a value: a reply or a trouble. And how a chat completion is read."""

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

MAX_COUNT = 10_000_000
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
    MALFORMED = "malformed"  # not a chat completion
    REFUSAL = "refusal"
    CUT_OFF = "cut_off"  # the token limit was reached
    EMPTY = "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What asking cost: HTTP calls, tokens as counted by the server (0 where it does not say), milliseconds in all."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Reply(Spent):
    """What the model wrote: never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class Trouble(Spent):
    """There is no reply: a word for machines and a sentence for people."""

    reason: Reason
    detail: str


def read_completion(body: bytes) -> Reply | Trouble:
    """The text of a chat completion's first choice. Whatever the bytes are, the result is a value."""
    completion = _parse(body)
    message, finish = _first_choice(completion)
    if message is None:
        return Trouble(Reason.MALFORMED, f"The server's answer is not a chat completion{_said(complaint(body))}.")
    tokens = _tokens(completion)
    if (refusal := message.get("refusal")) or finish == "content_filter":
        words = refusal if isinstance(refusal, str) else ""
        return Trouble(Reason.REFUSAL, f"The model refused to answer{_said(words)}.", **tokens)
    if finish == "length":
        return Trouble(Reason.CUT_OFF, "The model's answer was cut off at the token limit.", **tokens)
    text = message.get("content")
    if not isinstance(text, str) or not text.strip():
        return Trouble(Reason.EMPTY, "The model answered nothing.", **tokens)
    return Reply(text, **tokens)


def complaint(body: bytes) -> str:
    """What an error's body says, if it says so in one of the usual ways; bounded, else empty."""
    error = _field(_parse(body), "error")
    message = error if isinstance(error, str) else _field(error, "message")
    return one_line(message)[:MAX_DETAIL] if isinstance(message, str) else ""


def one_line(text: str) -> str:
    """The text on one line, without what cannot be shown or stored."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _parse(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _first_choice(completion: Any) -> tuple[dict[str, Any] | None, Any]:
    choices = _field(completion, "choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = _field(choice, "message")
    return (message if isinstance(message, dict) else None), _field(choice, "finish_reason")


def _tokens(completion: Any) -> dict[str, Any]:
    usage = _field(completion, "usage")
    return {name: _count(_field(usage, name)) for name in ("prompt_tokens", "completion_tokens")}


def _count(value: Any) -> int:
    return value if type(value) is int and 0 <= value <= MAX_COUNT else 0


def _said(words: str) -> str:
    words = one_line(words)[:MAX_DETAIL].rstrip(". ")
    return f": {words}" if words else ""
