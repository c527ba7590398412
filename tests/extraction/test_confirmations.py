import pytest

from app.domain.talk import Quote
from support.talk import list_facts, read_talk


@pytest.mark.parametrize(
    ("proposal", "fact"),
    [
        ("So you're allergic to penicillin?", "I'm allergic to penicillin"),
        ("Do you live in Oslo?", "I live in Oslo"),
        ("Are you vegan?", "I am vegan"),
        ("Is your name Anna?", "My name is Anna"),
        ("Just to confirm, your flight is on Friday, right?", "My flight is on Friday"),
        ("Got it. I take it you own a pressure cooker?", "I own a pressure cooker"),
        ("Noted. You work from Porto. Is that right?", "I work from Porto"),
        ("The Cardiff account stays with Ms Bell?", "The Cardiff account stays with Ms Bell"),
    ],
)
@pytest.mark.parametrize("yes", ["Yes", "yes, exactly.", "That's right!", "correct", "Yep, I do."])
def test_a_confirmed_proposal_is_a_fact_in_the_users_words(
    proposal: str, fact: str, yes: str
) -> None:
    assert list_facts(f"assistant: {proposal}", yes) == [fact]


def test_the_users_words_are_quoted_before_the_assistants() -> None:
    statement = read_talk("assistant: Good. So you like tea?", "Yes, exactly.").statements[0]
    assert statement.quotes == (Quote(1, 0, 13), Quote(0, 6, 22))


@pytest.mark.parametrize(
    ("proposal", "answer"),
    [
        ("So you're allergic to penicillin?", "No, I never was."),
        ("So you're allergic to penicillin?", "Yes, but only a little"),
        ("So you're allergic to penicillin?", "What makes you think so?"),
        ("Shall I write it for you?", "Yes, please."),
        ("Would you like a recipe?", "yes"),
        ("Do you want me to shorten it?", "Yes"),
        ("Does that help?", "Yes, thanks"),
        ("Did it work?", "yep"),
        ("Are you stuck?", "yes"),
        ("Do you have any allergies?", "yes"),
        ("So you live in Oslo? Shall I look for trains?", "Yes"),
        ("So you live in Oslo? And your wife works in Bergen?", "Yes"),
    ],
)
def test_an_offer_a_doubt_and_two_proposals_confirm_nothing(proposal: str, answer: str) -> None:
    assert [
        fact for fact in list_facts(f"assistant: {proposal}", answer) if "never" not in fact
    ] == []


def test_only_the_turn_before_is_confirmed() -> None:
    assert list_facts("assistant: So you like tea?", "Hm.", "Yes") == []
    assert list_facts("assistant: So you like tea?", "tool: {}", "Yes") == []


def test_a_confirmation_may_go_on_with_a_fact() -> None:
    facts = list_facts("assistant: So you own a pressure cooker?", "Of course, I'm Brazilian")
    assert facts == ["I own a pressure cooker", "I'm Brazilian"]
