"""Strength as promised, over every input there can be."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from app.domain.fact import Kind, StoredFact, Tier
from app.domain.strength import CORE_FLOOR, HalfLives, compute_strength, fade_importance
from app.domain.version import Belief, Memory, Usage

fractions = st.floats(0, 1)
ages = st.floats(-1e6, 4e6)
half_lives = st.floats(1e-3, 36_500)
counts = st.integers(0, 10**12)
tiers = st.sampled_from(Tier)


@given(fractions, tiers, ages, half_lives, counts)
def test_strength_is_a_fraction_and_core_keeps_its_floor(
    importance: float, tier: Tier, age: float, half_life: float, count: int
) -> None:
    found = fade_importance(
        importance, tier, age_days=age, half_life_days=half_life, reinforcements=count
    )
    assert 0 <= found <= 1
    assert tier is Tier.SEMANTIC or found >= CORE_FLOOR


@given(fractions, fractions, tiers, ages, half_lives, counts)
def test_more_importance_is_never_weaker(
    one: float, other: float, tier: Tier, age: float, half_life: float, count: int
) -> None:
    weak, strong = (
        fade_importance(i, tier, age_days=age, half_life_days=half_life, reinforcements=count)
        for i in sorted([one, other])
    )
    assert weak <= strong


@given(fractions, tiers, ages, ages, half_lives, counts)
def test_age_never_strengthens(
    importance: float, tier: Tier, one: float, other: float, half_life: float, count: int
) -> None:
    young, old = (
        fade_importance(
            importance, tier, age_days=a, half_life_days=half_life, reinforcements=count
        )
        for a in sorted([one, other])
    )
    assert old <= young


@given(fractions, tiers, ages, half_lives, counts, counts)
def test_repetition_never_weakens(
    importance: float, tier: Tier, age: float, half_life: float, one: int, other: int
) -> None:
    seldom, often = (
        fade_importance(importance, tier, age_days=age, half_life_days=half_life, reinforcements=n)
        for n in sorted([one, other])
    )
    assert seldom <= often


@given(fractions, ages, half_lives, counts)
def test_core_is_never_weaker_than_semantic(
    importance: float, age: float, half_life: float, count: int
) -> None:
    semantic, core = (
        fade_importance(
            importance, tier, age_days=age, half_life_days=half_life, reinforcements=count
        )
        for tier in (Tier.SEMANTIC, Tier.CORE)
    )
    assert semantic <= core


def test_a_half_life_leaves_half() -> None:
    assert (
        fade_importance(0.8, Tier.SEMANTIC, age_days=180, half_life_days=180, reinforcements=0)
        == 0.4
    )
    assert (
        fade_importance(0.8, Tier.SEMANTIC, age_days=360, half_life_days=180, reinforcements=0)
        == 0.2
    )
    assert (
        fade_importance(0.9, Tier.CORE, age_days=10_000, half_life_days=180, reinforcements=0)
        == CORE_FLOOR
    )
    assert (
        0.4
        < fade_importance(0.8, Tier.SEMANTIC, age_days=180, half_life_days=180, reinforcements=1)
        < 0.8
    )


TOLD = datetime(2026, 1, 5, tzinfo=UTC)
NEVER_REPEATED = Usage()
DAYS = HalfLives(semantic=dict.fromkeys(Kind, 100.0), core=dict.fromkeys(Kind, 200.0))


def told(*, valid_from: datetime = TOLD, usage: Usage = NEVER_REPEATED) -> Memory:
    return Memory(
        uuid4(),
        StoredFact("Has a dog", importance=0.8),
        Belief(uuid4(), valid_from, TOLD),
        TOLD,
        1,
        None,
        usage,
    )


def after(days: float) -> datetime:
    return TOLD + timedelta(days=days)


def test_age_counts_from_when_it_was_last_said() -> None:
    since_1990 = told(valid_from=datetime(1990, 1, 1, tzinfo=UTC))
    assert compute_strength(since_1990, TOLD, DAYS) == 0.8
    assert compute_strength(since_1990, after(100), DAYS) == 0.4
    repeated = told(usage=Usage(1, after(60)))
    assert compute_strength(repeated, after(60), DAYS) == 0.8
    assert compute_strength(repeated, after(160), DAYS) > compute_strength(told(), after(100), DAYS)


def test_a_fact_told_ahead_does_not_fade_before_it_begins() -> None:
    ahead = told(valid_from=after(50))
    assert compute_strength(ahead, after(50), DAYS) == 0.8
    assert compute_strength(ahead, after(150), DAYS) == 0.4
    assert compute_strength(ahead, after(-1000), DAYS) == 0.8


def test_the_half_life_is_that_of_the_tier_and_the_kind() -> None:
    lives = HalfLives(
        semantic=dict.fromkeys(Kind, 100.0) | {Kind.DECISION: 50.0}, core=dict.fromkeys(Kind, 400.0)
    )
    fact = told()
    decision = replace(fact, fact=replace(fact.fact, kind=Kind.DECISION))
    core = replace(fact, belief=replace(fact.belief, tier=Tier.CORE))
    assert compute_strength(decision, after(100), lives) == 0.2
    assert compute_strength(core, after(100), lives) == 0.8 * 0.5**0.25


def test_a_use_counts_half_of_what_saying_it_again_does() -> None:
    used, repeated = told(usage=Usage(0, None, 1, after(60))), told(usage=Usage(1, after(60)))
    assert (
        compute_strength(told(), after(60), DAYS)
        < compute_strength(used, after(60), DAYS)
        < compute_strength(repeated, after(60), DAYS)
    )
    shown_only = told(usage=Usage(0, None, 0, after(60)))
    assert compute_strength(shown_only, after(130), DAYS) == 0.4, (
        "age counts from the middle: 30 days after it was told"
    )


def test_ten_uses_stretch_the_half_life_as_one_repetition_does() -> None:
    assert compute_strength(
        told(usage=Usage(0, None, 10, TOLD)), after(90), DAYS
    ) == compute_strength(told(usage=Usage(1, TOLD)), after(90), DAYS)


@given(st.integers(0, 10**12), st.floats(0, 4e6), st.floats(0, 4e6))
def test_a_use_never_weakens(count: int, used_after: float, asked_after: float) -> None:
    used = told(usage=Usage(0, None, count, after(min(used_after, 2e6))))
    assert compute_strength(used, after(min(asked_after, 2e6)), DAYS) >= compute_strength(
        told(), after(min(asked_after, 2e6)), DAYS
    )


def test_a_use_before_it_was_said_again_does_not_make_it_older() -> None:
    both = told(usage=Usage(1, after(60), 0, after(30)))
    assert compute_strength(both, after(90), DAYS) == compute_strength(
        told(usage=Usage(1, after(60))), after(90), DAYS
    )
