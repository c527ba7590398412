"""Facts by subject."""

from typing import Any

import pytest

from app.console.subjects import group_by_subject


def build(content: str | None, entity: str = "user", category: str = "") -> dict[str, Any]:
    return {"content": content, "entity": entity, "category": category}


def list_titles(*facts: dict[str, Any]) -> list[tuple[str, int]]:
    return [(subject.title, len(subject.facts)) for subject in group_by_subject(facts)]


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("My manager is Ana now", "Work"),
        ("I take melatonin to fall asleep", "Health"),
        ("Our vet is Dr Patel", "Pets"),
        ("Never book flights before nine", "Travel"),
        ("We rent a flat on the fourth floor", "Home"),
        ("My sister-in-law Joke is a nurse", "Family and friends"),
        ("Xyzzy", "Everything else"),
        ("", "Everything else"),
        (None, "Everything else"),
    ],
)
def test_a_fact_has_the_subject_of_its_words(content: str | None, title: str) -> None:
    assert list_titles(build(content)) == [(title, 1)]


def test_a_name_stays_with_the_family_in_facts_without_other_words() -> None:
    facts = [build("Fenna does judo"), build("Fenna got a drum kit"), build("Fenna is my daughter")]
    assert list_titles(*facts) == [("Family and friends", 3)]


def test_a_month_is_no_name() -> None:
    facts = [build("Surgery is on 2 December"), build("The party is on 4 December")]
    assert list_titles(*facts) == [("Health", 1), ("Everything else", 1)]


def test_what_the_caller_named_comes_before_words() -> None:
    facts = [build("Uses Vim", category="tooling"), build("Lives in Bergen", entity="Anna")]
    assert list_titles(*facts) == [("Tooling", 1), ("Anna", 1)]
    assert [dict(subject.filters) for subject in group_by_subject(facts)] == [
        {"category": "tooling"},
        {"entity": "Anna"},
    ]
