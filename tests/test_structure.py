"""The tests stand in the rooms of the code that they test, and share code only through `support`."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
APP = TESTS.parent / "app"
OTHER_FOLDERS = {"support", "migrations", "attacks", "clients"}
DATA_FOLDERS = {"data", "golden"}
MODULES = sorted(TESTS.rglob("*.py"))


def imported_names(module: Path) -> Iterator[str]:
    """Yield each dotted part of what a module imports, the imported names included."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield from alias.name.split(".")
            case ast.ImportFrom(module=source, names=names):
                yield from (source or "").split(".")
                for alias in names:
                    yield alias.name


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(TESTS)))
def test_no_module_imports_a_test_module_or_conftest(module: Path) -> None:
    for name in imported_names(module):
        assert name != "conftest", "move what is shared to tests/support"
        assert not name.startswith("test_"), "move what is shared to tests/support"


def test_each_folder_mirrors_a_room_of_the_service() -> None:
    folders = {path.parent.relative_to(TESTS) for path in MODULES}
    rooms = {folder for folder in folders if str(folder) not in OTHER_FOLDERS}
    assert [str(room) for room in sorted(rooms) if not (APP / room).is_dir()] == []


def test_every_other_folder_holds_data_of_its_room() -> None:
    with_files = {path.parent for path in TESTS.rglob("*.*") if path.is_file()}
    without_code = with_files - {path.parent for path in MODULES}
    names = {folder.name for folder in without_code if "__pycache__" not in folder.parts}
    assert names <= DATA_FOLDERS


def test_support_holds_no_tests() -> None:
    for module in (TESTS / "support").glob("*.py"):
        tree = ast.parse(module.read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        assert [f.name for f in functions if f.name.startswith("test_")] == []
