"""Changes in the text of a JSON file that leave every other byte as it was.

Files of hosts are written by people: comments, trailing commas, single quotes and bare names
(JSONC and JSON5) are read, and stay.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Path = Sequence[str | int]

_SPACE = r"(?:[\s\ufeff]|//[^\r\n]*|/\*.*?\*/)"
_SPACES = re.compile(f"{_SPACE}*", re.DOTALL)
_QUOTED = r'"(?:[^"\\\r\n]|\\.)*"|' + r"'(?:[^'\\\r\n]|\\.)*'"
_TOKEN = re.compile(rf"""{_QUOTED}|[{{}}\[\]:,]|[^\s{{}}\[\]:,"'/]+""", re.DOTALL)
_REST_OF_LINE = re.compile(r"(?:[^\S\r\n]|/\*[^\r\n]*?\*/)*(?://[^\r\n]*)?")
_DEPTH = 100


class Unreadable(Exception):
    """A text is not what its format demands; the message names line and column."""


@dataclass
class Node:
    """A value of a JSON text, and the half-open place of its text."""

    start: int
    end: int
    value: Any
    children: dict[str | int, "Node"] = field(default_factory=dict)
    # Where each child begins: with its name, if it has one.
    starts: dict[str | int, int] = field(default_factory=dict)


def read_json(text: str) -> Any:
    """Return the value of a JSON text, an empty object for an empty text. Raises Unreadable."""
    return _parse(text).value


def set_in_json(text: str, path: Path, value: Any) -> str:
    """Return the text with the value at this path. Raises Unreadable.

    Objects on the way are made. The index of a list may be its length.
    """
    if not _SPACES.sub("", text):
        text = text + "{}\n"
    newline = "\r\n" if "\r\n" in text else "\n"
    node, depth = _parse(text), 0
    while depth < len(path) and path[depth] in node.children:
        node, depth = node.children[path[depth]], depth + 1
    for key in reversed(path[depth + 1 :]):
        value = [value] if isinstance(key, int) else {key: value}
    if depth == len(path):
        written = _render(text, value, _find_indent(text, node.start), newline)
        return text[: node.start] + written + text[node.end :]
    expected = list if isinstance(path[depth], int) else dict
    if not isinstance(node.value, expected):
        raise Unreadable(f"{_locate(text, node.start)}: this is no {_NAMES[expected]}")
    return _insert(text, node, path[depth], value, newline)


_NAMES: dict[type, str] = {list: "list", dict: "object"}


def remove_from_json(text: str, path: Path) -> str:
    """Return the text without the value at this path, and without what is then empty around it."""
    way = [_parse(text)]
    for key in path:
        if key not in way[-1].children:
            return text
        way.append(way[-1].children[key])
    depth = len(path)
    while depth > 1 and len(way[depth - 1].children) == 1:
        depth -= 1
    return _cut(text, way[depth - 1], path[depth - 1])


# --- reading -----------------------------------------------------------------------------------


def _parse(text: str) -> Node:
    if not _SPACES.sub("", text):
        return Node(0, 0, {})
    tokens = _Tokens(text)
    node = tokens.read_value(0)
    if tokens.peek():
        raise tokens.refuse("nothing more is expected")
    return node


class _Tokens:
    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self._skip()

    def _skip(self) -> None:
        match = _SPACES.match(self.text, self.place)
        assert match is not None  # it may be empty
        self.place = match.end()

    def peek(self) -> str:
        match = _TOKEN.match(self.text, self.place)
        if match is None and self.place < len(self.text):
            raise self.refuse("this cannot be read")
        return match[0] if match else ""

    def take(self) -> str:
        token = self.peek()
        self.place += len(token)
        self._skip()
        return token

    def refuse(self, reason: str) -> Unreadable:
        return Unreadable(f"{_locate(self.text, self.place)}: {reason}")

    def read_value(self, depth: int) -> Node:
        start, first = self.place, self.peek()
        if depth > _DEPTH:
            raise self.refuse("it is nested too deeply")
        if first in ("{", "["):
            return self._read_children(depth, is_object=first == "{")
        if first in ("", "}", "]", ":", ","):
            raise self.refuse("a value is missing")
        self.take()
        return Node(start, start + len(first), _read_scalar(first))

    def _read_children(self, depth: int, *, is_object: bool) -> Node:
        node = Node(self.place, 0, {} if is_object else [])
        self.take()
        closing = "}" if is_object else "]"
        while self.peek() != closing:
            start = self.place
            key: str | int = self._read_name() if is_object else len(node.children)
            child = self.read_value(depth + 1)
            node.children[key], node.starts[key] = child, start
            if self.peek() == ",":
                self.take()
            elif self.peek() != closing:
                raise self.refuse(f"a comma or {closing} is missing")
        node.end = self.place + 1
        self.take()
        values = {key: child.value for key, child in node.children.items()}
        node.value = values if is_object else list(values.values())
        return node

    def _read_name(self) -> str:
        if self.peek() in ("", "{", "}", "[", "]", ":", ","):
            raise self.refuse("a name is missing")
        name = str(_read_scalar(self.take()))
        if self.take() != ":":
            raise self.refuse("a colon is missing")
        return name


