"""The wording in which judges read facts."""

from datetime import UTC, datetime

import pytest

from app.classification.wording import spell_alike, write_as_holding
from app.domain.fact import Fact
from support.dates import date_text

SAID_AT = datetime(2026, 10, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("content", "holding"),
    [
        ("I am moving to Lisbon on 1 February 2027", "I moved to Lisbon"),
        ("I'm going to move to Bergen on 1 June 2027", "I moved to Bergen"),
        ("From March 2027 I'll be living in Linz", "I am living in Linz"),
        ("From 1 April 2027 the office will be on Canal Street", "the office is on Canal Street"),
        ("I'm leaving Acme at the end of December", "I left Acme"),
        ("I lived in Bristol from 2015 to 2018", "I live in Bristol"),
        ("My sister lived in Galway from 2013 to 2015", "My sister lives in Galway"),
        ("Bob was the CEO of Acme from 2018 to 2020", "Bob is the CEO of Acme"),
        ("She was promoted on 25/12/2025", "She was promoted"),
        ("I moved to Porto in 2020", "I moved to Porto"),
        ("From May 2027 I won't live in Porto", "I won't live in Porto"),
        ("My flight is on 12 December", "My flight is on 12 December"),
        ("I live in Porto", "I live in Porto"),
    ],
)
def test_a_dated_fact_is_read_as_it_is_said_while_it_holds(content: str, holding: str) -> None:
    dated = date_text(content, SAID_AT)
    assert write_as_holding(Fact(content, dated_by=dated.dated_by)) == holding


@pytest.mark.parametrize(
    ("incoming", "stored", "alike"),
    [
        ("Standup is at 09:30 am", "Standup is at 9.30", "Standup is at 09:30 am"),
        ("Lunch is at 12 pm", "Lunch is at noon.", "Lunch is at 12 pm."),
        ("Standup is at 10:30", "Standup is at 9:30", "Standup is at 9:30"),
        ("My current gym is Fitlab", "My gym is Northside", "My current gym is Northside"),
        ("My current favorite is V", "My favourite is W", "My current favourite is W"),
        ("Ada's present boss is Ben", "Ada's boss is Cy", "Ada's present boss is Cy"),
        ("My current account is at A", "My savings account is at B", "My savings account is at B"),
        ("My present is a scarf", "My home is a boat", "My home is a boat"),
    ],
)
def test_a_stored_text_is_read_with_the_spelling_of_the_incoming_one(
    incoming: str, stored: str, alike: str
) -> None:
    assert spell_alike(incoming, stored) == alike
