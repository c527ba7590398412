"""A stay for a while covers a home: what is said of the guest, and what is not."""

import pytest

from app.classification.signals import Statement, judge_candidates
from app.domain.relation import Relation

HOME = "I live in Porto"

# Written before the rule: a home, and what is said of somebody for some days.
STAYS = [
    (HOME, "I'm staying at the Ibis"),
    (HOME, "staying at the Ibis"),
    (HOME, "We're at the Ibis"),
    (HOME, "We're staying at the Ibis in Lisbon"),
    (HOME, "I'm staying with my sister in Braga"),
    (HOME, "I'm staying with friends in Bristol"),
    (HOME, "I am staying in Oslo for work"),
    (HOME, "I'm staying in a hostel near the station"),
    (HOME, "I'm crashing at my brother's"),
    (HOME, "I'm lodging with my aunt in Cork"),
    (HOME, "We're camping in the Lake District"),
    (HOME, "I'm in Berlin"),
    (HOME, "I'll be in Tokyo"),
    (HOME, "I'm at my mum's"),
    (HOME, "Staying at an Airbnb in Lyon"),
    ("My home is in Leeds", "I'm staying at the Travelodge"),
    ("User lives in Graz", "User is staying at a hotel in Linz"),
    ("Anna lives in Berlin", "Anna is staying at the Hilton"),
    ("My mother lives in Viana", "My mother is staying with my aunt in Faro"),
    ("I moved to Braga", "I'm staying at my parents' place"),
]

# What is near to a stay, and covers no home.
OTHERS = [
    (HOME, "My sister is staying with us"),
    (HOME, "My parents are at the Ibis"),
    (HOME, "Anna is staying at the Hilton"),
    (HOME, "I'm staying late at the office"),
    (HOME, "I'm staying on the project"),
    (HOME, "I'm staying at Acme"),
    (HOME, "I'm staying in my job"),
    (HOME, "I'm staying off sugar"),
    (HOME, "I'm in charge of the newsletter"),
    (HOME, "I'm in a hurry"),
    (HOME, "I'm in hospital insurance training"),
    (HOME, "I'm at work"),
    (HOME, "I'm at school"),
    (HOME, "I'm at level B1"),
    (HOME, "I might stay at the Ibis"),
    (HOME, "I'm not staying at the Ibis"),
    (HOME, "Should I stay at the Ibis?"),
    ("I work in Porto", "I'm staying at the Ibis"),
    ("My boss lives in Porto", "I'm staying at the Ibis"),
    ("I have a flat in my name", "I'm in therapy"),
]


@pytest.mark.parametrize(("home", "stay"), STAYS)
def test_a_stay_for_a_while_covers_the_home_of_the_guest(home: str, stay: str) -> None:
    [judgment] = judge_candidates(Statement(stay, is_temporary=True), [Statement(home)])

    assert judgment.relation is Relation.UPDATE
    assert not judgment.flag


@pytest.mark.parametrize(("home", "other"), OTHERS)
def test_what_is_no_stay_covers_no_home(home: str, other: str) -> None:
    [judgment] = judge_candidates(Statement(other, is_temporary=True), [Statement(home)])

    assert not judgment.relation.effect.ends_stored or judgment.flag


@pytest.mark.parametrize(("home", "stay"), STAYS)
def test_a_stay_without_an_end_covers_nothing(home: str, stay: str) -> None:
    [judgment] = judge_candidates(Statement(stay), [Statement(home)])

    assert judgment.relation is not Relation.UPDATE or judgment.flag
