import pytest

from app.classification.signals.reading import parse_text


@pytest.mark.parametrize(
    ("text", "kind", "norm"),
    [
        ("Due on 5 May 2024.", "date", "2024-05-05"),
        ("Due on May 5, 2024.", "date", "2024-05-05"),
        ("Due on 2024-05-05.", "date", "2024-05-05"),
        ("Due on 5th of May 2024", "date", "2024-05-05"),
        ("It ends in March.", "date", "--03"),
        ("It opens at 9 am.", "time", "09:00"),
        ("It opens at 21:30.", "time", "21:30"),
        ("It costs $1,200.", "money", "1200 usd"),
        ("It costs 25k euros.", "money", "25000 eur"),
        ("It is at 12 percent.", "percent", "12%"),
        ("Call 202-225-4131.", "phone", "2022254131"),
        ("It runs v2.10.3.", "version", "2.10.3"),
        ("I own nine bikes.", "number", "9"),
        ("It is at -5 degrees.", "number", "-5"),
        ("It is 3,5 km away.", "number", "3.5"),
        ("It lost -3%.", "percent", "-3%"),
        ("I write C++.", "name", "c++"),
        ("I write C#.", "name", "c#"),
        ("We use .NET.", "name", ".net"),
        ("The grade is B-.", "name", "b-"),
        ("Pick a/b.", "word", "a/b"),
        ("I like 🍕.", "word", "🍕"),
        ("Ask kim@proton.me.", "address", "kim@proton.me"),
        ("We meet on Tuesday.", "weekday", "tuesday"),
        ("We meet on Tuesdays.", "habit", "tuesday"),
    ],
)
def test_equal_values_read_equal_however_they_are_written(text: str, kind: str, norm: str) -> None:
    assert parse_text(text).kinds[norm] == kind


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("I live in Porto.", ("i",)),
        ("The user lives in Porto.", ("i",)),
        ("My sister lives in Porto.", ("i", "sister")),
        ("Alice lives in Porto.", ("alice",)),
        ("Alice's brother lives in Porto.", ("alice", "brother")),
        ("Lisa C. McClain lives in Porto.", ("lisa", "c", "mcclain")),
        ("We live in Porto.", ("we",)),
        ("The meeting is on Monday.", ()),
        ("Lives in Porto", ("i",)),
        ("Recently moved to Porto", ("i",)),
        ("Is not vegetarian any more", ("i",)),
        ("My user lives in Porto.", ("i",)),
        ("User's sister lives in Porto.", ("i", "sister")),
        ("Bob now lives in Porto.", ("bob",)),
        ("User 12 lives in Porto.", ("user",)),
        ("Users live in Porto.", ()),
        ("Is the pool open", ()),
    ],
)
def test_the_owner_is_whose_fact_it_is(text: str, owner: tuple[str, ...]) -> None:
    assert parse_text(text).owner == owner


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("I don't smoke.", True),
        ("He can't swim.", True),
        ("She has never been to Rome.", True),
        ("Nobody is on the bench.", True),
        ("It is not only fast.", False),
        ("I smoke.", False),
    ],
)
def test_polarity_is_read_from_the_words_that_deny(text: str, negated: bool) -> None:
    assert parse_text(text).negated is negated


@pytest.mark.parametrize(
    "text",
    [
        "I want to move.",
        "I might move.",
        "I plan to move.",
        "If it rains I stay.",
        "We hope to win.",
    ],
)
def test_wishes_plans_and_guesses_are_no_facts(text: str) -> None:
    assert parse_text(text).modal


def test_a_phone_plan_is_a_thing_and_not_a_plan() -> None:
    assert not parse_text("I upgraded my phone plan to 20 GB.").modal


def test_numbers_behind_names_are_identifiers() -> None:
    assert parse_text("Rocky Linux 9 runs in room 204.").identifiers == {
        ("linux", "9"),
        ("room", "204"),
    }


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("Fact number 12 of agent 3", {("number", "12"), ("agent", "3")}),
        ("load test memory 55: the sky is blue", {("memory", "55")}),
        ("item 5 text", {("item", "5")}),
        ("The team has 12 members.", set()),
        ("The limit is about 50.", set()),
        ("The budget 500 holds.", set()),
        ("We own 5 vans.", set()),
        ("My number is 7.", set()),
    ],
)
def test_numbers_behind_plain_nouns_are_labels(text: str, labels: set[tuple[str, str]]) -> None:
    assert parse_text(text).labels == labels


@pytest.mark.parametrize(
    "text",
    [
        "Bob says I live in Rome.",
        "According to Bob, I live in Rome.",
        "If it rains, I will stay.",
        "My mother claims it.",
    ],
)
def test_what_others_say_and_what_hangs_on_a_condition_is_no_fact(text: str) -> None:
    assert parse_text(text).modal


@pytest.mark.parametrize(
    "text", ["do I still live in Rome", "where does she live", "Does Ann live here?"]
)
def test_a_question_needs_no_mark(text: str) -> None:
    assert parse_text(text).is_question
