"""Commands made of functions."""

import re
from enum import StrEnum
from typing import Annotated, Any

import click
import pytest

from app.commands.parameters import Argument, Option, build_command


class Color(StrEnum):
    RED = "red"
    BLUE = "blue"


def paint(
    walls: Annotated[list[str], Argument(metavar="WALL...", help="What is painted.")],
    color: Annotated[Color, Option("--in", help="Which color.")] = Color.RED,
    coats: Annotated[int, Option(min=1, max=3)] = 1,
    by: Annotated[str | None, Option(metavar="NAME", help="Who paints.")] = None,
    tools: Annotated[list[Color] | None, Option("--tool")] = None,
    dry: Annotated[bool, Option("--dry-run", help="Only look.")] = False,
    polish: Annotated[bool, Option()] = True,
) -> dict[str, Any]:
    """Paint walls.

    More words.
    """
    return dict(locals())


PAINT = build_command(paint, "paint", "paint north --in blue")
DEFAULTS = {
    "walls": ["north"],
    "color": Color.RED,
    "coats": 1,
    "by": None,
    "tools": None,
    "dry": False,
    "polish": True,
}


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        (["north"], {}),
        (["north", "south"], {"walls": ["north", "south"]}),
        (["north", "--in", "blue"], {"color": Color.BLUE}),
        (["north", "--coats", "3", "--by", "Ada"], {"coats": 3, "by": "Ada"}),
        (["north", "--tool", "red", "--tool", "blue"], {"tools": [Color.RED, Color.BLUE]}),
        (["north", "--dry-run", "--no-polish"], {"dry": True, "polish": False}),
    ],
)
def test_words_become_arguments(words: list[str], changed: dict[str, Any]) -> None:
    assert PAINT.main(words, standalone_mode=False) == DEFAULTS | changed


@pytest.mark.parametrize(
    "words", [[], ["north", "--in", "green"], ["north", "--coats", "4"], ["north", "--by"]]
)
def test_wrong_words_are_refused(words: list[str]) -> None:
    with pytest.raises(click.UsageError):
        PAINT.main(words, standalone_mode=False)


def test_the_help_has_an_example_and_no_types_of_flags() -> None:
    shown = PAINT.get_help(click.Context(PAINT))
    assert "palimpsest paint north --in blue" in shown
    assert "--in [red|blue]" in shown
    assert "[default: red]" in shown
    assert "--by NAME" in shown
    assert re.search(r"--dry-run +Only look\.", shown)
