"""Which words two texts differ in."""

import pytest

from app.classification.local.difference import describe_difference


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
