"""Changes in the text of a TOML file that leave every other byte as it was."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from app.commands.connect.json_text import Unreadable

_HEADER = re.compile(r"\s*\[")


def read_toml(text: str) -> Any:
    """Return the value of a TOML text. Raises Unreadable."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as problem:
        raise Unreadable(str(problem)) from None


def set_in_toml(text: str, path: Sequence[str], table: Mapping[str, Any]) -> str:
    """Return the text with this table, at its place or at the end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    rows = [f"[{'.'.join(path)}]", *(f"{key} = {_render(table[key])}" for key in table)]
    block = [row + newline for row in rows]
    lines = text.splitlines(keepends=True)
    left, place = _cut_table(lines, path)
    if place is not None:
        return "".join([*left[:place], *block, *left[place:]])
    if lines and not lines[-1].endswith(("\n", "\r")):
        lines[-1] += newline
    return "".join([*lines, *([newline] if lines else []), *block])


def remove_from_toml(text: str, path: Sequence[str]) -> str:
    """Return the text without this table."""
    left, place = _cut_table(text.splitlines(keepends=True), path)
    if place and not left[place - 1].strip():
        del left[place - 1]
    return "".join(left)


def _cut_table(lines: list[str], path: Sequence[str]) -> tuple[list[str], int | None]:
    """Return the lines without the table and those inside of it, and where it began."""
    names = r"\s*\.\s*".join(f"[\"']?{re.escape(name)}[\"']?" for name in path)
    own = re.compile(rf"\s*\[\s*{names}\s*[.\]]")
    left: list[str] = []
    waiting: list[str] = []  # blank lines and comments, which may belong to the next table
    place, is_inside = None, False
    for line in lines:
        if _HEADER.match(line):
            is_inside = own.match(line) is not None
            if is_inside and place is None:
                place = len(left)
            left += waiting
            waiting = []
        if not is_inside:
            left.append(line)
        elif not line.strip() or line.lstrip().startswith("#"):
            waiting.append(line)
        else:
            waiting = []
    return [*left, *waiting], place


def _render(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_render(value[key])}" for key in value) + " }"
    return json.dumps(value, ensure_ascii=False)
