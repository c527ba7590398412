"""Reading a chat completion: the text of the model, or the reason why there is none."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from app.remote.trouble import (
    CallOutcome,
    Reason,
    Trouble,
    field_of,
    find_error_message,
    format_detail,
    parse_json,
)

MAX_COUNT = 10_000_000


@dataclass(frozen=True, slots=True)
class Reply(CallOutcome):
    """The text of the model, which is never empty; `is_cut_off` by the token limit, perhaps."""

    text: str
    is_cut_off: bool = False


def read_completion(body: bytes) -> Reply | Trouble:
    """Return the text of the first choice, or the trouble, whatever the bytes are."""
    completion = parse_json(body)
    if completion is None:
        completion = _join_stream(body)
    message, finish = _first_choice(completion, "message")
    if message is None:
        detail = format_detail(find_error_message(body))
        return Trouble(Reason.MALFORMED, f"The server's answer is not a chat completion{detail}.")
    usage = field_of(completion, "usage")
    tokens: dict[str, Any] = {}
    for name in ("prompt_tokens", "completion_tokens"):
        count = field_of(usage, name)
        tokens[name] = count if type(count) is int and 0 <= count <= MAX_COUNT else 0
    if (refusal := message.get("refusal")) or finish == "content_filter":
        words = refusal if isinstance(refusal, str) else ""
        return Trouble(
            Reason.REFUSAL, f"The model refused to answer{format_detail(words)}.", **tokens
        )
    is_cut_off = finish == "length"
    text = "\n".join(_list_texts(message))
    if not text and not is_cut_off:  # what was cut off in its thinking is a draft
        text = _join_parts(message.get("reasoning_content") or message.get("reasoning"))
    if text.strip():
        return Reply(text, is_cut_off, **tokens)
    if is_cut_off:
        return make_cut_off_trouble(**tokens)
    return Trouble(Reason.EMPTY, "The model answered nothing.", **tokens)


def make_cut_off_trouble(**tokens: int) -> Trouble:
    """Return the trouble that the token limit ended an answer."""
    return Trouble(
        Reason.CUT_OFF,
        "The model's answer was cut off at the token limit "
        "(PALIMPSEST_LLM_ANSWER_TOKENS, or the server's own).",
        **tokens,
    )


def _first_choice(completion: Any, part: str) -> tuple[dict[str, Any] | None, Any]:
    """Return a part of the first choice, and why the choice ended."""
    choices = field_of(completion, "choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = field_of(choice, part)
    return (message if isinstance(message, dict) else None), field_of(choice, "finish_reason")


# --- the texts of a message -----------------------------------------------------------------------


def _list_texts(message: dict[str, Any]) -> Iterator[str]:
    """Yield the content, and then the arguments of calls, in which some models answer."""
    content = _join_parts(message.get("content"))
    if content.strip():
        yield content
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        arguments = _join_parts(field_of(field_of(call, "function"), "arguments"))
        if arguments.strip():
            yield arguments


def _join_parts(value: Any) -> str:
    """Return the text of a string, of a list of parts with texts, or of a parsed object."""
    if isinstance(value, list):
        parts = (part if isinstance(part, str) else field_of(part, "text") for part in value)
        return "".join(part for part in parts if isinstance(part, str))
    if isinstance(value, dict):
        return json.dumps(value)
    return value if isinstance(value, str) else ""


# --- a stream that nobody asked for ---------------------------------------------------------------


def _join_stream(body: bytes) -> dict[str, Any] | None:
    """Return the completion that a stream of server-sent events tells in pieces, if it is one."""
    texts = {"content": "", "reasoning_content": "", "arguments": ""}
    finish = usage = None
    has_choice = False
    for line in body.splitlines():
        chunk = parse_json(line.removeprefix(b"data:")) if line.startswith(b"data:") else None
        usage = field_of(chunk, "usage") or usage
        delta, ended = _first_choice(chunk, "delta")
        finish = ended or finish
        if delta is not None:
            has_choice = True
            texts["content"] += _join_parts(delta.get("content"))
            texts["reasoning_content"] += _join_parts(delta.get("reasoning_content"))
            texts["arguments"] += "".join(_list_texts({"tool_calls": delta.get("tool_calls")}))
    if not has_choice:
        return None
    calls = [{"function": {"arguments": texts.pop("arguments")}}]
    choice = {"message": {**texts, "tool_calls": calls}, "finish_reason": finish}
    return {"choices": [choice], "usage": usage}
