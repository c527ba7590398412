"""Which texts are taken for English by the networks of many languages."""

from importlib.util import find_spec

import pytest

from app.networks import ENGLISH, find_many_languages
from app.networks.many_languages import PACKAGE

needs_package = pytest.mark.skipif(
    find_spec(PACKAGE) is None,
    reason="palimpsest-memory-languages is not installed: `make languages`",
)


@needs_package
@pytest.mark.parametrize(
    ("text", "is_english"),
    [
        ("I just moved to Lisbon", True),
        ("User's rent is 950 now.", True),
        ("Vegan since 2019", True),
        ("no more dairy for me", True),
        ("Na quinta comecei no hospital de Braga.", False),
        ("A cliente mora em Setúbal.", False),
        ("Questa settimana sono in ferie.", False),
        ("Gebruiker is in april verhuisd.", False),
        ("Desde ayer no como gluten.", False),
        ("ich bin im Urlaub", False),
        ("我住在南京", False),
        ("犬を飼っています", False),
        ("\ud800 Ich wohne in Kiel", False),
    ],
)
def test_a_text_is_english_or_not(text: str, is_english: bool) -> None:
    assert find_many_languages().is_english(text) is is_english


@needs_package
def test_nothing_is_not_english() -> None:
    assert not find_many_languages().is_english("")


def test_a_set_of_english_alone_takes_every_text_for_english() -> None:
    assert ENGLISH.is_english("Ich wohne in Kiel")
