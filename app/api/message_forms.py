"""Reads messages in the forms in which SDKs write them, as plain ones.

OpenAI's (chat, responses, threads), Anthropic's, Gemini's, LangChain's, Pydantic AI's and Vercel's
messages become messages of `role`, `content`, `id`, `name` and `at`. A mark stands in the content
for each part that is no text.
"""

import re
from collections.abc import Callable, Coroutine, Mapping
from functools import lru_cache
from typing import Any

from fastapi import Request, Response

from app.api.field_hints import MESSAGE_FIELDS, find_meant_field
from app.api.secrets import SecretFreeRoute
from app.domain.errors import InvalidFact
from app.domain.secrets import find_tokens
from app.domain.talk import LEFT_OUT, Role
from app.domain.text import is_storable

MAX_MESSAGES = 200
MAX_CHARACTERS = 100_000
# Of one message; what is longer is a file rather than talk, and its end is left out.
MAX_MESSAGE = 50_000

_ROLES = {role.value: role for role in Role} | {
    "human": Role.USER,
    "ai": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "developer": Role.SYSTEM,
    "function": Role.TOOL,
}
# Items of a conversation that nobody says: what OpenAI's responses do between the messages.
# Nor does anybody say LangChain's orders to remove a message.
_STEP = re.compile(r"reasoning|remove|\w+_(?:call|output|request|response|tools)")
_TEXT_PARTS = frozenset(("text", "input_text", "output_text", "user-prompt"))
_CALLS = ("tool_calls", "function_call", "toolInvocations", "audio")
_TIMES = ("timestamp", "createdAt")
# Of a part in a part, of the fields that no message has, and of the name of a part.
_DEEPEST = 4
_MOST_OTHERS = 20
_LONGEST_MARK = 60


class MessageRoute(SecretFreeRoute):
    """A route that takes messages in any known form. Secrets are sought in the plain ones."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_plain_messages(request: Request) -> Response:
            try:
                body = await request.json()  # which the request keeps
            except (ValueError, RecursionError):
                body = None  # refused later
            messages = body.get("messages") if isinstance(body, dict) else None
            if isinstance(messages, list):
                if len(messages) > MAX_MESSAGES:
                    raise InvalidFact(
                        f"messages: {len(messages):,} are too many; a call takes {MAX_MESSAGES}."
                    )
                messages[:] = map(read_message, messages)
                _check_length(messages)
            return await handle(request)

        return handle_plain_messages


def _check_length(messages: list[Any]) -> None:
    """Raise InvalidFact if the messages are too long together."""
    contents = [one.get("content") if isinstance(one, dict) else one for one in messages]
    length = sum(len(content) for content in contents if isinstance(content, str))
    if length > MAX_CHARACTERS:
        raise InvalidFact(
            f"The messages have {length:,} characters, and a call takes {MAX_CHARACTERS:,}: send "
            "them in several calls."
        )


def read_message(message: Any) -> Any:
    """Return a message of a known form as a plain one.

    A field that seems to mean another field of a message stays, and so does what is no message: the
    schema refuses both with advice. Other fields are dropped.
    """
    if not isinstance(message, Mapping):
        return message
    message = _unwrap(message)
    plain: dict[str, Any] = {}
    if (role := _find_role(message)) is not None:
        plain["role"] = role
    if (content := _find_content(message, role)) is not None:
        plain["content"] = content
    for name in ("id", "name", "at"):
        if message.get(name) not in (None, ""):
            plain[name] = message[name]
    if type(plain.get("id")) is int:
        plain["id"] = str(plain["id"])
    if isinstance(parts := message.get("parts"), list):
        return _find_time(message, parts) | plain
    others = [name for name in message if name not in MESSAGE_FIELDS][:_MOST_OTHERS]
    return plain | {name: message[name] for name in others if _seems_to_be_ours(name)}


@lru_cache(1024)
def _seems_to_be_ours(name: str) -> bool:
    return find_meant_field(name, MESSAGE_FIELDS) is not None


def _unwrap(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the message that LangChain wraps, or the same message."""
    wrapped, data = message.get("kwargs"), message.get("data")
    if "lc" in message and isinstance(wrapped, dict):
        return wrapped
    if isinstance(data, dict) and "role" not in message:
        return {"type": message.get("type"), **data}
    return message


