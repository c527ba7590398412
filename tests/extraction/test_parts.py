"""Facts built from the marks of a text, one rule a case."""

import re

import pytest

from app.extraction.parts import Mark, MarkedText, build_parts

_LETTERS = {
    "-": Mark.PLAIN,
    "j": Mark.JOIN,
    "s": Mark.START,
    "S": Mark.SUBJECT,
    "p": Mark.PRONOUN,
    "o": Mark.OWNER,
    "t": Mark.TAIL,
}


def mark(text: str, marks: str, pointers: dict[int, int]) -> MarkedText:
    """Return a text whose words have these marks, a letter each. Most point to themselves."""
    spans = [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]
    assert len(marks) == len(spans)
    targets = [pointers.get(place, place) for place in range(len(spans))]
    return MarkedText(text, spans, [_LETTERS[letter] for letter in marks], targets)


@pytest.mark.parametrize(
    ("text", "marks", "pointers", "parts"),
    [
        ("I rent, Bo owns.", "--js-j", {}, ["I rent", "Bo owns"]),
        ("I live in Porto and work", "----js", {5: 0}, ["I live in Porto", "I work"]),
        ("I eat, speak Thai and Lao", "--js-js", {3: 0, 6: 3}, ["I eat", "I speak Thai", "I speak Lao"]),
        ("I take tea and rum daily", "---jst", {4: 1}, ["I take tea daily", "I take rum daily"]),
        ("Bo and I are ill", "-jSt-", {2: 0}, ["Bo is ill", "I am ill"]),
        ("Bo and Jo work", "-jSt", {2: 0}, ["Bo works", "Jo works"]),
        ("My cats and Jo eat fish", "--jSt-", {3: 0}, ["My cats eat fish", "Jo eats fish"]),
        ("Ms Bo sits; her code is 4", "---jo---", {4: 1}, ["Ms Bo sits", "Ms Bo's code is 4"]),
        ("My boss is in; she's Ines", "----jp---", {5: 1}, ["My boss is in", "My boss's Ines"]),
        ("Bo, who sings, lives here", "-jj-js-", {5: 0}, ["Bo sings", "Bo lives here"]),
    ],
)  # fmt: skip
def test_facts_have_what_they_share(
    text: str, marks: str, pointers: dict[int, int], parts: list[str]
) -> None:
    assert [part.text for part in build_parts(mark(text, marks, pointers))] == parts


@pytest.mark.parametrize(
    ("text", "marks", "pointers"),
    [
        ("I live in Porto", "----", {}),
        ("I live and work", "s-js", {3: 0}),  # the first word begins a fact anyway
        ("I live and work", "--js", {3: 2}),  # shares a word that is in no fact
        ("I live and work", "--jt", {}),  # a tail of no list
        ("James and Jo work", "-jSt", {2: 0}),  # one James, or several?
        ("Go and I", "-js", {}),  # no fact is one word
    ],
)
def test_marks_that_make_no_sense_give_no_facts(
    text: str, marks: str, pointers: dict[int, int]
) -> None:
    assert build_parts(mark(text, marks, pointers)) == ()
