"""Reading a model's text as judgments: entry by entry, naming what is ignored."""

from dataclasses import dataclass, field
from typing import Any

from app.domain.relation import Relation
from app.domain.text import is_storable
from app.remote.json_answer import (
    build_object_schema,
    find_answer,
    parse_confidence,
    parse_number,
    show_value,
)

MAX_REASON = 500
MAX_MERGED = 16_000

_RELATIONS = {relation.value: relation for relation in Relation}
_OTHER_WORDS = dict.fromkeys(
    (
        "UPDATES",
        "UPDATED",
        "SUPERSEDE",
        "SUPERSEDES",
        "SUPERSEDED",
        "REPLACE",
        "REPLACES",
        "REPLACED",
    ),
    Relation.UPDATE,
)


# The schema is the same for every question, because servers compile a schema at its first use,
# which takes seconds. The candidate numbers are therefore checked here.
SCHEMA = build_object_schema(
    judgments={
        "type": "array",
        "items": build_object_schema(
            candidate={"type": "integer"},
            relation={"type": "string", "enum": list(_RELATIONS)},
            confidence={"type": "number"},
            reason={"type": "string"},
        ),
    },
    merged_text={"type": ["string", "null"]},
)


@dataclass(frozen=True, slots=True)
class AnswerEntry:
    """A relation for one candidate; confidence from 0 to 1."""

    relation: Relation
    confidence: float
    reason: str


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The usable part of an answer: one entry at most per candidate number, from 1.

    `ignored` has a phrase for each part of the answer that was not used.
    """

    entries: dict[int, AnswerEntry] = field(default_factory=dict)
    merged_text: str | None = None
    ignored: tuple[str, ...] = ()


def read_answer(text: str, count: int) -> ModelAnswer:
    """Return the answer in a text about candidates 1 to `count`.

    Raise UnreadableAnswer if there is none.
    """
    answer = find_answer(text, SCHEMA)
    ignored: list[str] = []
    entries = _parse_entries(answer["judgments"], count, ignored)
    merged_text = _parse_merged_text(answer.get("merged_text"), ignored)
    return ModelAnswer(entries, merged_text, tuple(ignored))


# --- its entries ----------------------------------------------------------------------------------


def _parse_entries(judgments: list[Any], count: int, ignored: list[str]) -> dict[int, AnswerEntry]:
    """Return the entry of each candidate; a candidate with different relations has none."""
    entries: dict[int, AnswerEntry] = {}
    contradictory: set[int] = set()
    for judgment in judgments:
        number = _parse_number(judgment, count, ignored)
        entry = _parse_entry(judgment, number, ignored) if number else None
        if number is None or entry is None:
            continue
        earlier = entries.setdefault(number, entry)
        if earlier.relation is not entry.relation:
            contradictory.add(number)
        elif entry.confidence < earlier.confidence:
            entries[number] = entry
    for number in sorted(contradictory):
        ignored.append(f"candidate {number} has several judgments that differ")
        del entries[number]
    return entries


def _parse_number(judgment: Any, count: int, ignored: list[str]) -> int | None:
    if not isinstance(judgment, dict):
        ignored.append(f"a judgment is {show_value(judgment)}")
        return None
    number = parse_number(judgment.get("candidate"))
    if number is None or not 1 <= number <= count:
        ignored.append(f"there is no candidate {show_value(judgment.get('candidate'))}")
        return None
    return number


def _parse_entry(judgment: dict[str, Any], number: int, ignored: list[str]) -> AnswerEntry | None:
    """Return None, with a phrase in `ignored`, if the relation or the confidence is unusable."""
    word = judgment.get("relation")
    name = word.strip().upper() if isinstance(word, str) else ""
    relation = _RELATIONS.get(name) or _OTHER_WORDS.get(name)
    if relation is None:
        ignored.append(f"candidate {number} has the unknown relation {show_value(word)}")
        return None
    confidence = parse_confidence(judgment.get("confidence"))
    if confidence is None:
        shown = show_value(judgment.get("confidence"))
        ignored.append(f"candidate {number} has the confidence {shown}")
        return None
    return AnswerEntry(relation, confidence, _parse_reason(judgment.get("reason")))


def _parse_reason(value: Any) -> str:
    text = value if isinstance(value, str) else ""
    storable = text.encode("utf-8", "ignore").decode().replace("\0", "")
    one_line = " ".join(storable.split())
    return one_line[:MAX_REASON] or "The model gave no reason."


# --- its merged text ------------------------------------------------------------------------------


def _parse_merged_text(value: Any, ignored: list[str]) -> str | None:
    if value is None:
        return None
    text = value.strip() if isinstance(value, str) else ""
    if text and len(text) <= MAX_MERGED and is_storable(text):
        return text
    ignored.append("the merged text is no usable text")
    return None
