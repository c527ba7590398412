"""Counting wrong keys by address."""

import pytest

from app.api import wrong_keys
from app.api.wrong_keys import MOST_WRONG, WrongKeys


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds of the clock, as its only item."""
    now = [1000.0]
    monkeypatch.setattr(wrong_keys.time, "monotonic", lambda: now[0])
    return now


def test_an_address_waits_until_its_minute_is_over(clock: list[float]) -> None:
    counted = WrongKeys()
    waits = [counted.note_wrong_key("a") for _ in range(MOST_WRONG + 1)]
    assert waits == [0] * MOST_WRONG + [60]
    clock[0] += 45.5
    assert counted.note_wrong_key("a") == 15
    assert counted.note_wrong_key("b") == 0
    clock[0] += 14.5
    assert counted.note_wrong_key("a") == 0


def test_only_so_many_addresses_are_remembered(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wrong_keys, "MOST_ADDRESSES", 3)
    counted = WrongKeys()
    for _ in range(MOST_WRONG):
        counted.note_wrong_key("a")
    for address in "bc":
        counted.note_wrong_key(address)
    assert counted.note_wrong_key("a") > 0
    for address in "bcd":
        counted.note_wrong_key(address)
    assert counted.note_wrong_key("a") == 0
