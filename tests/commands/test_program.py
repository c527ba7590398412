"""Whether a command called `palimpsest` is ours: package indexes have other programs of that name."""

import sys
from pathlib import Path

import pytest

from app.commands.program import describe_version, find_foreign_command, is_own_command

OURS = f"#!/bin/sh\nexec '{sys.executable}' -m app.cli \"$@\"\n"
FOREIGN = {
    "another name": "#!/bin/sh\necho 'palimpsest-client 0.3.9'\n",
    "a version only": "#!/bin/sh\necho 0.1.0\n",
    "a longer name": "#!/bin/sh\necho palimpsest-memory-client 0.1.0\n",
    "no such option": "#!/bin/sh\necho palimpsest-memory 0.1.0; exit 2\n",
    "no output": "#!/bin/sh\n",
    "no program": "not a script",
    "no text": "#!/bin/sh\nprintf '\\377\\376'\n",
}


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that `palimpsest` starts in a shell; nothing is written there yet."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path / "palimpsest"


def write_program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def test_our_command_is_known_by_what_it_calls_itself(program: Path) -> None:
    write_program(program, OURS)
    assert is_own_command(str(program))
    assert is_own_command("palimpsest")
    assert find_foreign_command() is None
    assert describe_version().startswith("palimpsest-memory 0.1.0+")


@pytest.mark.parametrize("kind", FOREIGN)
def test_the_command_of_another_program_is_not_taken_for_ours(program: Path, kind: str) -> None:
    write_program(program, FOREIGN[kind])
    assert not is_own_command(str(program))
    assert find_foreign_command() == str(program)


def test_a_command_that_does_not_end_is_not_ours(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.commands.program._PATIENCE", 0.1)
    write_program(program, "#!/bin/sh\nexec sleep 60\n")
    assert not is_own_command(str(program))


def test_where_no_command_has_the_name_none_is_foreign(program: Path) -> None:
    assert find_foreign_command() is None
    assert not is_own_command(str(program))
    assert not is_own_command("a\0b")
