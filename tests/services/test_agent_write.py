"""The write ceremony has one home."""

import ast
from pathlib import Path

import app

APP = Path(app.__file__).parent
CEREMONY = APP / "services" / "agent_write.py"


def find_callers(function: str) -> list[Path]:
    callers: list[Path] = []
    for path in sorted(APP.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", None)
            if name == function:
                callers.append(path)
    return callers


def test_only_the_write_ceremony_locks_an_agent() -> None:
    assert find_callers("lock_agent") == [CEREMONY]


def test_only_the_write_ceremony_looks_up_and_keeps_answers_under_the_lock() -> None:
    assert find_callers("check_replay") == [CEREMONY]
    assert find_callers("keep_result") == [CEREMONY]


def test_only_the_write_ceremony_applies_plans_and_counts_them() -> None:
    assert set(find_callers("apply_plans")) == {CEREMONY}
    assert find_callers("count_operations") == [CEREMONY]


def test_every_write_says_whether_it_refuses_a_frozen_agent() -> None:
    for path in sorted((APP / "services").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "agent_write":
                assert "refuse_frozen" in {keyword.arg for keyword in node.keywords}, path
