"""The prompt: a template with a version in its name, filled with questions as data."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from app.classification.model.question import PromptCandidate, PromptStatement, Question
from app.remote.prompts import as_data, load_template

VERSION = "relate.v6"
MAX_DATA = 60_000


class Form(StrEnum):
    """How the model is asked: with all rules, or by examples and four words for a small model."""

    FULL = "full"
    SMALL = "small"


@dataclass(frozen=True, slots=True)
class Prompt:
    """Two messages and their candidates: number n of the prompt is `candidates[n - 1]`.

    Each candidate stands with the place of its question.
    """

    system: str
    user: str
    candidates: tuple[tuple[int, PromptCandidate], ...]


def render_prompt(questions: Sequence[Question], form: Form, *, limit: int = MAX_DATA) -> Prompt:
    """Return the questions in the words of the template. Their candidates are numbered through.

    A candidate that would take the data past `limit` characters is left out. None is shortened,
    because a judgment about half a text could lose the other half.
    """
    data: list[dict[str, Any]] = []
    candidates: list[tuple[int, PromptCandidate]] = []
    for question in questions:
        data.append({"new": _dict_from_statement(question.incoming), "candidates": []})
    room = limit - len(as_data(data))
    for place, question in enumerate(questions):
        for candidate in question.candidates:
            entry = {"candidate": len(candidates) + 1, **_dict_from_statement(candidate.statement)}
            if candidate.hint:
                entry["hint"] = candidate.hint
            size = len(as_data(entry)) + len(", ")
            if size <= room:
                room -= size
                candidates.append((place, candidate))
                data[place]["candidates"].append(entry)
    template = load_template("app.classification.model", f"{VERSION}.{form}")
    return Prompt(template.system, template.user.substitute(data=as_data(data)), tuple(candidates))


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
