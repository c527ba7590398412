"""Turns about which no model is asked: the rules must find small talk and nothing else."""

import pytest

from app.extraction.model.small_talk import list_small_talk
from support.talk import build_turns, read_turns


def find(*lines: str, first: int = 0) -> list[str] | None:
    turns = build_turns(*lines)
    return list_small_talk(turns, first, read_turns(turns))


@pytest.mark.parametrize("line", ["Thanks!", "How are you?", "What can I cook?", "lol, that bug."])
def test_small_talk_is_listed_with_its_parts(line: str) -> None:
    texts = find(line)
    assert texts
    assert texts[0] == line


@pytest.mark.parametrize(
    "line",
    [
        "I live in Lisbon.",
        "Thanks! My sister is a vet.",
        "Always answer in German.",
        "I'd love to live in Rome one day.",
    ],
)
def test_what_may_state_something_is_none(line: str) -> None:
    assert find(line) is None


@pytest.mark.parametrize(
    ("said", "answer"),
    [("Do you still sing?", "sort of"), ("So you sing alto.", "Yes.")],
)
def test_an_answer_to_the_assistant_is_none(said: str, answer: str) -> None:
    assert find(f"assistant: {said}", answer) is None


def test_thanks_for_what_the_assistant_said_is_small_talk() -> None:
    assert find("assistant: It is sunny.", "Thanks!") is not None


def test_only_new_turns_count() -> None:
    assert find("I live in Lisbon.", "Thanks!", first=1) == ["Thanks!", "Thanks!"]
