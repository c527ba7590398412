import pytest

from app.domain.talk import SkipReason
from app.extraction.quotes import find_quotes
from support.talk import list_facts, list_reasons


@pytest.mark.parametrize(
    "line",
    [
        'She wrote: "I have moved to Lyon. I no longer work at the bank. My desk is free."',
        "She wrote: “I have moved to Lyon. I no longer work at the bank.”",
        "He said 'I live in Rome. I have two dogs.'",
        'My line for the play: "I am a doctor. I live in Rome.',
        "Translate this: I live in Rome. My wife works at the bank.",
        "Please proofread my text:\nI live in Rome.\nMy wife works at the bank.",
        'The poster reads "no dogs and we close on Mondays" every year',
    ],
)
def test_what_stands_in_quotation_marks_or_is_handed_over_is_nobodys_fact(line: str) -> None:
    assert list_facts(line) == []


def test_the_sentences_of_a_quotation_are_skipped_as_one() -> None:
    reasons = list_reasons('She wrote: "I live in Lyon. I have two dogs." What now?')
    assert reasons == [SkipReason.QUOTATION, SkipReason.QUESTION]


@pytest.mark.parametrize(
    "line",
    [
        'I\'m a nurse. She said "fine". I live in Rome.',
        "I'm a nurse. It's the boys' room. I live in Rome.",
        "I'm a nurse. The screen is 27\" wide. I live in Rome.",
    ],
)
def test_what_follows_a_quotation_counts_again(line: str) -> None:
    facts = list_facts(line)
    assert (facts[0], facts[-1]) == ("I'm a nurse", "I live in Rome")


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("Er sagte „Ich hasse Montage“ und ich wohne in Bonn.", ["„Ich hasse Montage“"]),
        ("»Komm mit«, sagte sie. Ich wohne in Bonn.", ["»Komm mit«"]),
        ("« A » et « B », j'habite à Lyon.", ["« A »", "« B »"]),
    ],
)
def test_a_mark_that_closes_in_another_language_opens_nothing(text: str, quoted: list[str]) -> None:
    assert [text[start:end] for start, end in find_quotes(text)] == quoted
