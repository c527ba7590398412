"""A fact as a caller tells it, and as it is stored."""

from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import cached_property

import pytest

from app.domain.fact import BaseFact, Fact, Kind, Lifespan, StoredFact, Tier, merge_facts
from support.dates import date_text


def test_both_types_have_the_same_fields_in_the_same_order() -> None:
    assert [f.name for f in fields(Fact)] == [f.name for f in fields(StoredFact)]


def test_storing_fills_in_what_was_not_said() -> None:
    stored = StoredFact.from_fact(Fact("Has a dog", entity="", importance=0.0, trust=0))
    assert stored == StoredFact(
        "Has a dog",
        kind=Kind.FACT,
        entity="user",
        category="",
        tier=Tier.SEMANTIC,
        importance=0.0,
        confidence=1.0,
        trust=0,
        lifespan=Lifespan.PERMANENT,
    )


def test_defaults_change_neither_slot_nor_hashes() -> None:
    fact = Fact("Uses Vim", key="editor", value="Vim")
    stored = StoredFact.from_fact(fact)
    assert (stored.slot, stored.one_value) == (fact.slot, fact.one_value)
    assert (stored.fuzzy_hash, stored.value_hash) == (fact.fuzzy_hash, fact.value_hash)


COMPUTED = [name for name, value in vars(BaseFact).items() if isinstance(value, cached_property)]


@pytest.mark.parametrize(
    "fact",
    [
        Fact("Has a dog"),
        Fact("Uses Vim", entity="", category="Tools", key="Editor", value="Vim"),
        Fact("Never use tabs", kind=Kind.CONSTRAINT, key="tabs", value="never"),
        Fact("Speaks Italian", entity="Mira", key="language", value="it", single_valued=False),
    ],
)
def test_what_a_fact_has_computed_holds_for_the_stored_fact(fact: Fact) -> None:
    for name in COMPUTED:
        getattr(fact, name)
    stored = StoredFact.from_fact(fact)
    anew = replace(stored)
    assert vars(stored).keys() > vars(anew).keys()
    assert [getattr(stored, name) for name in COMPUTED] == [
        getattr(anew, name) for name in COMPUTED
    ]


def test_a_stored_default_counts_as_unsaid_in_an_incoming_fact() -> None:
    incoming = StoredFact("Has a dog", trust=90).to_incoming_fact()
    assert (incoming.kind, incoming.entity, incoming.category) == (None, None, None)
    assert incoming.trust == 90


def test_a_merge_lives_as_long_as_the_longer_lived() -> None:
    short = StoredFact("Has a dog", session_id="monday", lifespan=Lifespan.SESSION)
    long = StoredFact(
        "Has a cat", session_id="tuesday", project="almanac", lifespan=Lifespan.PROJECT
    )
    for merged in (merge_facts(short, long, "Has both"), merge_facts(long, short, "Has both")):
        assert (merged.lifespan, merged.session_id, merged.project) == (
            Lifespan.PROJECT,
            "tuesday",
            "almanac",
        )


@pytest.mark.parametrize(
    ("content", "undated"),
    [
        ("I'm at the Ibis until Friday", "I'm at the Ibis"),
        ("The lift is out of service until 4 June.", "The lift is out of service."),
        ("Until Friday, I'm at the Ibis", "I'm at the Ibis"),
        ("I'm on holiday from 1 May until 4 June, in Spain", "I'm on holiday, in Spain"),
        ("I've lived in Porto since 2019", "I've lived in Porto"),
        ("From 1 May I work nights", "I work nights"),
        ("My passport is in the drawer", "My passport is in the drawer"),
    ],
)
def test_judges_compare_a_fact_without_the_words_of_its_dates(content: str, undated: str) -> None:
    dated = date_text(content, datetime(2026, 3, 11, tzinfo=UTC))

    assert Fact(content, dated_by=dated.dated_by).undated_text == undated
