"""Outcomes of asking a server, as values: the trouble, the cost, and the message of an error."""

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

MAX_DETAIL = 300

_LENGTH = re.compile(r"max_\w*tokens|\btokens\b|context|length|too (?:long|large)|exceed")
_STATUS = re.compile(r"\d{3}", re.ASCII)


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
    UNREADABLE = "unreadable"  # no answer in the model's text


PASSING = {
    Reason.TIMEOUT,
    Reason.UNREACHABLE,
    Reason.RATE_LIMITED,
    Reason.SERVER_ERROR,
    Reason.EMPTY,
    Reason.UNREADABLE,
}
NEVER_SENT = {Reason.CIRCUIT_OPEN, Reason.BUSY}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """The cost of asking: HTTP calls, tokens of all tries as the server counts them, milliseconds.

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
    document = parse_json(body)
    if isinstance(document, list) and document:
        document = document[0]
    for name in ("error", "message", "detail"):
        if words := put_on_one_line(_join_words(field_of(document, name))):
            return words[:MAX_DETAIL]
    return ""


def _join_words(value: Any, depth: int = 4) -> str:
    """Return the words of a text, or those in a list or object of an error."""
    if isinstance(value, str) or not depth:
        return value if isinstance(value, str) else ""
    if isinstance(value, dict):
        # `loc` and `msg` are FastAPI's, `metadata.raw` has the words of a provider behind a router.
        value = [field_of(value, name) for name in ("loc", "msg", "message", "detail")] + [
            field_of(value.get("metadata"), "raw")
        ]
    return (
        " ".join(_join_words(each, depth - 1) for each in value) if isinstance(value, list) else ""
    )


def find_error_status(body: bytes) -> int | None:
    """Return the status that an error within an answer of status 200 names, if there is one."""
    if b'"error"' not in body:
        return None
    document = parse_json(body)
    choices = field_of(document, "choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    code = field_of(field_of(document, "error") or field_of(choice, "error"), "code")
    number = int(code) if isinstance(code, str) and _STATUS.fullmatch(code) else code
    return number if type(number) is int and 400 <= number <= 599 else None


def is_about_length(complaint: str) -> bool:
    """Return True if an error complains that a text, or the answer asked for, is too long."""
    return _LENGTH.search(complaint.lower()) is not None


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
