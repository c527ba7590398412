"""What a merged text must keep, and how two texts are joined without a model."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.classification.merge_text import find_merge_loss, find_rewriting_fault, join_texts


@pytest.mark.parametrize(
    ("merged", "one", "other"),
    [
        ("Has a dog called Rex.", "Has a dog", "The dog is called Rex."),
        ("Has a dog named Max", "Has a dog", "The dog's name is Max"),
        ("Likes and drinks tea daily", "Likes tea", "Drinks tea daily."),
        (
            "Ana Lopez moved to New York on 5 January 2024 with 2 cats",
            "Ana Lopez moved to New York",
            "Moved 2024-01-05, has two cats",
        ),
        ("Ana's flat costs 1200 euros", "Ana has a flat", "The flat costs 1,200 euros"),
        (
            "He was born on January 5th, 2024",
            "Born on 5 Jan 2024",
            "He was born on the 5th of January 2024",
        ),
        ("I think I'm at O'Reilly's", "I think I am at O’Reilly", "I'm at O'Reilly"),
        ("uses postgresql 16.2 with pgvector", "Uses PostgreSQL 16.2", "It has pgvector"),
        ("Doesn't like tea or coffee", "Doesn't like tea", "Never likes coffee"),
        ("", "", ""),
    ],
)
def test_a_text_that_keeps_what_both_state_exactly_may_stand_for_them(
    merged: str, one: str, other: str
) -> None:
    assert find_merge_loss(merged, one, other) is None
    assert find_merge_loss(merged, other, one) is None


@pytest.mark.parametrize(
    ("merged", "one", "other", "dropped"),
    [
        ("Has cats", "Has 3 cats", "Likes cats", "number '3'"),
        ("Has cats", "Has three cats", "Likes cats", "number '3'"),
        ("Pays 12 euros", "Pays 1,200 euros", "Pays monthly", "number '1200'"),
        ("It grew by 5", "It grew by 5%", "It grew", "number '5%'"),
        ("It was 5 degrees", "It was -5 degrees", "It was cold", "number '-5'"),
        ("Runs version 3.1", "Runs version 3.11", "It runs", "number '3.11'"),
        ("Meets at ten", "Meets at 10:30", "Meets ten people", "number '10:30'"),
        ("Earns a million", "Earns two hundred thousand", "Earns a million", "number"),
        ("Moved in 2024", "Moved on 5 January 2024", "Moved", "date '2024-01-05'"),
        ("Moved on 1 May 2024", "Moved on 2024-01-05", "Moved", "date '2024-01-05'"),
        ("Moved in 2024", "Moved in March 2024", "Moved", "date 'mar'"),
        ("Meets Ana", "Meets Ana on Tuesday", "Meets her", "date 'tue'"),
        ("Meets Ana", "Meets Ana tomorrow", "Meets her", "date 'tomorrow'"),
        ("Ana moved", "Ana Lopez moved", "She moved", "name 'lopez'"),
        ("Moved to Rome", "Ana moved to Rome", "Moved", "name 'ana'"),
        ("Visited York and New Orleans", "Visited New York", "Visited Orleans", "name 'new york'"),
        ("A friend is called Kim", "Met with Ben Kim there", "A friend", "name 'ben kim'"),
        ("Has an apple phone", "Has an iPhone", "Has a phone", "name 'iphone'"),
        ("Uses a model", "Uses gpt-4o", "Uses a model", "number '4'"),
        ("Writes mails", "Writes to ana@example.com", "Writes", "name 'ana@example.com'"),
        ("Lives in town", "Lebt in Köln", "Lives in town", "name"),
        ("Likes tea", "Does not like tea", "Likes coffee", "negation"),
        ("Likes tea", "Likes tea", "Doesn’t like coffee", "negation"),
        ("", "Ana", "", "name 'ana'"),
        ("Has pets called Rex", "Has a dog", "The pet is called Rex", "word 'dog'"),
        ("Has a dog called Rex", "Has a small dog", "The dog is called Rex", "word 'small'"),
        ("Allergic to nuts", "Is allergic to nuts", "Nuts cause swelling", "word 'cause'"),
    ],
)
def test_a_text_that_drops_something_exact_is_refused_and_told_why(
    merged: str, one: str, other: str, dropped: str
) -> None:
    for reason in (find_merge_loss(merged, one, other), find_merge_loss(merged, other, one)):
        assert reason is not None
        assert reason.startswith(f"It drops the {dropped}")


@pytest.mark.parametrize(
    ("one", "other", "joined"),
    [
        ("Has a dog", "The dog is called Rex", "Has a dog. The dog is called Rex."),
        ("Has a dog.", "Is it Rex?", "Has a dog. Is it Rex?"),
        ("Said “no.”", "Left!", "Said “no.” Left!"),
        (" Likes tea, ", "likes cake;", "Likes tea. likes cake."),
        ("Ana likes tea", "likes TEA.", "Ana likes tea"),
        ("likes tea", "Ana likes tea and cake", "Ana likes tea and cake"),
        ("likes tea", "Ana likes teas", "likes tea. Ana likes teas."),
        ("Same", "Same", "Same"),
        ("", "Has a dog", "Has a dog"),
        ("Has a dog", " ", "Has a dog"),
        ("犬がいる", "名前はポチ。", "犬がいる。名前はポチ。"),
        ("एक कुत्ता है।", "नाम रेक्स है।", "एक कुत्ता है। नाम रेक्स है।"),
    ],
)
def test_two_texts_are_joined_in_their_own_words(one: str, other: str, joined: str) -> None:
    assert join_texts(one, other) == joined


EXACT = "Ana Lopez lives in New York likes tea not never 3 cats 1,200 5% since May 2024 on 2024-01-05 The dog PostgreSQL 16.2 犬 été"
WORDS = EXACT.split()
SENTENCE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(SENTENCE, SENTENCE)
def test_what_is_joined_without_a_model_drops_nothing(one: str, other: str) -> None:
    assert find_merge_loss(join_texts(one, other), one, other) is None


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_any_texts_can_be_compared_and_joined(merged: str, one: str, other: str) -> None:
    assert isinstance(find_merge_loss(merged, one, other), str | None)
    assert join_texts(one, other)[:1].strip() == join_texts(one, other)[:1]


@pytest.mark.parametrize(
    ("text", "stored", "incoming", "is_fine"),
    [
        ("У меня кот и собака", "У меня кот и две собаки", "Одной собаки больше нет", True),
        ("Я снимаю комнату за 26 тысяч", "Снимаю комнату за 23 тысячи", "Теперь плачу 26", True),
        ("标间198元,不含早餐", "标间198元,含早餐", "早餐取消了,标间价钱没动", True),
        ("标间198元,附近有地铁", "标间198元,含早餐", "早餐取消了,标间价钱没动", False),
        ("Ich wohne mit Ben in Köln", "Ich wohne mit Ben und Tim in Köln", "Tim zog aus", True),
        ("Ich wohne mit Ben in Bonn", "Ich wohne mit Ben und Tim in Köln", "Tim zog aus", False),
        ("I have a cat and a fox", "I have a cat and a dog", "The dog died", False),
    ],
)
def test_a_text_of_which_a_part_changes_has_the_words_of_both_in_any_form(
    text: str, stored: str, incoming: str, is_fine: bool
) -> None:
    assert (find_rewriting_fault(text, stored, incoming) is None) is is_fine