def _read_scalar(token: str) -> Any:
    if token.startswith("'"):
        token = '"' + token[1:-1].replace("\\'", "'").replace('"', '\\"') + '"'
    try:
        return json.loads(token, strict=False)
    except ValueError:
        return token.strip('"')  # names and numbers of JSON5


def _locate(text: str, place: int) -> str:
    line = text.count("\n", 0, place) + 1
    return f"line {line}, column {place - text.rfind(chr(10), 0, place)}"


# --- writing -----------------------------------------------------------------------------------


def _insert(text: str, node: Node, key: str | int, value: Any, newline: str) -> str:
    """Return the text with a new last child of this object or list."""
    is_one_line = "\n" not in text[node.start : node.end]
    outer = _find_indent(text, node.start)
    inner = outer + _find_unit(text)
    name = f"{json.dumps(key, ensure_ascii=False)}: " if isinstance(key, str) else ""
    if not node.children:
        child = name + _render(text, value, inner, newline)
        # Comments inside of it stay before the child.
        left = text[node.start + 1 : node.end - 1].rstrip()
        body = f"{left}{newline}{inner}{child}{newline}{outer}"
        return text[: node.start + 1] + body + text[node.end - 1 :]
    last = list(node.children.values())[-1]
    has_comma = (comma := _find_comma(text, last.end)) is not None
    place = last.end if comma is None else comma + 1
    if is_one_line:
        child = name + json.dumps(value, ensure_ascii=False)
        return f"{text[:place]}{' ' if has_comma else ', '}{child}{text[place:]}"
    inner = _find_indent(text, list(node.starts.values())[-1])
    child = name + _render(text, value, inner, newline)
    rest = _REST_OF_LINE.match(text, place)
    line_end = rest.end() if rest and text[rest.end() : rest.end() + 1] in ("\r", "\n") else place
    between = text[last.end : line_end] if has_comma else "," + text[last.end : line_end]
    after = "," if has_comma else ""
    return f"{text[: last.end]}{between}{newline}{inner}{child}{after}{text[line_end:]}"


def _cut(text: str, node: Node, key: str | int) -> str:
    start, end = node.starts[key], node.children[key].end
    comma = _find_comma(text, end)
    keys = list(node.children)
    before = len(text[:start].rstrip())
    if comma is None and len(keys) > 1:
        # It was the last one: the comma before it goes too.
        previous = node.children[keys[keys.index(key) - 1]].end
        comma_before = _find_comma(text, previous)
        assert comma_before is not None
        return text[:comma_before] + text[comma_before + 1 : before] + text[end:]
    end = end if comma is None else comma + 1
    if before == node.start + 1 and not text[end : node.end - 1].strip():
        end = node.end - 1
    return text[:before] + text[end:]


def _find_comma(text: str, place: int) -> int | None:
    match = _SPACES.match(text, place)
    assert match is not None
    return match.end() if text[match.end() : match.end() + 1] == "," else None


def _find_indent(text: str, place: int) -> str:
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip())]


def _find_unit(text: str) -> str:
    match = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return match[1] if match else "  "


def _render(text: str, value: Any, indent: str, newline: str) -> str:
    lines = json.dumps(value, indent=_find_unit(text), ensure_ascii=False).split("\n")
    return (newline + indent).join(lines)
