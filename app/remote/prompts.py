"""Prompts: templates with a version in their name, and data that no text can break out of."""

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """The system message, and the user message with places for data."""

    system: str
    user: Template


@cache
def load_template(package: str, version: str) -> PromptTemplate:
    """Return the template of that version from the folder `prompts` of a package."""
    folder = files(package).joinpath("prompts")
    text = folder.joinpath(f"{version}.txt").read_text("utf-8")
    system, user = text.removeprefix("=== system ===\n").split("=== user ===\n")
    return PromptTemplate(system.strip(), Template(user.strip()))


def as_data(value: Any) -> str:
    """Return JSON on one line that no text in it can break out of.

    Tags cannot occur in it, and invisible characters are escaped.
    """
    return re.sub(r"[<>&]|[^ -~]", _escape_character, json.dumps(value, ensure_ascii=False))


def _escape_character(match: re.Match[str]) -> str:
    character = match.group()
    if character in "<>&":
        return f"\\u{ord(character):04x}"
    return character if character.isprintable() else json.dumps(character)[1:-1]
