"""What follows a statement and is no part of it."""

import pytest

from app.domain.talk import SkipReason
from app.extraction.comments import find_comments
from support.talk import read_talk

# The statement, and the comments that follow it.
COMMENTED = [
    ("My dentist is Dr Sampaio", ", it's tomorrow at 15:00"),
    ("I came off the tablets in May", ", doctor's idea, and so far so good"),
    ("My favourite plant is the yew", ", but everyone will think of churches"),
    ("I started a pottery course in May", ", best decision of the year"),
    ("I take magnesium at night", ", my wife's suggestion, and it seems to help"),
    ("We have a cottage in Wales", ", long story"),
    ("My favourite film is Brazil", ", but nobody has seen it"),
    ("I ride a Triumph Bonneville", ", a bit of a midlife crisis"),
    ("I play the oboe", ", badly"),
    ("I live in Ghent", ", for my sins"),
    ("I gave up coffee in June", ", believe it or not"),
    ("My landlady is Mrs Novak", ", who is an absolute angel"),
    ("I take lessons with a lady called Bea", " who has the patience of a saint"),
    ("I've been vegan since 2019", ", and no regrets so far"),
    ("I speak Danish", ", though it's a bit rusty"),
    ("I swim in the lake every morning", ", and I love it"),
    ("I cycle to work every day, rain or shine", ", fingers crossed"),
]
WHOLE = [
    "I take omega-3 every morning, right after breakfast",
    "My sister is called Ines, with an accent on the e",
    "I work in Porto, near the bridge",
    "I have a dog, a small terrier called Bo",
    "My partner, a nurse, works nights",
    "I live in Austin, Texas",
    "I'm on call every other weekend, except in August",
    "My birthday is on March 3, 1988",
    "I use Vim, not Emacs",
    "I live with my parents, in the attic",
    "I get the newsletter, weekly",
    "The choir moved to Mondays, starting tonight",
    "I have a new class, it's on Tuesdays",
    "My course is free, it starts in May",
    "I'm at the Ibis, it's the trees conference and I'm on a panel",
    "Figo is my dog, a podengo who thinks chickpeas are his birthright",
    "I work at the library, it opens at nine",
    "Our cluster kills jobs after a day, this is the rule of the institute",
]


@pytest.mark.parametrize(("statement", "comments"), COMMENTED)
def test_comments_are_no_part_of_a_statement(statement: str, comments: str) -> None:
    text = statement + comments
    assert text[: find_comments(text)] == statement


@pytest.mark.parametrize("statement", WHOLE)
def test_what_belongs_to_a_statement_stays(statement: str) -> None:
    assert find_comments(statement) == len(statement)


def test_comments_are_skipped_with_their_place() -> None:
    content = "My dentist is Dr Sampaio, it's tomorrow at 15:00."
    extraction = read_talk(content)
    [statement] = extraction.statements
    [quote] = statement.quotes
    assert content[quote.start : quote.end] == statement.text == "My dentist is Dr Sampaio"
    [skipped] = extraction.skipped
    assert skipped.reason is SkipReason.NO_STATEMENT
    skipped_words = content[skipped.quote.start : skipped.quote.end]
    assert skipped_words == "it's tomorrow at 15:00"
