"""Read the statements of the store from its modules."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa

import app.store

ROOT = Path(app.store.__file__).parents[2]

_VERB = re.compile(r"\s*(SELECT|WITH|INSERT|UPDATE|DELETE)\b")
_HOLE = re.compile(r"\{\w*\}")
_COMPARED = re.compile(r"(\w+) = %s")


def squeeze(statement: str) -> str:
    """Return the statement without whitespace, to compare it with others."""
    return re.sub(r"\s+", "", statement)


def is_template(statement: str) -> bool:
    """Return True if the text gets names of tables, or more conditions, before it is sent."""
    return bool(_HOLE.search(re.sub(r"'[^']*'", "", statement)))


def list_constants() -> Iterator[tuple[str, str]]:
    """Yield each statement that is a constant of a module, after the module and its own name."""
    for module in pkgutil.walk_packages(app.store.__path__, "app.store."):
        for name, value in vars(importlib.import_module(module.name)).items():
            for text in _find_texts(value):
                if _VERB.match(text):
                    named = _COMPARED.sub(r"\1 = :\1", text).replace("%s", ":value")
                    named = re.sub(r"%\((\w+)\)s", r":\1", named)
                    yield f"{module.name.removeprefix('app.store.')} {name}", named


def _find_texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, sa.TextClause):
        yield value.text
    elif isinstance(value, dict):
        yield from _find_texts(tuple(value.values()))
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _find_texts(part)


def list_composed() -> Iterator[tuple[str, str]]:
    """Yield each statement that a function composes, with `{}` for what is put into it, after where it stands."""
    for path in sorted((ROOT / "app/store").rglob("*.py")):
        for outer in ast.walk(ast.parse(path.read_text())):
            if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef):
                place = path.relative_to(ROOT / "app/store").with_suffix("")
                for text in _list_texts(outer):
                    if _VERB.match(text):
                        yield f"{'.'.join(place.parts)} {outer.name}", text


def _list_texts(node: ast.AST) -> Iterator[str]:
    """Yield the strings in a function, with `{}` for what is put into them."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(
            str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
        )
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    else:
        for part in ast.iter_child_nodes(node):
            yield from _list_texts(part)


def split_template(text: str) -> list[str]:
    """Return the parts of a template between its holes, without whitespace."""
    return [squeeze(part) for part in _HOLE.split(text.replace("%s", "{}"))]


def has_parts(statement: str, parts: list[str]) -> bool:
    """Return True if a statement without whitespace has these parts in their order, whatever is between them."""
    place = 0
    for part in parts:
        place = statement.find(part, place)
        if place < 0:
            return False
        place += len(part)
    return True
