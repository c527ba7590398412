"""Renames, and stops with a date."""

from datetime import UTC, datetime

import pytest

from app.classification.signals import Statement, judge_candidates, rename_text
from app.domain.relation import Relation
from support.dates import date_text


@pytest.mark.parametrize(
    ("stored", "incoming", "renamed"),
    [
        (
            "On Saturday we adopted a second dog, a tiny terrier called Bo",
            "Bo answers to Pip now",
            "On Saturday we adopted a second dog, a tiny terrier called Pip",
        ),
        ("My cat Mo is called Mo", "Mo is now called Pip.", "My cat Pip is called Pip"),
        ("We own a barge named Old Ada", "We renamed Old Ada to Eve", "We own a barge named Eve"),
        ("My hen is called Dot", "Since May we call her Pip", None),
        ("My hen is called Dot", "Dotty answers to Pip now", None),
        ("My hen is called Dot", "Dot answers to Dot now", None),
        ("My hen Dot is afraid of foxes", "Dot answers to Pip now", None),
    ],
)
def test_a_rename_changes_the_name_that_a_text_gives(
    stored: str, incoming: str, renamed: str | None
) -> None:
    assert rename_text(stored, incoming) == renamed


def test_nothing_is_renamed_if_several_bear_the_name() -> None:
    stored = [Statement("My brother is called Max"), Statement("Our dog is called Max")]
    judgments = judge_candidates(Statement("Max goes by Rex now"), stored)
    assert [judgment.relation for judgment in judgments] == [Relation.OVERLAP, Relation.OVERLAP]


@pytest.mark.parametrize(
    ("stored", "incoming", "relation"),
    [
        ("I smoke", "I stopped smoking", Relation.RETRACTION),
        ("I smoke", "I stopped smoking in May", Relation.UPDATE),
        ("I take Prozac, 20 mg", "I came off Prozac at the start of the month", Relation.UPDATE),
        ("I take aspirin, metformin", "I came off aspirin", Relation.OVERLAP),
    ],
)
def test_a_stop_that_says_since_when_is_stored(
    stored: str, incoming: str, relation: Relation
) -> None:
    dated_by = date_text(incoming, datetime(2026, 6, 1, tzinfo=UTC)).dated_by
    new = Statement(incoming, dated_by=dated_by)
    [judgment] = judge_candidates(new, [Statement(stored)])
    assert judgment.relation is relation


@pytest.mark.parametrize("incoming", ["I stopped smoking in May", "I stopped smoking on Monday"])
def test_a_stop_with_a_date_that_nobody_read_is_stored(incoming: str) -> None:
    [judgment] = judge_candidates(Statement(incoming), [Statement("I smoke")])
    assert judgment.relation is Relation.UPDATE
