"""The prompt: a template with a version in its name, filled with a question's statements as data."""

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from app.classification.model.question import PromptCandidate, PromptStatement, Question

VERSION = "relate.v1"
MAX_DATA = 60_000


@dataclass(frozen=True, slots=True)
class Prompt:
    """Two messages, and the candidates they ask about: number n of the prompt is `candidates[n - 1]`."""

    system: str
    user: str
    candidates: tuple[PromptCandidate, ...]


def render_prompt(question: Question, *, limit: int = MAX_DATA) -> Prompt:
    """The question in the words of the template.

    Candidates that would take the data past `limit` characters are left out; none is shortened, since a judgment about half
    a text could lose the other half.
    """
    data: dict[str, Any] = {"incoming": _dict_from_statement(question.incoming), "candidates": []}
    room = limit - len(as_data(data))
    asked: list[PromptCandidate] = []
    for candidate in question.candidates:
        entry = {"candidate": len(asked) + 1, **_dict_from_statement(candidate.statement)}
        if (size := len(as_data(entry)) + 2) <= room:
            room -= size
            asked.append(candidate)
            data["candidates"].append(entry)
    system, user = _load_template()
    numbers = "1" if len(asked) == 1 else f"1 to {len(asked)}"
    return Prompt(system, user.substitute(data=as_data(data), numbers=numbers), tuple(asked))


def as_data(value: Any) -> str:
    """JSON on one line that nothing can break out of: tags cannot occur in it, and what cannot be seen stands as an escape."""
    return re.sub(r"[<>&]|[^ -~]", _escape_character, json.dumps(value, ensure_ascii=False))


def _escape_character(match: re.Match[str]) -> str:
    character = match.group()
    if character in "<>&":
        return f"\\u{ord(character):04x}"
    return character if character.isprintable() else json.dumps(character)[1:-1]


def _dict_from_statement(statement: PromptStatement) -> dict[str, Any]:
    """The statement's words; what it leaves open is left out."""
    since = statement.valid_from and statement.valid_from.isoformat()
    about = {name: getattr(statement, name) for name in ("entity", "category", "key", "value")}
    said = {"text": statement.text, "valid_from": since, **about}
    return {name: word for name, word in said.items() if word}


@cache
def _load_template() -> tuple[str, Template]:
    text = (
        files("app.classification.model").joinpath("prompts", f"{VERSION}.txt").read_text("utf-8")
    )
    system, user = text.removeprefix("=== system ===\n").split("=== user ===\n")
    return system.strip(), Template(user.strip())
