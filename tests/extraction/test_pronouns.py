import pytest

from app.domain.talk import SkipReason
from support.talk import list_facts, list_reasons


@pytest.mark.parametrize(
    ("lines", "fact"),
    [
        (["My sister Anna lives in Oslo. She is a vet."], "Anna is a vet"),
        (["My sister lives in Oslo. She's a vet."], "My sister is a vet"),
        (["My colleague Priya is moving to Berlin in May. She'll join our team in June."],
         "Priya will join our team in June"),
        (["Ms Tanaka sits on the third floor. Her extension is 4417."],
         "Ms Tanaka's extension is 4417"),
        (["My parents live in Kent. Their house has a big garden."],
         "My parents' house has a big garden"),
        (["I have a dog. He's called Rex."], "My dog is called Rex"),
        (["Figo is giving me the look. That's my dog, a podengo."], "Figo is my dog, a podengo"),
        (["Bread first. Write Ana a card. Her son Rui was born in May."],
         "Ana's son Rui was born in May"),
        (["Our office is in Leeds. It has a bike shed."], "Our office has a bike shed"),
        (["Can you write a poem about my cat Luna? She's 12."], "Luna is 12"),
        (["Write to my mate Otto, he's 40 and plays golf.", "He's a teacher."], "Otto is a teacher"),
        (["My mum is 81.", "assistant: What does she take?", "She takes aspirin."],
         "My mum takes aspirin"),
    ],
)  # fmt: skip
def test_a_pronoun_is_replaced_by_the_one_name_for_it(lines: list[str], fact: str) -> None:
    assert fact in list_facts(*lines)


@pytest.mark.parametrize(
    "text",
    [
        "My sister and my mum both live in Cork. She is a GP.",
        "My brother Tom works with my uncle Bob. He is a vet.",
        "Anna is a nurse. Bea is a vet. She lives in Rome.",
        "My sister Anna lives in Oslo. He is a vet.",
    ],
)
def test_with_two_names_or_none_the_sentence_is_skipped(text: str) -> None:
    assert SkipReason.UNCLEAR_PRONOUN in list_reasons(text)


def test_a_pronoun_within_its_sentence_stays() -> None:
    text = "My sister Anna lives in Oslo and she is a vet"
    assert list_facts(text) == [text]


def test_a_note_needs_a_name_for_its_pronoun_too() -> None:
    assert list_facts("My sister visits us. Remember that she is vegan.") == [
        "My sister visits us",
        "My sister is vegan",
    ]
    assert list_reasons("Remember that she is vegan.") == [SkipReason.UNCLEAR_PRONOUN]
