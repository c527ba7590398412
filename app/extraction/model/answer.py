"""Reading a model's text as facts with quotes: entry by entry, naming what is ignored."""

from dataclasses import dataclass
from typing import Any

from app.domain.fact import Kind
from app.domain.text import is_storable
from app.remote.json_answer import (
    UnreadableAnswer,
    build_object_schema,
    find_answer,
    parse_number,
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


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """The usable facts of an answer. `ignored` has a phrase for each entry that was not used."""

    facts: tuple[AnswerFact, ...]
    ignored: tuple[str, ...] = ()


def read_answer(text: str, count: int) -> ModelFacts:
    """Return the facts in a text about the turns 1 to `count`.

    An entry of another form, or about a turn that does not exist, is ignored. Raise
    UnreadableAnswer if there is no answer, or if all of its entries are such.
    """
    facts: list[AnswerFact] = []
    ignored: list[str] = []
    for entry in find_answer(text, SCHEMA)["facts"]:
        try:
            facts.append(_parse_fact(entry, count))
        except _UnusableEntry as why:
            ignored.append(str(why))
    if ignored and not facts:
        raise UnreadableAnswer(f"None of the model's facts can be used: {ignored[0]}.")
    return ModelFacts(tuple(facts), tuple(ignored))


class _UnusableEntry(ValueError):
    """The message is a phrase."""


def _parse_fact(entry: Any, count: int) -> AnswerFact:
    if not isinstance(entry, dict):
        raise _UnusableEntry(f"a fact is {show_value(entry)}")
    turn = parse_number(entry.get("turn"))
    if turn is None or not 1 <= turn <= count:
        raise _UnusableEntry(f"there is no turn {show_value(entry.get('turn'))}")
    quote = QuotedTurn(turn, _parse_text(entry.get("quote")))
    text = _parse_text(entry.get("fact"))
    proposal = _parse_text(entry["proposal"]) if entry.get("proposal") else None
    kind = Kind.PREFERENCE if entry.get("kind") == Kind.PREFERENCE else Kind.FACT
    return AnswerFact(" ".join(text.split()), quote, proposal, kind)


def _parse_text(value: Any) -> str:
    if not isinstance(value, str):
        raise _UnusableEntry(f"a text is {show_value(value)}")
    if not value.strip() or not is_storable(value):
        raise _UnusableEntry("a text is empty or cannot be stored")
    return value.strip()
