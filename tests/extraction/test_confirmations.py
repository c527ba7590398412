import pytest

from app.domain.talk import Quote
from app.extraction.proposals import state_in_first_person
from support.talk import list_facts, read_talk


@pytest.mark.parametrize(
    ("proposal", "fact"),
    [
        ("So you're allergic to penicillin?", "I'm allergic to penicillin"),
        ("Do you live in Oslo?", "I live in Oslo"),
        ("Are you vegan?", "I am vegan"),
        ("Are you interested in birds at all?", "I am interested in birds"),
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
        ("Do you like fiction?", "I did not! Very interesting."),
        ("So you're allergic to penicillin?", "Yes, but only a little"),
        ("So you're allergic to penicillin?", "What makes you think so?"),
        ("Shall I write it for you?", "Yes, please."),
        ("Would you like a recipe?", "yes"),
        ("Do you want me to shorten it?", "Yes"),
        ("Does that help?", "Yes, thanks"),
        ("Do you know that hummingbirds fly backwards?", "yes"),
        ("Did you see the error?", "Yes"),
        ("Have you seen it?", "yes"),
        ("Can you send me the file?", "yes"),
        ("Do you prefer the aisle or the window?", "yes"),
        ("Isn't that great?", "yes"),
        ("So you're allergic to penicillin?", "Right, next question"),
        ("So you're allergic to penicillin?", "I think so"),
        ("So you're allergic to penicillin?", "yes and no"),
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


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("Thanks. Before I go on, do you eat fish?", "I eat fish"),
        ("Do you like basketball?", "I like basketball"),
        ("Did you grow up in Cork?", "I grew up in Cork"),
        ("Did your brother move to Spain?", "My brother moved to Spain"),
        ("Does Tom drive?", "Tom drives"),
        ("Do your kids go to school in Leeds?", "My kids go to school in Leeds"),
        ("Have your kids been vaccinated?", "My kids have been vaccinated"),
        ("Is your wife vegetarian too?", "My wife is vegetarian too"),
        ("Is your sister's wedding in June?", "My sister's wedding is in June"),
        ("Is your office closed on Fridays?", "My office is closed on Fridays"),
        ("Are you and Tom married?", "Tom and I are married"),
        ("You two live in Leeds, right?", "We live in Leeds"),
        ("Can you eat eggs?", "I can eat eggs"),
        ("Will you be in Rome next week?", "I will be in Rome next week"),
        ("Still living in Porto?", "I am still living in Porto"),
        ("Still vegetarian?", "I am still vegetarian"),
        ("Your flight is on the 12th – is that correct?", "My flight is on the 12th"),
        ("From what you told me, you work nights?", "I work nights"),
        ("Just so I have it right: your start date is 1 March?", "My start date is 1 March"),
        ("On Mondays, you work from home?", "On Mondays, I work from home"),
        ("Would it be right to say you prefer tea?", "I prefer tea"),
        ("Should I keep in mind that you're left-handed?", "I'm left-handed"),
    ],
)
def test_a_yes_states_what_was_asked(question: str, fact: str) -> None:
    assert list_facts(f"assistant: {question}", "Yes.") == [fact]


@pytest.mark.parametrize(
    ("question", "answer", "facts"),
    [
        ("Do you eat meat?", "no, I don't", ["I don't eat meat"]),
        ("Do you eat meat?", "No.", ["I don't eat meat"]),
        ("Do you have any pets?", "Nope", ["I don't have any pets"]),
        ("Do you still play the cello?", "no, not any more", ["I no longer play the cello"]),
        ("Are you still in Porto?", "Nope.", ["I am no longer in Porto"]),
        ("Does your wife drive?", "No, she doesn't", ["My wife doesn't drive"]),
        ("Can you eat eggs?", "No, I can't", ["I can not eat eggs"]),
        ("Do you eat meat?", "no, not really", []),
        ("So you live in Oslo?", "no", []),
        ("Have you read the file?", "No", []),
        ("Do you drive?", "No, I take the bus", ["I don't drive", "I take the bus"]),
        ("Shall I send it?", "no", []),
    ],
)
def test_a_plain_no_to_a_question_states_the_contrary(
    question: str, answer: str, facts: list[str]
) -> None:
    assert list_facts(f"assistant: {question}", answer) == facts


@pytest.mark.parametrize(
    "yes",
    [
        *(
            "yesss",
            "y",
            "ya",
            "that I am",
            "I most certainly am",
            "You have it",
            "yes :)",
            "Yes 😊",
        ),
        *("That's still true", "that sounds right", "sadly, yes", "You recall correctly", "👍"),
    ],
)
def test_a_yes_is_known_by_its_form(yes: str) -> None:
    assert list_facts("assistant: So you're allergic to nuts?", yes) == ["I'm allergic to nuts"]


