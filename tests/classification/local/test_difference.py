"""Which words two texts differ in."""

import pytest

from app.classification.local.difference import describe_difference, differs_in_few_words


@pytest.mark.parametrize(
    ("stored", "incoming", "told"),
    [
        ("I live in Ghent", "I live in Bruges", '"Ghent" → "Bruges"'),
        ("I live in Ghent", "I LIVE in ghent now", 'adds "now"'),
        ("I live in Ghent now", "I live in Ghent", 'leaves out "now"'),
        ("The rent is 900 euros a month", "The rent is 950 a month", '"900 euros" → "950"'),
        ("I live in Ghent", "i live in ghent", '"I live in Ghent" says the same'),
        ("a " * 60, "b", f'"{("a " * 60)[:79].strip()}…" → "b"'),
    ],
)
def test_the_words_between_what_both_share_are_told(stored: str, incoming: str, told: str) -> None:
    assert describe_difference(stored, incoming) == told


@pytest.mark.parametrize(
    ("stored", "incoming", "differs"),
    [
        ("User likes jazz.", "User dislikes jazz.", True),
        ("Pets: 1 cat", "Pets: 1 cat, 1 dog", True),
        ("Je travaille chez Airbus.", "Je ne travaille plus chez Airbus.", True),
        ("User likes jazz.", "Jazz is what the user is fond of.", False),
        ("User likes jazz a lot.", "user likes jazz", False),
    ],
)
def test_one_other_word_among_the_same_ones_may_decide(
    stored: str, incoming: str, differs: bool
) -> None:
    assert differs_in_few_words(stored, incoming) is differs
