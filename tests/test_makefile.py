"""`make` before anything is installed: which Python it takes, and what it can do."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Each is a `python3` that begins with these words.
OLD = "import sys; sys.version_info = (3, 10, 12, 'final', 0)"
WITHOUT_VENV = "import sys; sys.modules['venv'] = sys.modules['ensurepip'] = None"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "check out"
    folder.mkdir()
    for file in (ROOT / "Makefile", ROOT / "pyproject.toml"):
        shutil.copy(file, folder)
    shutil.copytree(ROOT / "requirements", folder / "requirements")
    return folder


def run_make(folder: Path, *words: str, path: str) -> subprocess.CompletedProcess[str]:
    environment = {
        k: v for k, v in os.environ.items() if k not in ("PYTHON", "MAKEFLAGS", "MAKELEVEL")
    }
    return subprocess.run(
        ["make", *words],
        cwd=folder,
        env=environment | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def put_python(folder: Path, first: str) -> str:
    """Put a `python3` that begins with these words before the others; the new path."""
    programs = folder / "programs"
    programs.mkdir()
    program = programs / "python3"
    program.write_text(
        f"""#!/bin/sh
if [ "$1" = -V ]; then echo Python 3.10.12; exit; fi
if [ "$1" = -c ]; then exec '{sys.executable}' -c "{first}
$2"; fi
exec '{sys.executable}' "$@"
"""
    )
    program.chmod(0o755)
    return f"{programs}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.parametrize("goal", ["serve", "test", "sbom", "test-adapters"])
@pytest.mark.parametrize(
    ("first", "sentence"),
    [
        (
            OLD,
            r"Palimpsest needs Python 3\.11 or newer, and 'python3 -V' says 'Python 3\.10\.12'.*",
        ),
        (WITHOUT_VENV, r"Palimpsest is installed with venv, which python3 lacks: .*python3-venv.*"),
    ],
)
def test_a_python_that_will_not_do_is_named_before_anything_is_installed(
    checkout: Path, goal: str, first: str, sentence: str
) -> None:
    before = sorted(checkout.iterdir())
    refused = run_make(checkout, goal, path=put_python(checkout.parent, first))
    assert refused.returncode == 2
    said, end = refused.stderr.splitlines()
    assert re.fullmatch(rf"{sentence}make {goal} PYTHON=python3\.12", said)
    assert end.startswith("make: ***")
    assert refused.stdout == ""
    assert sorted(checkout.iterdir()) == before


def test_a_python_that_is_not_there_is_named(checkout: Path) -> None:
    refused = run_make(checkout, "serve", "PYTHON=python3.99", path=os.environ["PATH"])
    assert "Palimpsest needs Python 3.11 or newer, and 'python3.99 -V' says" in refused.stderr


def test_the_help_names_every_command_of_its_own(checkout: Path) -> None:
    done = run_make(checkout, "help", path=os.environ["PATH"])
    assert done.returncode == 0, done.stderr
    named = set(re.findall(r"^make ([a-z-]+) +\S", done.stdout, re.MULTILINE))
    [phony] = re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {goal for goal in phony.split() if not goal.startswith("eval-")} == named


def test_serving_is_what_make_does_without_a_goal(checkout: Path) -> None:
    refused = run_make(checkout, path=put_python(checkout.parent, OLD))
    assert "make serve PYTHON=python3.12" in refused.stderr
