"""Rows of a list: one form, each with a subject and one value."""

import pytest

from app.classification.lists import is_in_list

CAPITALS = [
    "The capital of Norway is Oslo.",
    "The capital of Peru is Lima.",
    "The capital of Old Siam is Bangkok.",
]
OLD, NEW = "The capital of Cardonia is Fen.", "The capital of Cardonia is Oss."


def test_another_value_of_a_row_is_in_the_list() -> None:
    assert is_in_list(NEW, OLD, [*CAPITALS, "I like tea."])


@pytest.mark.parametrize(
    "other",
    ["The capital of Cardonia is Ux.", "The capital of Peru is Cusco."],
    ids=["a third value", "a second value elsewhere"],
)
def test_a_form_of_which_subjects_have_several_values_is_no_list(other: str) -> None:
    assert not is_in_list(NEW, OLD, [*CAPITALS, other])


def test_a_few_rows_are_no_list() -> None:
    assert not is_in_list(NEW, OLD, CAPITALS[:2])


@pytest.mark.parametrize(
    ("incoming", "stored", "others"),
    [
        ("My dog is Rex.", "My dog is Bo.", ["My cat is Mia.", "My boss is Al.", "My son is Per."]),
        ("Ann likes tea.", "Ann likes rum.", ["Bo likes gin.", "Cy likes ale.", "Di likes milk."]),
        ("I live in Porto.", "I live in Bonn.", ["I work in Bonn.", "I rest in Ulm.", "I eat."]),
    ],
)
def test_plain_sentences_of_few_words_are_no_list(
    incoming: str, stored: str, others: list[str]
) -> None:
    assert not is_in_list(incoming, stored, others)


def test_a_row_may_go_on_behind_its_value() -> None:
    rows = ["server a runs on port 80 in Bonn", "server b runs on port 81 in Bonn"]
    rows += ["server c runs on port 82 in Bonn"]
    assert is_in_list("server d runs on port 9 in Bonn", "server d runs on port 8 in Bonn", rows)
    assert not is_in_list("server d runs on port 9 in Bonn", "server d is down", rows)


def test_a_long_text_is_no_row() -> None:
    long = "a " * 900
    assert not is_in_list(f"{long}b", f"{long}c", [f"x {long}{n}" for n in range(50)])