def test_only_the_turn_before_is_confirmed() -> None:
    assert list_facts("assistant: So you like tea?", "Hm.", "Yes") == []
    assert list_facts("assistant: So you like tea?", "tool: {}", "Yes") == []


def test_a_confirmation_may_go_on_with_a_fact() -> None:
    facts = list_facts("assistant: So you own a pressure cooker?", "Of course, I'm Brazilian")
    assert facts == ["I own a pressure cooker", "I'm Brazilian"]


@pytest.mark.parametrize(
    ("proposal", "answer", "fact"),
    [
        ("Do you still sing alto?", "mm-hm, since school", "I still sing alto, since school"),
        ("You take iron?", "yes 20 mg every morning", "I take iron, 20 mg every morning"),
        ("Anna does the books?", "Correct, and the wages", "Anna does the books, and the wages"),
        ("Is your doctor still Dr Bell?", "He is indeed.", "My doctor is still Dr Bell"),
        ("Does your sister Mia teach French?", "Sure does.", "My sister Mia teaches French"),
        ("Is Tom in the office on Fridays?", "Tom, yes.", "Tom is in the office on Fridays"),
        ("You aren't insured, if I recall?", "Afraid so", "I'm not insured"),
        ("Your target is 95, I assume?", "You assume correctly.", "My target is 95"),
        ("You use British spelling, is that right?", "👍", "I use British spelling"),
        ("Shall I remember that rent is due on the 3rd?", "yes please", "Rent is due on the 3rd"),
        ("You have two dogs, so I'll buy two leads. Correct?", "Yes.", "I have two dogs"),
    ],
)
def test_a_yes_has_many_words(proposal: str, answer: str, fact: str) -> None:
    assert list_facts(f"assistant: {proposal}", answer) == [fact]


@pytest.mark.parametrize(
    ("proposal", "answer", "fact"),
    [
        ("Your choir is on Wednesday?", "no, it's Monday", "My choir is on Monday"),
        ("Do you still close on Sundays?", "No, it's Mondays we close.", "I close on Mondays"),
        ("Is your dentist still Dr Bell?", "Nope, Dr Lim now", "My dentist is Dr Lim"),
        ("You have three cats?", "No, four.", "I have four cats"),
        ("Your target is 95, yes?", "97.", "My target is 97"),
        ("You're the eldest of five?", "Of six!", "I'm the eldest of six"),
        ("Your choir is on Wednesday?", "Monday", "My choir is on Monday"),
    ],
)
def test_a_denial_may_correct_one_word(proposal: str, answer: str, fact: str) -> None:
    assert list_facts(f"assistant: {proposal}", answer) == [fact]


@pytest.mark.parametrize(
    ("proposal", "answer"),
    [
        ("You close on Wednesday or Friday?", "no, it's Monday"),
        ("Your choir is on Wednesday?", "No."),
        ("The early train leaves you some time.", "Exactly, two hours."),
    ],
)
def test_a_denial_without_its_like_corrects_nothing(proposal: str, answer: str) -> None:
    assert list_facts(f"assistant: {proposal}", answer) == []


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("Does the lake near you help you?", "the lake near me help me"),
        ("It leaves you some light and you sleep better.", "It leaves me some light and I sleep"),
        ("That suits you, you said.", "That suits me, I said"),
    ],
)
def test_you_becomes_i_or_me(question: str, fact: str) -> None:
    assert fact in state_in_first_person(question)


@pytest.mark.parametrize(
    ("said", "answer", "facts"),
    [
        ("You could watch Thor tonight.", "I've seen it.", ["I've seen Thor"]),
        ("You could watch Thor or Alien tonight.", "I've seen it.", []),
        ("You could see that tonight.", "I've seen it.", []),
    ],
)
def test_what_was_seen_is_named_as_the_assistant_named_it(
    said: str, answer: str, facts: list[str]
) -> None:
    assert list_facts(f"assistant: {said}", answer) == facts


@pytest.mark.parametrize(
    ("proposal", "answer", "quote"),
    [
        ("You have seen Thor?", "Yes, it was great", Quote(1, 0, 5)),
    ],
)
def test_a_short_remark_behind_a_yes_belongs_to_its_quote(
    proposal: str, answer: str, quote: Quote
) -> None:
    assert read_talk(f"assistant: {proposal}", answer).statements[0].quotes[0] == quote


def test_an_answer_may_speak_of_whom_the_assistant_named() -> None:
    question = "assistant: Shall I count your neighbour Mr Bell?"
    assert list_facts(question, "He's ninety-one.") == ["Mr Bell is ninety-one"]
