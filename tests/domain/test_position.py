"""Positions in the write-ahead log: how they are written, and which is later."""

import pytest

from app.domain.position import PRIMARY_ONLY, Position


@pytest.mark.parametrize("text", ["0/0", "0/16B3740", "1/0", "FFFFFFFF/FFFFFFFF"])
def test_a_position_is_written_as_it_was_read(text: str) -> None:
    assert str(Position.parse(text)) == text


def test_small_letters_are_read_too() -> None:
    assert Position.parse("a/ff") == Position.parse("A/FF")


@pytest.mark.parametrize("text", ["", "/", "0", "0/", "0/g", "0/123456789", "-1/0", "0/1\n"])
def test_other_texts_are_no_positions(text: str) -> None:
    with pytest.raises(ValueError, match="no position"):
        Position.parse(text)


@pytest.mark.parametrize(("earlier", "later"), [("0/9", "0/10"), ("0/FFFFFFFF", "1/0")])
def test_positions_are_ordered_as_numbers(earlier: str, later: str) -> None:
    assert Position.parse(earlier) < Position.parse(later) < PRIMARY_ONLY
