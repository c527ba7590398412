"""The prompt: a template with a version in its name, filled with questions as data."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from app.classification.model.question import PromptCandidate, PromptStatement, Question
from app.remote.prompts import as_data, load_template

VERSION = "relate.v7"
AGAIN = "again"
MAX_DATA = 60_000


class Form(StrEnum):
    """How the model is asked: with all rules, or by examples and four words for a small model."""

    FULL = "full"
    SMALL = "small"


@dataclass(frozen=True, slots=True)
class Prompt:
    """Two messages and their candidates by their numbers, each with the place of its question."""

    system: str
    user: str
    candidates: Mapping[int, tuple[int, PromptCandidate]]


def render_prompt(questions: Sequence[Question], form: Form) -> Prompt:
    """Return the questions in the words of the template. Their candidates are numbered through.

    A candidate keeps its number when it is asked about again. One that would take the data past
    MAX_DATA characters is left out. None is shortened, because a judgment about half a text could
    lose the other half.
    """
    data: list[dict[str, Any]] = []
    candidates: dict[int, tuple[int, PromptCandidate]] = {}
    for question in questions:
        data.append({"new": _dict_from_statement(question.incoming), "candidates": []})
    room = MAX_DATA - len(as_data(data))
    for number, (place, candidate) in enumerate(_list_candidates(questions), 1):
        again = questions[place].again
        if again is not None and candidate.memory_id not in again:
            continue
        entry = {"candidate": number, **_dict_from_statement(candidate.statement)}
        if candidate.hint and again is None:
            entry["hint"] = candidate.hint
        size = len(as_data(entry)) + len(", ")
        if size <= room:
            room -= size
            candidates[number] = (place, candidate)
            data[place]["candidates"].append(entry)
    is_again = any(question.again is not None for question in questions)
    template = load_template("app.classification.model", f"{VERSION}.{AGAIN if is_again else form}")
    shown = as_data([entry for entry in data if entry["candidates"]])
    return Prompt(template.system, template.user.substitute(data=shown), candidates)


def _list_candidates(questions: Sequence[Question]) -> Iterator[tuple[int, PromptCandidate]]:
    for place, question in enumerate(questions):
        for candidate in question.candidates:
            yield place, candidate


def _dict_from_statement(statement: PromptStatement) -> dict[str, Any]:
    """Return the fields of the statement that have a value."""
    fields = {
        "text": statement.text,
        "said": _show_time(statement.said_at),
        "since": _show_time(statement.valid_from),
        "about": None if statement.entity == "user" else statement.entity,
        "category": statement.category,
        "key": statement.key,
        "value": statement.value,
    }
    return {name: value for name, value in fields.items() if value}


def _show_time(time: datetime | None) -> str | None:
    """Return the day, with the minute if it is not midnight."""
    if time is None:
        return None
    is_day = (time.hour, time.minute) == (0, 0)
    return f"{time:%Y-%m-%d}" if is_day else f"{time:%Y-%m-%d %H:%M}"
