import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.fact import Slot
from app.domain.text import (
    differ_in_exact_words,
    fold,
    fold_loosely,
    fold_value,
    hash_text_loosely,
    is_storable,
)


@pytest.mark.parametrize(
    ("text", "folded"),
    [(" Vim ", "vim"), ("ＶＩＭ", "vim"), ("Straße", "strasse"), ("ﬁle", "file"), ("İ", "i̇")],
)
def test_words_of_slots_fold_case_width_and_the_space_around(text: str, folded: str) -> None:
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
        ("I LIVE IN PORTO!", "I live in Porto."),
        ("Has a DOG", "has a dog"),
        ("Since 2019 I live in Graz", "since 2019 i live in graz"),
        ("Standup is at 9 AM", "standup is at 9 am"),
        ('He said "I am 35"', "He said I am 35"),
        ("O’Brien has Wi-Fi", "o'brien has wi-fi"),
        ("Born in 1990...", "born in 1990"),
        ("Is it Porto?", "is it porto?"),
        ("Ｖｉｍ ５", "vim 5"),
        ("Cafe\u0301 Ｅ", "café e"),
    ],
)
def test_wording_that_differs_in_plain_case_spacing_or_ends_is_alike(one: str, other: str) -> None:
    assert hash_text_loosely(one) == hash_text_loosely(other)
    assert not differ_in_exact_words(one, other)


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


# Pairs of a word in which case or a mark carries meaning.
EXACT = [
    ("!=", "="),
    ("<=", "<"),
    (":)", ":("),
    ("fine:)", "fine:("),
    ("~1.2", "1.2"),
    ("^2.0", "2.0"),
    ("1,5", "1.5"),
    ("10²", "102"),
    ("5 mW", "5 MW"),
    ("12 mb", "12 Mb"),
    ("3 s", "3 S"),
    ("5'", '5"'),
    ("Tulip77", "tulip77"),
    ("a1B2", "A1b2"),
    ("src/Utils/env.ts", "src/utils/env.ts"),
    (".env", "env"),
    (":8080", "8080"),
    ("-v", "-V"),
    ("run()", "run"),
    ("[3]", "3"),
    ("dbHost", "dbhost"),
    ("@Ana", "@ana"),
    ("#Main", "#main"),
    ("user_Name", "user_name"),
    ("{id}", "id"),
    ("&&", "||"),
]
PLAIN_WORDS = st.lists(
    st.sampled_from("the pump draws it is now set to our own".split()), max_size=6
)


@pytest.mark.parametrize("pair", EXACT)
@given(before=PLAIN_WORDS, after=PLAIN_WORDS)
def test_words_whose_case_or_marks_may_carry_meaning_are_compared_exactly(
    pair: tuple[str, str], before: list[str], after: list[str]
) -> None:
    one, other = (" ".join(["so", *before, word, *after]) for word in pair)
    assert hash_text_loosely(one) != hash_text_loosely(other)
    assert fold_value(one) != fold_value(other)
    assert differ_in_exact_words(one, other)


@given(words=PLAIN_WORDS, end=st.sampled_from(["", ".", "!", " .", "…"]))
def test_plain_words_are_equal_in_any_case_and_spacing(words: list[str], end: str) -> None:
    text = " ".join(["so", *words])
    assert fold_loosely("  ".join(map(str.title, ["so", *words])) + end) == fold_loosely(text)
    assert fold_value(text.capitalize()) == fold_value(text)


@given(st.text(max_size=40))
def test_folding_twice_folds_no_further(text: str) -> None:
    assert fold_value(fold_value(text)) == fold_value(text)
    assert not differ_in_exact_words(text, text)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Vim", " vim"), ("ＶＩＭ", "VIM"), ("São Paulo", "são paulo"), ("9:30 AM", "9:30 am")],
)
def test_values_fold_the_case_of_plain_words_and_width(one: str, other: str) -> None:
    assert fold_value(one) == fold_value(other)


@pytest.mark.parametrize(
    ("one", "other"), [("Vim.", "Vim"), ("a  b", "a b"), ("5 MW", "5 mW"), ("Tulip77", "tulip77")]
)
def test_values_keep_their_marks_and_spacing_inside(one: str, other: str) -> None:
    assert fold_value(one) != fold_value(other)


@pytest.mark.parametrize("text", ["a\x00b", "\ud800", "\udfff!"])
def test_what_postgres_cannot_hold_is_not_storable(text: str) -> None:
    assert not is_storable(text)
    assert is_storable("🦊 \u0001 \uffff")


def test_slots_meet_by_their_folded_words() -> None:
    assert Slot.from_words(None, None, " Editor") == Slot.from_words("USER", " ", "editor")
    assert Slot.from_words("ana", "", "x").digest != Slot.from_words("an", "a", "x").digest
    assert Slot.from_words("", "", "").key is None
