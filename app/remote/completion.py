"""Reading a chat completion: the text of the model, or the reason why there is none."""

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
    """The text of the model, which is never empty."""

    text: str


def read_completion(body: bytes) -> Reply | Trouble:
    """Return the text of the first choice, or the trouble, whatever the bytes are."""
    completion = parse_json(body)
    message, finish = _first_choice(completion)
    if message is None:
        detail = format_detail(find_error_message(body))
        return Trouble(Reason.MALFORMED, f"The server's answer is not a chat completion{detail}.")
    tokens = _parse_token_counts(completion)
    if (refusal := message.get("refusal")) or finish == "content_filter":
        words = refusal if isinstance(refusal, str) else ""
        return Trouble(
            Reason.REFUSAL, f"The model refused to answer{format_detail(words)}.", **tokens
        )
    if finish == "length":
        return Trouble(
            Reason.CUT_OFF, "The model's answer was cut off at the token limit.", **tokens
        )
    text = message.get("content")
    if not isinstance(text, str) or not text.strip():
        return Trouble(Reason.EMPTY, "The model answered nothing.", **tokens)
    return Reply(text, **tokens)


def _first_choice(completion: Any) -> tuple[dict[str, Any] | None, Any]:
    choices = field_of(completion, "choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = field_of(choice, "message")
    return (message if isinstance(message, dict) else None), field_of(choice, "finish_reason")


def _parse_token_counts(completion: Any) -> dict[str, Any]:
    usage = field_of(completion, "usage")
    return {
        "prompt_tokens": _parse_count(field_of(usage, "prompt_tokens")),
        "completion_tokens": _parse_count(field_of(usage, "completion_tokens")),
    }


def _parse_count(value: Any) -> int:
    return value if type(value) is int and 0 <= value <= MAX_COUNT else 0
