"""What a model sends as arguments, made into what a tool takes."""

import json
from collections.abc import Mapping
from typing import Any

from mcp_types import Tool

# What models call these parameters.
_OTHER_NAMES = {"text": "content", "memory": "content", "q": "query", "id": "memory_id"}
# The service takes no longer text.
MOST_CHARACTERS = 16_000
_TYPES: dict[str, type] = {"boolean": bool, "integer": int, "array": list, "object": dict}


class BadArguments(Exception):
    """The arguments lack something that the tool needs."""


def read_arguments(tool: Tool, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments that the tool takes, without empty and unknown ones.

    Lists, numbers and flags may come as JSON text. Raises BadArguments.
    """
    parameters = tool.input_schema["properties"]
    taken: dict[str, Any] = {}
    for sent_as, sent in (arguments or {}).items():
        name = sent_as if sent_as in parameters else _OTHER_NAMES.get(sent_as, "")
        if name in parameters and sent is not None and sent != "":
            taken[name] = _read_value(name, parameters[name], sent)
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
        return sent if isinstance(sent, str) else json.dumps(sent)
    if isinstance(sent, str):
        sent = _read_text(sent)
    if expected == "array" and not isinstance(sent, list):
        sent = [sent]
    if expected == "integer" and isinstance(sent, float) and sent.is_integer():
        sent = int(sent)
    is_flag_for_number = expected == "integer" and isinstance(sent, bool)
    if not isinstance(sent, _TYPES[expected]) or is_flag_for_number:
        raise BadArguments(f"{name} must be of type {expected}.")
    return sent


def _read_text(text: str) -> Any:
    try:
        return json.loads(text.lower() if text in ("True", "False") else text)
    except (ValueError, RecursionError):
        return text
