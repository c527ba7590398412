import pytest

from app.domain.fact import Slot
from app.domain.text import fold, fold_loosely, hash_text_loosely, is_storable


@pytest.mark.parametrize(
    ("text", "folded"),
    [(" Vim ", "vim"), ("ＶＩＭ", "vim"), ("Straße", "strasse"), ("ﬁle", "file"), ("İ", "i̇")],
)
def test_values_fold_case_width_and_the_space_around(text: str, folded: str) -> None:
    assert fold(text) == folded
    assert fold(folded) == folded


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Has a dog.", "has a dog"),
        ("“Has”  a dog!", "Has a dog"),
        ("It’s Rex", "it's rex"),
        ("dogs, cats; birds", "dogs cats birds"),
        ("(see node.js)", "see node.js"),
    ],
)
def test_wording_that_differs_in_marks_only_is_alike(one: str, other: str) -> None:
    assert hash_text_loosely(one) == hash_text_loosely(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C", "C++"),
        ("C", "C#"),
        ("5", "-5"),
        ("3.5", "35"),
        ("50%", "50"),
        ("$5", "5"),
        ("a/b", "ab"),
        ("Is it?", "Is it"),
        ("10:30", "1030"),
        ("!", "?"),
    ],
)
def test_marks_that_carry_meaning_stay(one: str, other: str) -> None:
    assert fold_loosely(one) != fold_loosely(other) or hash_text_loosely(one) != hash_text_loosely(
        other
    )


@pytest.mark.parametrize("text", ["a\x00b", "\ud800", "\udfff!"])
def test_what_postgres_cannot_hold_is_not_storable(text: str) -> None:
    assert not is_storable(text)
    assert is_storable("🦊 \u0001 \uffff")


def test_slots_meet_by_their_folded_words() -> None:
    assert Slot.from_words(None, None, " Editor") == Slot.from_words("USER", " ", "editor")
    assert Slot.from_words("ana", "", "x").digest != Slot.from_words("an", "a", "x").digest
    assert Slot.from_words("", "", "").key is None
