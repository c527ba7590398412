"""Finding the one JSON object of an answer in a model's text."""

import json
from collections.abc import Iterator
from typing import Any

MAX_SHOWN = 40
_ATTEMPTS = 50


class UnreadableAnswer(ValueError):
    """The text holds no answer; the message says why, as a sentence."""


def build_object_schema(**properties: Any) -> dict[str, Any]:
    """Return the JSON schema of an object with these fields, all required, and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def find_answer(text: str, name: str) -> dict[str, Any]:
    """Return the one object that has a field of this name. Prose and fences are ignored.

    Raise UnreadableAnswer if there is none, and if several differ, because one of them may be
    quoted from the data.
    """
    objects = list(_find_objects(text, name))
    if not objects:
        raise UnreadableAnswer(f"The model's text holds no complete JSON object with {name}.")
    first = objects[0]
    if any(other != first for other in objects[1:]):
        raise UnreadableAnswer("The model's text holds several answers that differ.")
    return first


def _find_objects(text: str, name: str) -> Iterator[dict[str, Any]]:
    """Yield the outermost JSON objects that have the field.

    The search ends after a number of braces that open no object, so that its time is bounded.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_build_object)
    start = 0
    for _ in range(_ATTEMPTS):
        start = text.find("{", start)
        if start < 0:
            return
        try:
            value, start = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start += 1
            continue
        if name in value:
            yield value


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Raise ValueError if a name occurs twice: nobody can say which of the two values counts."""
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a name occurs twice")
    return value


def show_value(value: Any) -> str:
    """Return a value of an answer as a short text on one line."""
    if value is None or isinstance(value, bool | int | float | str):
        shown = ascii(value)
        return shown if len(shown) <= MAX_SHOWN else shown[: MAX_SHOWN - 1] + "…"
    return "a list" if isinstance(value, list) else "an object"
