import pytest

from app.domain.talk import SkipReason
from app.extraction.blocks import find_blocks, find_line_reason
from support.talk import list_facts


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("def f(x):", SkipReason.CODE),
        ("const x = 1;", SkipReason.CODE),
        ("SELECT id FROM users", SkipReason.CODE),
        ("$ npm install", SkipReason.CODE),
        ("git push origin main", SkipReason.CODE),
        ('"name": "palimpsest",', SkipReason.CODE),
        ("<li>I live in Rome</li>", SkipReason.CODE),
        ('<div class="x">', SkipReason.CODE),
        ("<div>hello</div> is what I get. I am a gardener.", None),
        ("| a | b | c |", SkipReason.TABLE),
        ("a\tb\tc", SkipReason.TABLE),
        ("Item;Owner;Due", SkipReason.TABLE),
        ("id,name,city", SkipReason.TABLE),
        ("2026-03-02T10:00:00Z started", SkipReason.LOG),
        ("ERROR [main] no such file", SkipReason.LOG),
        ("Traceback (most recent call last):", SkipReason.LOG),
        ("ValueError: bad", SkipReason.LOG),
        ("> I live in Rome", SkipReason.QUOTATION),
        ("I like tea, coffee, and milk.", None),
        ("For context: I live in Rome", None),
        ("make sure to wear warm clothes", None),
        ("Note: my cleaner comes on Wednesdays", None),
        ("I go to the gym at 10:30", None),
    ],
)
def test_a_line_is_told_by_its_shape(line: str, reason: SkipReason | None) -> None:
    assert find_line_reason(line) is reason


def test_a_fence_reaches_to_its_end_or_to_the_end_of_the_turn() -> None:
    assert list_facts("I like tea.\n```\nI like x\n```\nI hate milk.") == [
        "I like tea",
        "I hate milk",
    ]
    assert list_facts("I like tea. ```py\nI like x\n\nI hate milk.") == ["I like tea"]


def test_neighbouring_lines_of_one_kind_are_one_block() -> None:
    blocks = [*find_blocks("look:\n| a | b | c |\n| 1 | 2 | 3 |\nthanks")]
    assert [block.reason for block in blocks] == [None, SkipReason.TABLE, None]


def test_a_wrapped_line_is_read_as_one() -> None:
    text = "I work as a nurse in the large hospital which stands near the old\nharbour of Hamburg"
    assert list_facts(text) == [text]
