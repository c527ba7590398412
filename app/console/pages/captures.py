"""Captures: the messages of a call, the facts that were read from them, and what was skipped."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from starlette.responses import Response

from app.console.page_call import PageCall

PAGE = 50
# Messages, facts and skipped parts together.
MOST_ROWS = 100
_FILTERS = ("session_id", "state")

Message = Mapping[str, Any]

# Why a part of a message became no fact, by the name of the reason.
REASONS = {
    "event": "happened once",
    "question": "a question",
    "wish": "a wish, or only supposed",
    "quotation": "somebody else's words",
    "small_talk": "small talk",
    "code": "code",
    "table": "a table",
    "log": "output of a program",
    "request": "a request",
    "assistant": "by the assistant, not the user",
    "other_role": "neither by the user nor by the assistant",
    "repeated_context": "the memory's own words",
    "unsupported": "not supported by the words",
    "unclear_pronoun": "unclear who or what it is about",
    "redacted": "a secret, taken out",
    "left_out": "no text, or too long",
    "not_personal": "not about the user",
    "no_statement": "states nothing",
    "language_not_read": "in a language that is not read",
}
# What a person may want to have stored although it was skipped.
_REPAIRABLE = (
    *("event", "wish", "small_talk", "quotation", "request", "unsupported", "unclear_pronoun"),
    *("not_personal", "no_statement", "language_not_read"),
)
# What became of a fact, by the name of the operation.
OUTCOMES = {
    "ADD": "stored",
    "UPDATE": "stored, and ended an earlier one",
    "SUPERSEDE": "stored, and ended an earlier one",
    "MERGE": "merged with another",
    "NOOP": "known already",
    "DELETE": "ended another",
    "AMEND": "corrected another",
    "REVERT": "undid an operation",
    "ERASE": "erased",
}
STATES = {"pending": "being read", "done": "read", "failed": "failed"}


@dataclass(frozen=True, slots=True)
class Span:
    """Characters of a message: the number of the fact that quotes them, or why it was skipped."""

    start: int
    end: int
    number: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a message: quoted, skipped or neither.

    `notes` are the numbers of the facts whose quotes end with it, `reason` why it was skipped.
    """

    text: str
    look: str
    notes: tuple[int, ...]
    reason: str = ""


async def show(call: PageCall) -> Response:
    """List the captures of the agent, newest first."""
    filters = call.pick_parameters(_FILTERS)
    wanted: dict[str, Any] = {name: filters.get(name) for name in _FILTERS}
    cursor = call.parameters.get("cursor")
    page = await call.client.list_captures(limit=PAGE, cursor=cursor, **wanted).page()
    return call.render(
        "captures.html",
        captures=page["items"],
        more=page["next_cursor"],
        filters=filters,
        states=STATES,
    )


async def show_capture(call: PageCall) -> Response:
    """Show the messages of a capture, and what was read from each."""
    capture = await call.client.get_capture(call.request.path_params["capture_id"])
    messages: list[Message] = list(capture["messages"])
    end = find_end(messages, call.first)
    numbers = number_facts(messages)
    shown = []
    for message in messages[call.first : end]:
        parts = split_message(message, messages, numbers)
        quoted = {number for part in parts for number in part.notes}
        before = numbers[message["position"]]
        own = range(before + 1, before + 1 + len(message["facts"]))
        shown.append((message, parts, [number for number in own if number not in quoted]))
    has_stored = any(fact["log_id"] for message in messages for fact in message["facts"])
    return call.render(
        "capture.html",
        capture=capture,
        messages=shown,
        facts=dict(enumerate((fact for one in messages for fact in one["facts"]), 1)),
        next_first=end if end < len(messages) else None,
        most=MOST_ROWS,
        reasons=REASONS,
        repairable=_REPAIRABLE,
        outcomes=OUTCOMES,
        states=STATES,
        may_undo=call.may("review") and has_stored,
    )


def find_end(messages: Sequence[Message], first: int) -> int:
    """Return the end of the page that begins with message `first`: one message, or all that fit."""
    rows, end = 0, first
    while end < len(messages):
        rows += 1 + len(messages[end]["facts"]) + len(messages[end]["skipped"])
        if rows > MOST_ROWS and end > first:
            break
        end += 1
    return end


def number_facts(messages: Iterable[Message]) -> dict[int, int]:
    """Return the number before that of the first fact, by the position of its message."""
    numbers, count = {}, 0
    for message in messages:
        numbers[message["position"]] = count
        count += len(message["facts"])
    return numbers


def split_message(
    message: Message, messages: Iterable[Message], numbers: Mapping[int, int]
) -> list[Part]:
    """Return the parts of a message, cut where quotes and skipped parts begin and end."""
    content = message["content"] or ""
    spans = [Span(part["start"], part["end"], reason=part["reason"]) for part in message["skipped"]]
    spans += _list_quotes(message, messages, numbers)
    edges = {0, len(content)}
    for span in spans:
        edges |= {span.start, span.end}
    places = sorted(edge for edge in edges if edge <= len(content))
    return [_build_part(content, start, end, spans) for start, end in pairwise(places)]


def _list_quotes(
    message: Message, messages: Iterable[Message], numbers: Mapping[int, int]
) -> list[Span]:
    """Return what facts quote of a message; a confirmed proposal is quoted by a later message."""
    spans = []
    for other in messages:
        first = numbers[other["position"]] + 1
        for number, fact in enumerate(other["facts"], first):
            for quote in fact["quotes"]:
                if _is_of(quote, message, other):
                    spans.append(Span(quote["start"], quote["end"], number))
    return spans


def _is_of(quote: Mapping[str, Any], message: Message, other: Message) -> bool:
    """Return True if the quote is of the message. `other` is the one whose fact quotes.

    A repeated message has its place in an earlier capture, which is not known here; so its own
    facts' words are compared.
    """
    if quote["capture_id"] != message["capture_id"]:
        return False
    if message["repeated"]:
        words = (message["content"] or "")[quote["start"] : quote["end"]]
        return other is message and quote["text"] == words
    return bool(quote["position"] == message["position"])


def _build_part(content: str, start: int, end: int, spans: Iterable[Span]) -> Part:
    covering = [span for span in spans if span.start <= start and end <= span.end]
    notes = sorted({span.number for span in covering if span.end == end and span.number})
    look = ""
    if any(span.number for span in covering):
        look = "quoted"
    elif covering:
        look = "skipped"
    reason = covering[0].reason if look == "skipped" else ""
    return Part(content[start:end], look, tuple(notes), reason)