def _find_role(message: Mapping[str, Any]) -> Any:
    """Return who speaks: a role, an unknown word, or None if the message does not say."""
    role, form = message.get("role"), message.get("type")
    if role is not None:
        return _ROLES.get(role.lower(), role) if isinstance(role, str) else role
    form = form.lower().removesuffix("messagechunk") if isinstance(form, str) else ""
    if form in _ROLES or _STEP.fullmatch(form):
        return _ROLES.get(form, Role.TOOL if form.endswith("_output") else Role.ASSISTANT)
    if not isinstance(parts := message.get("parts"), list):
        return None
    if message.get("kind") != "request":  # of Pydantic AI
        return Role.ASSISTANT if message.get("kind") == "response" else Role.USER
    kinds = {str(part.get("part_kind")) for part in parts if isinstance(part, dict)}
    if "user-prompt" in kinds:
        return Role.USER
    return Role.SYSTEM if kinds <= {"system-prompt"} else Role.TOOL


def _find_content(message: Mapping[str, Any], role: Any) -> Any:
    """Return the text of a message, None if it has no content."""
    content = message.get("content") or message.get("parts") or message.get("refusal")
    if not content:
        if "role" not in message and _STEP.fullmatch(str(message.get("type"))):
            return _mark(message["type"])
        called = next((name for name in _CALLS if message.get(name)), None)
        is_empty = "content" in message or "parts" in message
        return _mark(called) if called else ("" if is_empty else None)
    if not isinstance(content, str | list | dict):
        return content
    texts = _read_parts(content)
    words = [text for text in texts if not text.startswith(LEFT_OUT)]
    # Marks say what is missing of what a user says. Beside words of others they say nothing.
    if role == Role.USER or not words:
        words += [text for text in texts if text.startswith(LEFT_OUT)]
    return _clean("\n".join(words))


def _read_parts(content: Any, depth: int = 0) -> list[str]:
    """Return the texts of parts, with a mark for each part that is no text."""
    if isinstance(content, list) and depth < _DEEPEST:
        return [text for part in content for text in _read_parts(part, depth + 1)]
    if isinstance(content, str):
        return [content] if content else []
    if not isinstance(content, dict) or depth > _DEEPEST:
        return [_mark("unknown part")]
    kind, text = content.get("type") or content.get("part_kind"), content.get("text")
    if isinstance(text, dict):  # of OpenAI's threads
        text = text.get("value")
    is_text = kind in _TEXT_PARTS if isinstance(kind, str) else isinstance(text, str)
    if is_text and not content.get("thought"):
        return _read_parts(text or content.get("content") or [], depth + 1)
    named = [name for name, value in content.items() if value and name != "text"]
    return [_mark(kind or content.get("kind") or next(iter(named), ""))]


def _mark(kind: object) -> str:
    """Return the mark of a part: of `functionCall` and `tool-return` it has the words."""
    is_name = isinstance(kind, str) and len(kind) <= _LONGEST_MARK
    return _mark_name(str(kind) if is_name else "")


@lru_cache(1024)
def _mark_name(name: str) -> str:
    # In the words of a mark, nobody would find a secret any more.
    if find_tokens(name):
        name = ""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|[\W_]+", " ", name)
    return f"{LEFT_OUT}{spaced.strip().lower() or 'unknown part'}]"


def _clean(text: str) -> str:
    """Return the text no longer than a message may be, and as Postgres can store it."""
    if len(text) > MAX_MESSAGE:
        start = text[: MAX_MESSAGE - _LONGEST_MARK]
        words = start.rpartition("\n")[0] or start.rpartition(" ")[0] or start
        text = f"{words}\n{_mark(f'{len(text) - len(words)} more characters')}"
    if not is_storable(text):
        units = text.encode("utf-16-le", "surrogatepass")
        text = units.decode("utf-16-le", "replace").replace("\0", "\ufffd")
    return text


def drop_marks(text: str) -> str:
    """Return the text of a plain message without the marks of what was left out."""
    return "\n".join(line for line in text.split("\n") if not line.startswith(LEFT_OUT))


def _find_time(message: Mapping[str, Any], parts: list[Any]) -> dict[str, Any]:
    for holder in (message, *parts):
        for name in _TIMES:
            if isinstance(holder, dict) and holder.get(name):
                return {"at": holder[name]}
    return {}
