"""One person or thing under two names."""

import pytest

from app.classification.names import rename_alike


def rename(incoming: str, *stored: str) -> list[str]:
    return [renamed.text for renamed in rename_alike(incoming, stored)]


@pytest.mark.parametrize(
    ("incoming", "stored", "renamed"),
    [
        ("Nora moved to Bruges.", "My sister Nora lives in Ghent.", "Nora lives in Ghent."),
        ("Rex turned 5.", "My old dog Rex is 4.", "Rex is 4."),
        ("Atlas is led by Tom.", "Project Atlas is led by Priya.", "Atlas is led by Priya."),
        ("Staging runs Go.", "The staging server runs Java.", "Staging runs Java."),
        ("staging runs Go.", "The staging server runs Java.", "staging runs Java."),
        ("Daniel is a manager.", "Daniel Okafor is our lead.", "Daniel is our lead."),
    ],
)
def test_a_stored_text_takes_the_shorter_name(incoming: str, stored: str, renamed: str) -> None:
    [text] = rename_alike(incoming, [stored])
    assert (text.text, text.adds_description) == (renamed, False)


@pytest.mark.parametrize(
    ("incoming", "stored", "renamed"),
    [
        ("My sister Nora moved.", "Nora lives in Ghent.", "My sister Nora lives in Ghent."),
        ("Project Atlas is late.", "Is Atlas on time? Atlas is.", None),
        ("The staging server moved.", "Staging is in Bonn.", "The staging server is in Bonn."),
    ],
)
def test_a_stored_text_takes_the_longer_name(
    incoming: str, stored: str, renamed: str | None
) -> None:
    [text] = rename_alike(incoming, [stored])
    assert text.text == (renamed or "Is Project Atlas on time? Atlas is.")
    assert text.adds_description


@pytest.mark.parametrize(
    ("incoming", "stored"),
    [
        ("Nora moved to Bruges.", ["My sister Nora lives in Ghent.", "My boss Nora likes tea."]),
        ("Tom works at Initech.", ["My friend Tom works at Acme.", "Tom Hardy is an actor."]),
        ("My sister Nora moved.", ["My boss Nora lives in Ghent."]),
        ("New job at Acme.", ["I live in New York."]),
        ("I like production.", ["My brother is in film."]),
    ],
)
def test_where_two_may_be_meant_names_stay_as_they_are(incoming: str, stored: list[str]) -> None:
    assert rename(incoming, *stored) == stored
