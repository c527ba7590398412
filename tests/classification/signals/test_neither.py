""" "Neither … nor" is one denial of both."""

import pytest

from app.classification.signals import SignalJudgment, Statement, judge_candidates
from app.domain.relation import Relation


def judge(stored: str, incoming: str) -> SignalJudgment:
    [judgment] = judge_candidates(Statement(incoming), [Statement(stored)])
    return judgment


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I like tea.", "I like neither tea nor coffee."),
        ("I own a car.", "I own neither a car nor a bike."),
        ("I smoke.", "I neither smoke nor drink."),
        ("Ana eats meat.", "Neither Ana nor Ben eats meat."),
    ],
)
def test_it_denies_each_of_the_two(one: str, other: str) -> None:
    assert judge(one, other).relation is Relation.CONTRADICTION
    assert judge(other, one).relation is Relation.CONTRADICTION


def test_it_does_not_end_the_denial_of_one() -> None:
    assert judge("I don't like tea.", "I like neither tea nor coffee.").relation is Relation.OVERLAP


def test_it_repeats_no_assertion_of_both() -> None:
    judgment = judge("Ana and Ben work at Acme.", "Neither Ana nor Ben works at Acme.")
    assert judgment.relation is Relation.CONTRADICTION
