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
MAX_TEXT = 16_000

PART = "PART"
# The words of both forms of the prompt.
_RELATIONS = {relation.value: relation for relation in Relation} | {
    PART: Relation.UPDATE,
    "OVER": Relation.UPDATE,
    "SAME": Relation.DUPLICATE,
    "STAYS": Relation.NONE,
}
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
            reason={"type": "string"},
            relation={"type": "string"},
            confidence={"type": "number"},
            text={"type": ["string", "null"]},
        ),
    },
)


@dataclass(frozen=True, slots=True)
class AnswerEntry:
    """A relation for one candidate; confidence from 0 to 1.

    `new_text` is what the candidate is to read, with the detail that is new. If the incoming
    statement changes a part of it alone, `is_part`.
    """

    relation: Relation
    confidence: float
    reason: str
    new_text: str | None = None
    is_part: bool = False


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The usable part of an answer: one entry at most per candidate number, from 1.

    The `unclear` candidates are named, but not in a usable way. `ignored` has a phrase for each
    part of the answer that was not used.
    """

    entries: dict[int, AnswerEntry] = field(default_factory=dict)
    unclear: frozenset[int] = frozenset()
    ignored: tuple[str, ...] = ()


def read_answer(text: str, count: int) -> ModelAnswer:
    """Return the answer in a text about candidates 1 to `count`.

    A candidate with different relations has no entry. Raise UnreadableAnswer if there is no answer.
    """
    ignored: list[str] = []
    entries: dict[int, AnswerEntry] = {}
    unclear: set[int] = set()
    contradictory: set[int] = set()
    for judgment in find_answer(text, SCHEMA)["judgments"]:
        number = _parse_number(judgment, count, ignored)
        if number is None:
            continue
        entry = _parse_entry(judgment, number, ignored)
        if entry is None:
            unclear.add(number)
            continue
        earlier = entries.setdefault(number, entry)
        if earlier.relation is not entry.relation:
            contradictory.add(number)
        elif entry.confidence < earlier.confidence:
            entries[number] = entry
    for number in sorted(contradictory):
        ignored.append(f"candidate {number} has several judgments that differ")
        del entries[number]
    unclear = (unclear - entries.keys()) | contradictory
    return ModelAnswer(entries, frozenset(unclear), tuple(ignored))


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
    value = judgment.get("relation")
    word = value.strip().upper() if isinstance(value, str) else ""
    relation = _RELATIONS.get(word) or _OTHER_WORDS.get(word)
    if relation is None:
        ignored.append(f"candidate {number} has the unknown relation {show_value(value)}")
        return None
    confidence = parse_confidence(judgment.get("confidence"))
    if confidence is None:
        shown = show_value(judgment.get("confidence"))
        ignored.append(f"candidate {number} has the confidence {shown}")
        return None
    reason = judgment.get("reason")
    text = reason if isinstance(reason, str) else ""
    storable = text.encode("utf-8", "ignore").decode().replace("\0", "")
    one_line = " ".join(storable.split())[:MAX_REASON]
    new_text = _parse_text(judgment.get("text"), number, ignored)
    return AnswerEntry(
        relation,
        confidence,
        one_line or "The model gave no reason.",
        new_text,
        is_part=word == PART,
    )


def _parse_text(value: Any, number: int, ignored: list[str]) -> str | None:
    if value is None:
        return None
    text = value.strip() if isinstance(value, str) else ""
    if text and len(text) <= MAX_TEXT and is_storable(text):
        return text
    ignored.append(f"candidate {number} has no usable text")
    return None
