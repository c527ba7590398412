"""The second reader: which statements are about the user's own life."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime

import pytest

from app.domain.talk import Role, Turn
from app.extraction.relevance import find_irrelevant, list_names, list_stated
from app.extraction.relevance_network import RelevanceNetwork
from app.extraction.rules import extract_by_rules
from app.networks import FairThreads

NOW = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.fixture(scope="module")
def network() -> Iterator[RelevanceNetwork]:
    with closing(FairThreads(1)) as threads:
        yield RelevanceNetwork(threads)


def list_irrelevant(network: RelevanceNetwork, *contents: str) -> list[str]:
    """Return what the second reader drops of what the rules read from a user."""
    extraction = extract_by_rules([Turn(Role.USER, content, NOW) for content in contents])
    texts = [statement.text for statement in list_stated(extraction)]
    assert texts, "the rules read a statement"
    likely = asyncio.run(network.measure(texts))
    return [each.text for each in find_irrelevant(extraction, likely)]


@pytest.mark.parametrize(
    "content",
    [
        "I work at a hospital in Leeds",
        "My sister Nora has two kids",
        "I'm allergic to penicillin",
        "We moved to Braga last month",
        "The office is in Guimarães",
        "Our standup is at 9:30",
        "I take aspirin every morning",
        "I live in NC, where we dress like Eskimos below forty",
        "and I no longer drive after dark",
        "My parrot is called Coco",
        "on Saturday we adopted a second dog",
        "Actually the studio is on the 3rd floor, not the 2nd",
    ],
)
def test_what_is_of_the_users_life_stays(network: RelevanceNetwork, content: str) -> None:
    assert list_irrelevant(network, content) == []


@pytest.mark.parametrize(
    "content",
    [
        "Tom Brady is a quarterback",
        "Iowa's locker room is pink",
        "Support is key",
        "Engineers often make more than the average football player",
    ],
)
def test_what_is_of_the_world_is_dropped(network: RelevanceNetwork, content: str) -> None:
    assert list_irrelevant(network, content) == [content]


def test_who_is_named_in_a_relevant_statement_is_of_the_users_life(
    network: RelevanceNetwork,
) -> None:
    assert list_irrelevant(network, "Figo is a podengo") != []
    assert list_irrelevant(network, "Figo is my dog", "Figo is a podengo") == []
    assert list_irrelevant(network, "Figolina is my dog", "Figo is a podengo") != []


def test_a_taste_makes_nobody_an_acquaintance(network: RelevanceNetwork) -> None:
    said = "Brady is a quarterback"
    assert list_irrelevant(network, "I like watching Brady", said) == [said]
    assert list_irrelevant(network, "My favourite player is Brady", said) == [said]
    assert list_irrelevant(network, "I like my brother Brady", said) == []


def test_what_is_confirmed_of_others_is_in_question_too(network: RelevanceNetwork) -> None:
    asked = Turn(Role.ASSISTANT, "Does Lady Gaga have any children?", NOW)
    extraction = extract_by_rules([asked, Turn(Role.USER, "No, she doesn't.", NOW)])
    assert [statement.text for statement in list_stated(extraction)] == [
        "Lady Gaga doesn't have any children"
    ]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Bolota answers to Pipoca now", {"Bolota"}),
        ("Dr Osei is head of radiology", {"Dr Osei"}),
        ("the office is closed", set()),
    ],
)
def test_the_names_of_a_text(text: str, names: set[str]) -> None:
    assert list_names(text) == names


def test_what_the_user_wants_to_be_remembered_is_not_in_question() -> None:
    turn = Turn(Role.USER, "Please remember that Tom Brady is a quarterback.", NOW)
    extraction = extract_by_rules([turn])

    assert [statement.text for statement in extraction.statements] == ["Tom Brady is a quarterback"]
    assert list_stated(extraction) == []
