"""What a sweep makes of a slot whose values came unjudged, against what judging each as it came makes of it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.classification import rules
from app.domain.chains import Chains
from app.domain.fact import Fact, Kind, Lifespan, StoredFact
from app.domain.policy import Policy
from app.domain.relation import Judge, Judgment, Operation, Relation
from app.domain.timeline import compute_status
from app.domain.version import Status
from app.planning.explicit import plan_retract
from app.planning.plan import IncomingFact, PreparedMerge, ReviewSource
from app.planning.reviews import Proposal, plan_accept
from app.planning.store import plan_store
from app.planning.sweeps import can_act, plan_sweep, select_comparison_chains
from support.depth import DEEP

START = datetime(2020, 1, 1, tzinfo=UTC)
KNOWN = datetime(2030, 1, 1, tzinfo=UTC)
POLICY = Policy()


def day(number: int) -> datetime:
    return START + timedelta(days=number)


@st.composite
def said(draw: st.DrawFn, ends: bool = True) -> Fact:
    start = draw(st.integers(0, 12))
    end = draw(st.none() | st.integers(start + 1, 14)) if ends else None
    value = draw(st.sampled_from("abc"))
    return Fact(
        f"It is {value}",
        key="it",
        value=value,
        valid_from=day(start),
        valid_until=None if end is None else day(end),
    )


def stored(
    facts: Sequence[Fact], *, classify: bool, alike: bool = False
) -> tuple[Chains, dict[UUID, Fact]]:
    """The facts stored one after the other; unjudged, no text is the same as another, unless equal values are told `alike`."""
    chains, kept = Chains(), {}
    for place, fact in enumerate(facts):
        one = (
            fact
            if classify or alike
            else Fact(**{**vars_of(fact), "content": f"{fact.content}, {place}"})
        )
        new_id = UUID(int=place + 1)
        judgments = rules.judge_fact(
            one, chains, one.valid_from or KNOWN, classify=classify, fuzzy=True
        )
        now = KNOWN + timedelta(seconds=place)
        plan = plan_store(
            IncomingFact(one, new_id, tuple(judgments), classify=classify), chains, POLICY, now=now
        )
        chains.absorb_versions(plan.versions)
        kept[new_id] = one
    return chains, kept


def vars_of(fact: Fact) -> dict[str, object]:
    return {
        name: getattr(fact, name)
        for name in ("content", "key", "value", "valid_from", "valid_until", "trust", "kind")
    }


def sweep(chains: Chains, facts: dict[UUID, Fact]) -> int:
    """Sweeps every memory in order; how many changes that made."""
    changes = 0
    for version in sorted(
        chains.list_versions(), key=lambda v: (v.belief.valid_from, v.belief.asserted_at)
    ):
        memory = chains.get_version(version.id)
        if not can_act(memory):
            continue
        fact = replace(
            facts[memory.id],
            valid_from=memory.belief.valid_from,
            valid_until=memory.belief.said_until,
        )
        others = select_comparison_chains(memory, fact, chains, ())
        judgments = tuple(
            rules.judge_fact(fact, others, memory.belief.valid_from, classify=True, fuzzy=True)
        )
        now = KNOWN + timedelta(days=1, seconds=changes)
        plan = plan_sweep(
            IncomingFact(fact, memory.id, judgments),
            chains,
            others,
            POLICY,
            now=now,
            proposes=False,
        )
        if plan and plan.changed:
            chains.absorb_versions(plan.versions)
            changes += 1
    return changes


def holding(chains: Chains, facts: dict[UUID, Fact], at: datetime) -> list[str | None]:
    return sorted(facts[v.id].value or "" for v in chains.list_versions() if v.belief.holds_at(at))


@settings(max_examples=400 if DEEP else 120, deadline=None, derandomize=True, database=None)
@given(st.lists(said(ends=False), min_size=1, max_size=7))
def test_one_value_holds_at_a_time_and_it_is_the_one_that_began_last(facts: list[Fact]) -> None:
    chains, kept = stored(facts, classify=False)
    sweep(chains, kept)
    for number in range(16):
        begun = [
            v
            for v in chains.list_versions()
            if v.belief.valid_from <= day(number) and not v.belief.void
        ]
        held = holding(chains, kept, day(number))
        assert len(held) <= 1
        if held:
            last = max(begun, key=lambda v: (v.belief.valid_from, v.belief.asserted_at))
            assert held == [kept[last.id].value]


@settings(max_examples=400 if DEEP else 120, deadline=None, derandomize=True, database=None)
@given(st.lists(said(ends=False), min_size=1, max_size=7, unique_by=lambda fact: fact.valid_from))
def test_told_in_order_it_comes_to_what_judging_each_as_it_came_comes_to(facts: list[Fact]) -> None:
    facts = sorted(facts, key=lambda fact: fact.valid_from or KNOWN)
    judged, as_judged = stored(facts, classify=True)
    swept, as_swept = stored(facts, classify=False)
    sweep(swept, as_swept)
    for number in range(16):
        assert holding(swept, as_swept, day(number)) == holding(judged, as_judged, day(number)), (
            number
        )


@settings(max_examples=400 if DEEP else 120, deadline=None, derandomize=True, database=None)
@given(st.lists(said(ends=False), min_size=1, max_size=7, unique_by=lambda fact: fact.valid_from))
def test_where_equal_values_are_equal_texts_it_comes_to_the_same_in_any_order(
    facts: list[Fact],
) -> None:
    judged, as_judged = stored(facts, classify=True)
    swept, as_swept = stored(facts, classify=False, alike=True)
    sweep(swept, as_swept)
    for number in range(16):
        assert holding(swept, as_swept, day(number)) == holding(judged, as_judged, day(number)), (
            number
        )


@settings(max_examples=200 if DEEP else 60, deadline=None, derandomize=True, database=None)
@given(st.lists(said(ends=False), min_size=1, max_size=7))
def test_a_second_sweep_changes_nothing(facts: list[Fact]) -> None:
    chains, kept = stored(facts, classify=False)
    sweep(chains, kept)
    assert sweep(chains, kept) == 0


@settings(max_examples=200 if DEEP else 60, deadline=None, derandomize=True, database=None)
@given(st.lists(said(), min_size=1, max_size=7))
def test_sweeps_come_to_rest(facts: list[Fact]) -> None:
    """A temporary memory ends nothing in other chains, so one sweep may uncover what another one does."""
    chains, kept = stored(facts, classify=False)
    assert any(sweep(chains, kept) == 0 for _ in range(len(facts) + 1))


def test_what_may_not_end_is_a_question_in_favour_of_the_later_one() -> None:
    trusted = Fact("It is a", key="it", value="a", valid_from=day(0), trust=90)
    chains, kept = stored(
        [trusted, Fact("It is b", key="it", value="b", valid_from=day(5), trust=10)], classify=False
    )
    later = chains.get_version(UUID(int=2))
    others = select_comparison_chains(later, kept[later.id], chains, ())
    plan = plan_sweep(
        IncomingFact(kept[later.id], later.id),
        chains,
        others,
        POLICY,
        now=KNOWN + timedelta(days=1),
        proposes=False,
    )
    assert plan is not None
    assert plan.review is not None
    assert (plan.review.source, plan.review.successor, plan.changed) == (
        ReviewSource.SWEEP,
        later.id,
        (),
    )


def test_a_repetition_that_replaced_something_stays() -> None:
    """Withdrawn, it would let what it replaced in its own chain hold again."""
    chain = [
        Fact(f"It is {value}", key="it", value=value, valid_from=day(start))
        for value, start in (("a", 2), ("b", 5))
    ]
    chains, kept = stored(chain, classify=True)
    beside = Fact("It is b, as was said elsewhere", key="it", value="b", valid_from=day(4))
    plan = plan_store(
        IncomingFact(beside, UUID(int=9), classify=False),
        chains,
        POLICY,
        now=KNOWN + timedelta(hours=1),
    )
    chains.absorb_versions(plan.versions)
    kept[UUID(int=9)] = beside
    sweep(chains, kept)
    assert not chains.get_version(UUID(int=2)).belief.void
    assert holding(chains, kept, day(6)) != ["a"]


def test_what_an_end_may_not_end_is_asked_about() -> None:
    works = [
        Fact("Works at Initech", valid_from=day(0), trust=90),
        Fact("Is employed at Initech", valid_from=day(1)),
    ]
    chains, kept = stored(
        [*works, Fact("No longer works at Initech", valid_from=day(5))], classify=False
    )
    trusted, plain, end = (UUID(int=place) for place in (1, 2, 3))
    said = tuple(
        Judgment(i, Relation.RETRACTION, 0.95, "because", Judge.SIGNALS) for i in (trusted, plain)
    )
    others = select_comparison_chains(chains.get_version(end), kept[end], chains, ())
    plan = plan_sweep(
        IncomingFact(kept[end], end, said),
        chains,
        others,
        POLICY,
        now=KNOWN + timedelta(days=1),
        proposes=False,
    )
    assert plan is not None
    chains.absorb_versions(plan.versions)
    assert chains.get_version(plain).belief.ended_by == end
    assert plan.review is not None
    review = plan.review
    proposal = Proposal(
        UUID(int=9),
        review.relation,
        KNOWN,
        review.successor,
        review.judgments,
        review.relied_on,
        review.corrections,
    )
    chains.absorb_versions(plan_accept(proposal, chains, now=KNOWN + timedelta(days=2)).versions)
    assert (
        chains.get_version(trusted).belief.valid_until
        == chains.get_version(plain).belief.valid_until
        == day(5)
    )


def test_a_value_that_comes_back_does_not_let_less_trusted_ones_end_the_first() -> None:
    """What says the same later waits for its own turn, and those before it in its chain end all the same where it begins."""
    line = [
        Fact(f"It is {value}", key="it", value=value, valid_from=day(start))
        for value, start in (("b", 4), ("c", 6), ("a", 8))
    ]
    chains, kept = stored(line, classify=True)
    trusted = Fact("It is a, says one who knows", key="it", value="a", valid_from=day(1), trust=90)
    chains.absorb_versions(
        plan_store(
            IncomingFact(trusted, UUID(int=9), classify=False),
            chains,
            POLICY,
            now=KNOWN + timedelta(hours=1),
        ).versions
    )
    kept[UUID(int=9)] = trusted
    sweep(chains, kept)
    assert chains.get_version(UUID(int=9)).belief.valid_until is None


def test_a_sweep_does_not_end_the_constraint_that_it_looks_at() -> None:
    chain = [
        Fact("Uses Vim", key="it", value="vim", valid_from=day(0)),
        Fact("Uses Emacs", key="it", value="emacs", valid_from=day(9)),
    ]
    chains, _kept = stored(chain, classify=True)
    rule = Fact("Never Vim", kind=Kind.CONSTRAINT, trust=90, valid_from=day(5))
    plan = plan_store(
        IncomingFact(rule, UUID(int=9), classify=False),
        chains,
        POLICY,
        now=KNOWN + timedelta(hours=1),
    )
    chains.absorb_versions(plan.versions)
    memory = chains.get_version(UUID(int=9))
    said = Judgment(UUID(int=1), Relation.CONTRADICTION, 0.95, "x", Judge.SIGNALS)
    others = select_comparison_chains(memory, rule, chains, ())
    plan = plan_sweep(
        IncomingFact(rule, memory.id, (said,)),
        chains,
        others,
        POLICY,
        now=KNOWN + timedelta(days=1),
        proposes=False,
    )
    if plan:
        chains.absorb_versions(plan.versions)
    after = chains.get_version(UUID(int=9)).belief
    assert after.valid_until is None, (
        plan.operation,
        plan.superseded,
        after.valid_until,
        after.superseded_by,
    )


# --- cases ---------------------------------------------------------------------------------------


def editor_value(value: str, start: int | None = None, **more: Any) -> Fact:
    start_day = {} if start is None else {"valid_from": day(start)}
    content = f"Uses {value}"
    return Fact(**{"content": content, "key": "editor", "value": value, **start_day, **more})


def sweep_facts(*facts: Fact) -> list[Status]:
    """Store the facts beside each other, sweep them and return the status of each."""
    chains, kept = stored(facts, classify=False, alike=True)
    sweep(chains, kept)
    return list_statuses(chains, kept)


def list_statuses(chains: Chains, facts: dict[UUID, Fact]) -> list[Status]:
    at = KNOWN + timedelta(days=2)
    return [compute_status(chains.get_version(memory_id).belief, at) for memory_id in facts]


def test_of_equal_starts_the_later_known_holds() -> None:
    chains, kept = stored(
        [editor_value("Vim", 0), editor_value("Nano", 0)], classify=False, alike=True
    )
    sweep(chains, kept)
    assert holding(chains, kept, day(1)) == ["Nano"]
    assert chains.get_version(UUID(int=1)).belief.is_empty


def test_the_same_value_twice_is_withdrawn_once() -> None:
    again = editor_value("vim", content="Vim is the editor")
    assert sweep_facts(editor_value("Vim", 0), again) == [Status.CURRENT, Status.REVERTED]


@pytest.mark.parametrize("classify", [False, True])
def test_a_value_that_comes_again_after_another_is_the_one_that_holds(classify: bool) -> None:
    chains, kept = stored([editor_value("Vim"), editor_value("Emacs")], classify=False, alike=True)
    again, new_id = editor_value("Vim", content="Vim once more"), UUID(int=3)
    now = KNOWN + timedelta(minutes=1)
    judgments = tuple(rules.judge_fact(again, chains, now, classify=classify, fuzzy=True))
    incoming = IncomingFact(again, new_id, judgments, classify=classify)
    chains.absorb_versions(plan_store(incoming, chains, POLICY, now=now).versions)
    kept[new_id] = again
    sweep(chains, kept)
    assert list_statuses(chains, kept) == [Status.SUPERSEDED, Status.SUPERSEDED, Status.CURRENT]
    assert sweep(chains, kept) == 0


def test_a_constraint_in_the_slot_stays() -> None:
    rule = editor_value("Vim", 0, kind=Kind.CONSTRAINT)
    assert sweep_facts(rule, editor_value("Nano", 1), editor_value("Emacs", 2)) == [
        Status.CURRENT,
        Status.SUPERSEDED,
        Status.CURRENT,
    ]


def test_what_holds_several_values_is_left() -> None:
    facts = [editor_value(value, 0, single_valued=False) for value in ("Thai", "Dutch")]
    assert sweep_facts(*facts) == [Status.CURRENT, Status.CURRENT]


SESSION: dict[str, Any] = {"session_id": "monday", "lifespan": Lifespan.SESSION}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (
            Fact("Never on Fridays", kind=Kind.CONSTRAINT, valid_from=day(0), valid_until=day(9)),
            Fact("Never on  Fridays.", kind=Kind.CONSTRAINT, valid_from=day(5)),
            [Status.EXPIRED, Status.CURRENT],
        ),
        (
            Fact("Drinks green tea", valid_from=day(0), valid_until=day(9)),
            Fact("Drinks  green tea.", valid_from=day(5)),
            [Status.SUPERSEDED, Status.CURRENT],
        ),
        (
            editor_value("Vim", 0, trust=10),
            editor_value("Vim", 1, content="Vim it is", trust=90),
            [Status.SUPERSEDED, Status.CURRENT],
        ),
        (
            editor_value("Vim", 0, **SESSION),
            editor_value("Vim", 1, content="Works in Vim", lifespan=Lifespan.PERMANENT),
            [Status.SUPERSEDED, Status.CURRENT],
        ),
        (
            editor_value("Vim", 0, lifespan=Lifespan.PERMANENT),
            editor_value("Vim", 1, content="Works in Vim", **SESSION),
            [Status.CURRENT, Status.REVERTED],
        ),
    ],
)
def test_of_two_that_say_the_same_the_one_stays_that_holds_lives_and_counts_for_more(
    first: Fact, second: Fact, expected: list[Status]
) -> None:
    assert sweep_facts(first, second) == expected


def test_a_merge_does_not_revive_what_was_retracted() -> None:
    facts = [Fact("Written by Anna", valid_from=day(0)), Fact("Tested by Bea", valid_from=day(1))]
    for retracted in ([], [UUID(int=1)], [UUID(int=2)], [UUID(int=1), UUID(int=2)]):
        chains, kept = stored(facts, classify=False)
        for memory_id in retracted:
            plan = plan_retract(memory_id, chains, now=KNOWN + timedelta(hours=1), at=day(9))
            chains.absorb_versions(plan.versions)
        one, two = (chains.get_version(memory_id) for memory_id in kept)
        said = Judgment(one.id, Relation.COMPLEMENT, 0.95, "because", Judge.MODEL)
        merged = PreparedMerge(one.id, StoredFact("Written by Anna. Tested by Bea"), UUID(int=9))
        swept = IncomingFact(kept[two.id], two.id, (said,), merged=merged)
        others = select_comparison_chains(two, kept[two.id], chains, ())
        planned = plan_sweep(
            swept, chains, others, POLICY, now=KNOWN + timedelta(days=1), proposes=False
        )
        is_merged = planned is not None and planned.operation is Operation.MERGE
        assert is_merged is (not retracted), retracted
