"""The words in which two texts differ."""

import pytest

from app.console.word_difference import MOST_WORDS, mark_difference


@pytest.mark.parametrize(
    ("old", "new", "marked"),
    [
        ("I live in Porto", "I live in Lisbon", ("<del>Porto</del>", "<ins>Lisbon</ins>")),
        ("I like tea.", "I like tea", ("I like tea.", "I like tea")),
        ("Same words", "same words", ("Same words", "same words")),
        ("", "All new", ("", "<ins>All new</ins>")),
        ("<b>x</b>", "y", ("<del>&lt;b&gt;x&lt;/b&gt;</del>", "<ins>y</ins>")),
        ("a \u202eb", "a", ("<del>⟨U+202E⟩b</del>", "a")),
        ("我住在波尔图", "我住在里斯本", ("<del>我住在波尔图</del>", "<ins>我住在里斯本</ins>")),
        (None, "New", ("erased", "<ins>New</ins>")),
    ],
)
def test_differing_words_are_marked(old: str | None, new: str, marked: tuple[str, str]) -> None:
    for shown, expected in zip(mark_difference(old, new), marked, strict=True):
        assert expected in shown


def test_long_texts_are_compared_in_part_and_say_so() -> None:
    old, new = mark_difference("z " * 8000, "q " * 8000)
    assert old.count("z") == MOST_WORDS
    assert "the rest is not compared" in old
    assert "the rest is not compared" in new


@pytest.mark.parametrize(
    ("beginning", "old_end", "new_end"),
    [
        ("word " * 900, "Porto", "Lisbon"),
        ("word " * 300 + "x" * 8000 + " ", "Porto", "Lisbon"),
        ("word " * 900, "", "Lisbon"),
    ],
)
def test_a_difference_far_behind_is_shown(beginning: str, old_end: str, new_end: str) -> None:
    old, new = mark_difference(beginning + old_end, beginning + new_end)
    assert "same words before" in old
    assert f"<ins>{new_end}</ins>" in new
    assert (f"<del>{old_end}</del>" in old) == bool(old_end)
    assert "not compared" not in old + new


def test_a_difference_inside_a_long_word_is_marked() -> None:
    old, new = mark_difference("x" * 300 + "Porto", "x" * 300 + "Lisbon")
    assert "Porto</del>" in old
    assert "Lisbon</ins>" in new


def test_equal_long_texts_are_shown_from_their_beginning() -> None:
    old, new = mark_difference("first " + "z " * 1000, "first " + "z " * 1000)
    assert old == new
    assert "first" in old
    assert "<del>" not in old


def test_piles_of_marks_do_not_grow_over_other_lines() -> None:
    old, _ = mark_difference("a" + "\u0301" * 8000, "b")
    assert old.count("\u0301") <= 4
