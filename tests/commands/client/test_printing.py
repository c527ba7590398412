"""Lists on a terminal of 80 columns and in a pipe, and the short ids that commands take."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from app.commands.client import printing
from support.service_process import palimpsest
from support.terminal import run_on_terminal

LONG = "Works at the town library and cycles there each morning, unless it rains on the river"
Run = Callable[..., str]


@pytest.fixture
def environment(service: str, tmp_path: Path) -> dict[str, str]:
    return {
        "PALIMPSEST_URL": service,
        "PALIMPSEST_AGENT": f"cli-{uuid4().hex}",
        "XDG_STATE_HOME": str(tmp_path),
    }


def test_a_terminal_shows_texts_wide_and_ids_short(environment: dict[str, str]) -> None:
    stored = palimpsest("store", LONG, "--valid-from", "2026-11-22", "--json", **environment)
    whole = json.loads(stored.stdout)["memory"]["id"]
    for command in (("list",), ("search", "library"), ("history", whole)):
        shown = run_on_terminal(*command, **environment)
        heading, first, second = shown.splitlines()
        assert heading.startswith("\x1b[1m"), "the heading is bold"
        assert re.search(rf"{whole[-6:]}  22 Nov 2026  Works at the town", first)
        assert max(len(first), len(second)) <= 80
        assert " ".join((first.split("  ")[-1], second.strip())) == LONG
    assert "\x1b" not in run_on_terminal("list", NO_COLOR="1", **environment)
    for row in (
        run_on_terminal("list", "--long", **environment).splitlines()[-1],
        palimpsest("list", **environment).stdout.splitlines()[-1],
    ):
        assert row.endswith(f" {whole}  {LONG}")
        assert "2026-11-22 00:00" in row


def test_commands_take_the_end_of_an_id_that_was_shown(environment: dict[str, str]) -> None:
    stored = palimpsest("store", "Has a dog", "--json", **environment)
    whole = json.loads(stored.stdout)["memory"]["id"]
    short = whole[-6:]
    unknown = palimpsest("get", short, **environment)
    assert (unknown.returncode, unknown.stderr.count("\n")) == (2, 1)
    assert "--long" in unknown.stderr
    assert f"{short}  " in run_on_terminal("list", **environment)
    assert whole in palimpsest("get", short, **environment).stdout
    corrected = palimpsest("correct", short, "--tag", "pet", "--valid-until", "2030-01-01", **environment)  # fmt: skip
    assert "AMEND" in corrected.stdout
    got = json.loads(palimpsest("get", short, "--json", **environment).stdout)
    assert (got["tags"], got["valid_until"][:10]) == (["pet"], "2030-01-01")
    palimpsest("correct", short, "--valid-until", "none", **environment)
    assert "2030" not in palimpsest("list", **environment).stdout
    assert "name what" in palimpsest("correct", short, **environment).stderr
    assert "DELETE" in palimpsest("retract", short, **environment).stdout
    assert palimpsest("erase", short, "--yes", **environment).returncode == 0


def test_two_ids_with_one_end_are_not_confused(environment: dict[str, str], tmp_path: Path) -> None:
    known = tmp_path / "palimpsest" / "shown_ids"
    known.parent.mkdir()
    known.write_text("\n".join(f"01a22bd8-5f93-72b6-b664-00000{n}abcdef" for n in (1, 2)))
    refused = palimpsest("get", "abcdef", **environment)
    assert (refused.returncode, "2 ids" in refused.stderr) == (2, True)


def test_on_a_narrow_terminal_texts_stand_below_the_other_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(printing, "is_long", lambda: False)
    monkeypatch.setenv("COLUMNS", "40")
    printing.print_table(["id", "since", "text"], [["e622d7", "30 Nov 2026", LONG]])
    heading, columns, *texts = capsys.readouterr().out.splitlines()
    assert (heading, columns) == ("id      since        text", "e622d7  30 Nov 2026")
    assert max(map(len, texts)) <= 40
    assert " ".join(map(str.strip, texts)) == LONG


def test_what_left_nothing_prints_no_empty_table(environment: dict[str, str]) -> None:
    stored = palimpsest("store", "Has a dog", "--json", **environment)
    whole = json.loads(stored.stdout)["memory"]["id"]
    retracted = palimpsest("retract", whole, "--reason", "Sold it", **environment).stdout
    assert retracted.splitlines() == ["DELETE Sold it", f"ended: {whole} Has a dog"]


def test_a_text_cannot_control_the_terminal(environment: dict[str, str]) -> None:
    palimpsest("store", "Uses the color \x1b[31mred\x07", **environment)
    shown = run_on_terminal("list", NO_COLOR="1", **environment)
    assert "color \N{REPLACEMENT CHARACTER}[31mred" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one two three", ["one two", "three"]),
        ("incomprehensible", ["incompre", "hensible"]),
        ("東京駅の近く", ["東京駅の", "近く"]),
        ("", [""]),
    ],
)
def test_lines_are_broken_by_the_cells_that_they_take(text: str, lines: list[str]) -> None:
    assert printing._wrap(text, 8) == lines
