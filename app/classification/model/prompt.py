"""The prompt: a template with a version in its name, filled with a question as data."""

from dataclasses import dataclass
from typing import Any

from app.classification.model.question import PromptCandidate, PromptStatement, Question
from app.remote.prompts import as_data, load_template

VERSION = "relate.v5"
MAX_DATA = 60_000


@dataclass(frozen=True, slots=True)
class Prompt:
    """Two messages and their candidates: number n of the prompt is `candidates[n - 1]`."""

    system: str
    user: str
    candidates: tuple[PromptCandidate, ...]


def render_prompt(question: Question, *, limit: int = MAX_DATA) -> Prompt:
    """Return the question in the words of the template.

    A candidate that would take the data past `limit` characters is left out. None is shortened,
    because a judgment about half a text could lose the other half.
    """
    data: dict[str, Any] = {"incoming": _dict_from_statement(question.incoming), "candidates": []}
    room = limit - len(as_data(data))
    candidates: list[PromptCandidate] = []
    for candidate in question.candidates:
        entry = {"candidate": len(candidates) + 1, **_dict_from_statement(candidate.statement)}
        if candidate.evidence:
            entry["evidence"] = list(candidate.evidence)
        size = len(as_data(entry)) + len(", ")
        if size <= room:
            room -= size
            candidates.append(candidate)
            data["candidates"].append(entry)
    template = load_template("app.classification.model", VERSION)
    numbers = "1" if len(candidates) == 1 else f"1 to {len(candidates)}"
    user = template.user.substitute(data=as_data(data), numbers=numbers)
    return Prompt(template.system, user, tuple(candidates))


def _dict_from_statement(statement: PromptStatement) -> dict[str, Any]:
    """Return the fields of the statement that have a value."""
    valid_from = statement.valid_from
    fields = {
        "text": statement.text,
        "valid_from": valid_from.isoformat() if valid_from else None,
        "entity": None if statement.entity == "user" else statement.entity,
        "category": statement.category,
        "key": statement.key,
        "value": statement.value,
    }
    return {name: value for name, value in fields.items() if value}
