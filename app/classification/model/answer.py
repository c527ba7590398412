"""How a model's text becomes judgments: strictly, entry by entry, and with what was ignored named."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from app.domain.relation import Relation
from app.domain.text import is_storable

MAX_REASON = 500
MAX_MERGED = 16_000
MAX_WORD = 500
_ATTEMPTS = 50

_RELATIONS = {relation.value: relation for relation in Relation}


def _build_object_schema(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


# The same for every question: servers compile a schema at its first use, which takes seconds. So the numbers are checked here.
SCHEMA = _build_object_schema(
    judgments={
        "type": "array",
        "items": _build_object_schema(
            candidate={"type": "integer"},
            relation={"type": "string", "enum": list(_RELATIONS)},
            confidence={"type": "number"},
            reason={"type": "string"},
        ),
    },
    merged_text={"type": ["string", "null"]},
    slot={
        "anyOf": [
            _build_object_schema(
                entity={"type": "string"},
                key={"type": "string"},
                value={"type": ["string", "null"]},
            ),
            {"type": "null"},
        ]
    },
)


@dataclass(frozen=True, slots=True)
class AnswerEntry:
    """What the model says about one candidate; confidence from 0 to 1."""

    relation: Relation
    confidence: float
    reason: str


@dataclass(frozen=True, slots=True)
class SlotHint:
    """What the model takes the incoming fact to be about."""

    entity: str
    key: str
    value: str | None


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The usable part of an answer: at most one entry per candidate number, and a phrase for each thing ignored."""

    entries: dict[int, AnswerEntry] = field(default_factory=dict)
    merged_text: str | None = None
    slot: SlotHint | None = None
    ignored: tuple[str, ...] = ()


class UnreadableAnswer(ValueError):
    """The text holds no answer; the message says why, as a sentence."""


def read_answer(text: str, count: int) -> ModelAnswer:
    """The answer in a text about candidates 1 to `count`; prose and fences around it are tolerated. Raises Unreadable."""
    answer = _find_answer(text)
    judgments = answer["judgments"]
    if not isinstance(judgments, list):
        raise UnreadableAnswer("The model's judgments are not a list.")
    ignored: list[str] = []
    entries = _parse_entries(judgments, count, ignored)
    merged = _parse_merged_text(answer.get("merged_text"), ignored)
    return ModelAnswer(entries, merged, _parse_slot(answer.get("slot"), ignored), tuple(ignored))


# --- finding it -----------------------------------------------------------------------------------------------------------------


def _find_answer(text: str) -> dict[str, Any]:
    """The one object with judgments. Of two that differ, none is believed: one may be quoted from the data."""
    found = list(_find_objects(text))
    if not found:
        raise UnreadableAnswer("The model's text holds no complete JSON object with judgments.")
    if any(other != found[0] for other in found[1:]):
        raise UnreadableAnswer("The model's text holds several answers that differ.")
    return found[0]


def _find_objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects with judgments in a text. Gives up after a number of braces that open none."""
    decoder = json.JSONDecoder(object_pairs_hook=_without_repeats)
    at = 0
    for _ in range(_ATTEMPTS):
        if (at := text.find("{", at)) < 0:
            return
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
        else:
            if "judgments" in value:
                yield value


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which no name is given twice: which of the two counts would be anybody's guess."""
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a name is given twice")
    return value


# --- its entries ----------------------------------------------------------------------------------------------------------------


def _parse_entries(judgments: list[Any], count: int, ignored: list[str]) -> dict[int, AnswerEntry]:
    entries: dict[int, AnswerEntry] = {}
    torn: set[int] = set()
    for judgment in judgments:
        number, entry = _parse_entry(judgment, count, ignored)
        if entry is None:
            continue
        known = entries.setdefault(number, entry)
        if known.relation is not entry.relation:
            torn.add(number)
        elif entry.confidence < known.confidence:
            entries[number] = entry
    ignored += [f"candidate {number} has several judgments that differ" for number in sorted(torn)]
    return {number: entry for number, entry in entries.items() if number not in torn}


def _parse_entry(judgment: Any, count: int, ignored: list[str]) -> tuple[int, AnswerEntry | None]:
    """A candidate's number with its entry, or with None where something in it cannot be taken at its word."""
    if not isinstance(judgment, dict):
        ignored.append(f"a judgment is {_show_value(judgment)}")
        return 0, None
    number, word, confidence = (
        judgment.get("candidate"),
        judgment.get("relation"),
        judgment.get("confidence"),
    )
    if type(number) is not int or not 1 <= number <= count:
        ignored.append(f"there is no candidate {_show_value(number)}")
        return 0, None
    relation = _RELATIONS.get(word.strip().upper()) if isinstance(word, str) else None
    if relation is None:
        ignored.append(f"candidate {number} has the unknown relation {_show_value(word)}")
        return number, None
    # A bool is an int to isinstance; NaN lies between no two numbers.
    if (
        isinstance(confidence, bool)
        or not isinstance(confidence, int | float)
        or not 0 <= confidence <= 1
    ):
        ignored.append(f"candidate {number} has the confidence {_show_value(confidence)}")
        return number, None
    return number, AnswerEntry(relation, float(confidence), _parse_reason(judgment.get("reason")))


def _parse_reason(value: Any) -> str:
    text = value if isinstance(value, str) else ""
    clean = " ".join(text.encode("utf-8", "ignore").decode().replace("\0", "").split())
    return clean[:MAX_REASON] or "The model gave no reason."


def _show_value(value: Any) -> str:
    """A value from the answer, short and on one line."""
    if value is None or isinstance(value, bool | int | float | str):
        shown = ascii(value)
        return shown if len(shown) <= 40 else shown[:39] + "…"
    return "a list" if isinstance(value, list) else "an object"


# --- the rest -------------------------------------------------------------------------------------------------------------------


def _parse_merged_text(value: Any, ignored: list[str]) -> str | None:
    if value is None:
        return None
    text = _parse_words(value, MAX_MERGED)
    if text is None:
        ignored.append("the merged text is no usable text")
    return text


def _parse_slot(value: Any, ignored: list[str]) -> SlotHint | None:
    if value is None:
        return None
    words = value if isinstance(value, dict) else {}
    entity, key = (
        _parse_words(words.get("entity"), MAX_WORD),
        _parse_words(words.get("key"), MAX_WORD),
    )
    if entity is None or key is None:
        ignored.append("the slot is incomplete")
        return None
    return SlotHint(entity, key, _parse_words(words.get("value"), MAX_MERGED))


def _parse_words(value: Any, most: int) -> str | None:
    """A text, trimmed: not empty, not too long, and one that can be stored."""
    text = value.strip() if isinstance(value, str) else ""
    return text if text and len(text) <= most and is_storable(text) else None
