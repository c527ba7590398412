"""A fact as a caller tells it, and as it is stored."""

from dataclasses import fields

from app.domain.fact import Fact, Kind, Lifespan, StoredFact, Tier, merge_facts


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
