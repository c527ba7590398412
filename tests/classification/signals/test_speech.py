"""Questions and quotations are no statements."""

import pytest

from app.classification.signals import Speech, derive_slot, find_speech


@pytest.mark.parametrize(
    "text",
    [
        "Where do I live?",
        "Do I still work at Acme",
        "Is Dr. Moll in on Mondays?",
        "My flat, is it big?",
    ],
)
def test_a_question_is_one(text: str) -> None:
    assert find_speech(text) is Speech.QUESTION


@pytest.mark.parametrize(
    "text",
    [
        '"I moved to Lisbon and I love it."',
        "“Home is where the heart is”",
        'My boss said: "I live in Porto now."',
        'The song goes "I don\'t live here anymore"',
        "Ana wrote, «the deadline is Friday».",
    ],
)
def test_a_quotation_is_one(text: str) -> None:
    assert find_speech(text) is Speech.QUOTATION
    assert derive_slot(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Lisbon. Any tips?",
        'My dog is called "Rex"',
        'User said: "I live in Porto."',
        "My boss said I can work from home",
        'The band "Old Piano Men" plays on Fridays',
        'My book is titled "The Long Way Home"',
        "Ana: I moved to Lisbon",
    ],
)
def test_what_states_something_is_neither(text: str) -> None:
    assert find_speech(text) is None
