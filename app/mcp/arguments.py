"""What a model sends as arguments, made into what a tool takes."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from mcp_types import Tool

from app.domain.dates.moments import find_moment
from app.domain.dates.points import Lean

# What models call these parameters.
_OTHER_NAMES = {"text": "content", "memory": "content", "q": "query", "id": "memory_id"}
# What models write for nothing.
_NOTHING = (None, "", "null", "None", "undefined")
# Memory is that of the connection: a name that was left out would file it under another one.
_OWNERS = ("user_id", "agent_id", "user", "agent")
_TIMES = {
    "as_of": Lean.PAST,
    "known_at": Lean.PAST,
    "valid_from": Lean.PAST,
    "valid_until": Lean.FUTURE,
    "at": Lean.PAST,
}
_WORDS = re.compile(r"[A-Za-z]{2}|[Qq]\d")
# The service takes no longer text.
MOST_CHARACTERS = 16_000
_TYPES: dict[str, type] = {"boolean": bool, "integer": int}


class BadArguments(Exception):
    """The arguments lack something that the tool needs."""


def read_arguments(tool: Tool, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments that the tool takes, without empty and unknown ones.

    Lists, numbers and flags may come as JSON text, and times in words. Raises BadArguments.
    """
    parameters = tool.input_schema["properties"]
    taken: dict[str, Any] = {}
    for sent_as, sent in (arguments or {}).items():
        name = sent_as if sent_as in parameters else _OTHER_NAMES.get(sent_as, "")
        if name in parameters and sent not in _NOTHING:
            taken[name] = _read_value(name, parameters[name], sent)
        elif sent_as in _OWNERS and sent not in _NOTHING:
            raise BadArguments(f"{sent_as} is no parameter: memory is that of the connection.")
    missing = [name for name in tool.input_schema.get("required", ()) if name not in taken]
    if missing:
        raise BadArguments(f"{tool.name} needs {' and '.join(missing)}.")
    return taken


def _read_value(name: str, schema: Mapping[str, Any], sent: Any) -> Any:
    if isinstance(sent, str) and len(sent) > MOST_CHARACTERS:
        raise BadArguments(f"{name} may have {MOST_CHARACTERS:,} characters at most.")
    choices, expected = schema.get("enum"), schema.get("type", "string")
    if choices and sent not in choices:
        raise BadArguments(f"{name} is one of {', '.join(choices)}.")
    if expected == "string":
        if name == "content" and isinstance(sent, list):
            raise BadArguments("content is one fact: call the tool once for each.")
        text = sent if isinstance(sent, str) else json.dumps(sent)
        return _read_time(name, text) if name in _TIMES else text
    if isinstance(sent, str):
        sent = _read_text(sent)
    if expected == "array":
        items = sent if isinstance(sent, list) else [sent]
        return [each for each in items if each not in _NOTHING]
    if expected == "integer" and isinstance(sent, float) and sent.is_integer():
        sent = int(sent)
    is_flag_for_number = expected == "integer" and isinstance(sent, bool)
    if not isinstance(sent, _TYPES[expected]) or is_flag_for_number:
        raise BadArguments(f"{name} must be of type {expected}.")
    return sent


def _read_time(name: str, text: str) -> str:
    """Return the time of words, in UTC; other times are for the service to read."""
    if not _WORDS.search(text):
        return text
    now = datetime.now(UTC)
    words = " ".join(text.split())
    moment = now if words.lower() == "now" else find_moment(words, now, UTC, _TIMES[name])
    if moment is None:
        raise BadArguments(f'{name} is a date, as 2025-06-01, or words, as "last June".')
    return moment.isoformat()


def _read_text(text: str) -> Any:
    try:
        return json.loads(text.lower() if text in ("True", "False") else text)
    except (ValueError, RecursionError):
        return text
