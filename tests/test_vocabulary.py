"""The words of docs/design/vocabulary.md are the words of the code."""

import ast
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from app.store.tables import metadata

ROOT = Path(__file__).parent.parent
BANNED = {
    "told",
    "said",
    "asked",
    "given",
    "found",
    "kept",
    "held",
    "beside",
    "apart",
    "alone",
}

# Names that callers see: fields of answers.
STORED_OR_WIRE = {
    ("app/api/answers/lifespans.py", "kept"),
    ("app/api/answers/reviews.py", "held"),
}


def list_terms() -> list[tuple[str, str, str, str]]:
    """Return term, type, table and route of each row of the table of terms."""
    rows = []
    for line in (ROOT / "docs" / "design" / "vocabulary.md").read_text("utf-8").splitlines():
        cells = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 6 and cells[0] not in {"term", "---"}:
            rows.append((cells[0], cells[2], cells[3], cells[4]))
    return rows


def parse_app() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted((ROOT / "app").rglob("*.py")):
        yield path, ast.parse(path.read_text("utf-8"))


@cache
def list_type_names() -> set[str]:
    """Return every class of the code, and the names made by NewType."""
    names = set()
    for _, tree in parse_app():
        for node in ast.walk(tree):
            match node:
                case ast.ClassDef(name=name):
                    names.add(name)
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call()):
                    names.add(name)
    return names


def list_defined_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and name of every function, class, parameter, variable and attribute."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield node.lineno, name
            case ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.arg(arg=name):
                yield node.lineno, name
            case ast.Name(id=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name


def test_the_vocabulary_has_its_terms() -> None:
    assert len(list_terms()) > 30


@pytest.mark.parametrize(("term", "type_name", "table", "route"), list_terms())
def test_each_term_names_a_type_a_table_and_a_route_that_exist(
    term: str, type_name: str, table: str, route: str
) -> None:
    routes = json.loads((ROOT / "openapi" / "openapi.json").read_text("utf-8"))["paths"]
    assert type_name in {"–", *list_type_names()}, term
    assert table in {"–", *metadata.tables}, term
    assert route in {"–", *routes}, term


def test_no_name_is_a_banned_word() -> None:
    broken = []
    for path, tree in parse_app():
        place = path.relative_to(ROOT).as_posix()
        for line, name in list_defined_names(tree):
            is_stored = (place, name) in STORED_OR_WIRE
            if name.strip("_").casefold() in BANNED and not is_stored:
                broken.append(f"{place}:{line} {name}")
    assert broken == []


def test_a_banned_name_is_noticed() -> None:
    tree = ast.parse("def told(given: int) -> None:\n    found = given\n")
    assert {name for _, name in list_defined_names(tree)} & BANNED == {"told", "given", "found"}
