"""What was read from messages: the facts, what became of them, and what was skipped and why."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from app.console.page_call import PageCall

PAGE = 50
_MOST_MESSAGES = 200
# Why a part of a message is no fact, in words.
REASONS = {
    "question": "a question",
    "wish": "a wish",
    "hypothetical": "only supposed",
    "quotation": "somebody else's words",
    "politeness": "politeness",
    "code": "code",
    "table": "a table",
    "log": "a log",
    "request": "a request to the assistant",
    "assistant": "said by the assistant",
    "other_role": "not said by the user",
    "repeated_context": "repeats what the service handed out",
    "unsupported": "not in the user's words",
    "unclear_pronoun": "unclear who is meant",
    "redacted": "a secret was in it",
    "not_personal": "hardly about the user's life",
    "no_statement": "states nothing",
}


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a message: `kind` is "fact", "skipped" or empty, `words` explain it."""

    text: str
    kind: str
    words: str


async def show(call: PageCall) -> Response:
    page = await call.client.list_captures(
        session_id=call.parameters.get("session_id") or None,
        limit=PAGE,
        cursor=call.parameters.get("cursor"),
    ).page()
    return call.render("captures.html", captures=page["items"], more=page["next_cursor"])


async def show_one(call: PageCall) -> Response:
    """Show the messages of a capture, each with the facts that were read from it."""
    capture = await call.client.get_capture(call.request.path_params["capture_id"])
    messages = [(message, cut_message(message)) for message in capture["messages"][:_MOST_MESSAGES]]
    return call.render(
        "capture.html",
        capture=capture,
        messages=messages,
        left_out=len(capture["messages"]) - len(messages),
        reasons=REASONS,
    )


def cut_message(message: Mapping[str, Any]) -> list[Piece]:
    """Return a message in pieces: what facts rest on, what was skipped, and what is between."""
    content = message["content"] or ""
    pieces, end = [], 0
    for start, until, kind, words in sorted(_list_spans(message)):
        if start < end or until > len(content):
            continue  # a part that two facts rest on is marked once
        pieces.append(Piece(content[end:start], "", ""))
        pieces.append(Piece(content[start:until], kind, words))
        end = until
    pieces.append(Piece(content[end:], "", ""))
    return [piece for piece in pieces if piece.text]


def _list_spans(message: Mapping[str, Any]) -> Iterable[tuple[int, int, str, str]]:
    for fact in message["facts"]:
        for quote in fact["quotes"]:
            if quote["position"] == message["position"]:
                yield quote["start"], quote["end"], "fact", "became a fact"
    for part in message["skipped"]:
        yield part["start"], part["end"], "skipped", REASONS.get(part["reason"], part["reason"])
