"""The examples of docs/guide/talk.md, executed."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.domain.talk import Role, SkipReason, Turn
from support.talk import read_turns

PAGE = (Path(__file__).parents[2] / "docs" / "guide" / "talk.md").read_text("utf-8")
EXAMPLES = re.findall(r"```talk\n(.*?)```", PAGE, re.DOTALL)
NOW = datetime(2026, 3, 2, tzinfo=UTC)
Outcome = tuple[str, str]


def read_example(example: str) -> tuple[list[Turn], list[list[Outcome]]]:
    """Return the turns, and for each turn what becomes of its parts."""
    turns: list[Turn] = []
    outcomes: list[list[Outcome]] = []
    for line in example.splitlines():
        name, text = line.split(": ", 1)
        if name in set(Role):
            turns.append(Turn(Role(name), text, NOW))
            outcomes.append([])
        else:
            outcomes[-1].append((name, text))
    return turns, outcomes


def test_the_page_has_examples() -> None:
    assert len(EXAMPLES) >= 5


@pytest.mark.parametrize("example", EXAMPLES)
def test_talk_is_read_as_the_page_says(example: str) -> None:
    turns, outcomes = read_example(example)
    extraction = read_turns(turns)
    for place, (turn, expected) in enumerate(zip(turns, outcomes, strict=True)):
        if turn.role is not Role.USER:
            continue
        seen = [("fact", s.text) for s in extraction.statements if s.quotes[0].turn == place]
        for skipped in extraction.skipped:
            quote = skipped.quote
            if quote.turn == place:
                seen.append((skipped.reason.value, turn.content[quote.start : quote.end]))
        assert sorted(seen) == sorted(expected)


def test_the_page_names_every_reason_of_a_skip() -> None:
    by_models = {SkipReason.UNSUPPORTED}
    named = set(re.findall(r"`([a-z_]+)`", PAGE))
    assert {reason.value for reason in set(SkipReason) - by_models} <= named
