"""Reading a model's text as facts with quotes: one thing out of place and nothing counts."""

from dataclasses import dataclass
from typing import Any

from app.domain.fact import Kind
from app.domain.text import is_storable
from app.remote.json_answer import (
    UnreadableAnswer,
    build_object_schema,
    find_answer,
    show_value,
)

# The schema is the same for every batch, because servers compile a schema at its first use, which
# takes seconds. The numbers of the turns are therefore checked here.
SCHEMA = build_object_schema(
    facts={
        "type": "array",
        "items": build_object_schema(
            turn={"type": "integer"},
            quote={"type": "string"},
            fact={"type": "string"},
            kind={"type": "string", "enum": [Kind.FACT, Kind.PREFERENCE]},
            proposal={"type": ["string", "null"]},
        ),
    },
)


@dataclass(frozen=True, slots=True)
class QuotedTurn:
    """The number of a turn, from 1, and the words that the model says stand in it."""

    number: int
    words: str


@dataclass(frozen=True, slots=True)
class AnswerFact:
    """A fact with the words it rests on, and the assistant's words if the user confirmed them.

    A standing instruction to the assistant is a preference.
    """

    text: str
    quote: QuotedTurn
    proposal: str | None = None
    kind: Kind = Kind.FACT


def read_answer(text: str, count: int) -> tuple[AnswerFact, ...]:
    """Return the facts in a text about the turns 1 to `count`.

    Prose and code fences around the answer are ignored, and so are fields that the schema lacks.
    Raise UnreadableAnswer if there is no answer, or if an entry has another form or names a turn
    that does not exist: a model that errs in such things may err in the others too.
    """
    entries = find_answer(text, "facts")["facts"]
    if not isinstance(entries, list):
        raise UnreadableAnswer("The model's facts are not a list.")
    return tuple(_parse_fact(entry, count) for entry in entries)


def _parse_fact(entry: Any, count: int) -> AnswerFact:
    if not isinstance(entry, dict):
        raise UnreadableAnswer(f"One of the model's facts is {show_value(entry)}.")
    quote = _parse_quote(entry.get("turn"), entry.get("quote"), count)
    text = _parse_text(entry.get("fact"))
    proposal = _parse_text(entry["proposal"]) if entry.get("proposal") else None
    kind = Kind.PREFERENCE if entry.get("kind") == Kind.PREFERENCE else Kind.FACT
    return AnswerFact(" ".join(text.split()), quote, proposal, kind)


def _parse_quote(number: Any, words: Any, count: int) -> QuotedTurn:
    if type(number) is not int or not 1 <= number <= count:
        raise UnreadableAnswer(f"The model names the turn {show_value(number)}, which is none.")
    return QuotedTurn(number, _parse_text(words))


def _parse_text(value: Any) -> str:
    if not isinstance(value, str):
        raise UnreadableAnswer(f"The model gives {show_value(value)} for a text.")
    if not value.strip() or not is_storable(value):
        raise UnreadableAnswer("The model gives a text that is empty or cannot be stored.")
    return value.strip()
