"""Hints over lines of values, as tables of cases."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from uuid import UUID

import pytest

from app.domain.chains import Chains
from app.domain.fact import Fact, Kind
from app.domain.policy import Policy
from app.domain.relation import Decision, Judge, Judgment, Relation
from app.planning import hints
from app.planning.explicit import plan_retract
from app.planning.hints import HintName, Rejection, ValueStep
from app.planning.plan import IncomingFact, Plan, Review, ReviewSource
from app.planning.store import plan_store

NOW = datetime(2026, 6, 30, 12, tzinfo=UTC)


def line(*told: tuple[str, float] | tuple[str, float, float]) -> list[ValueStep]:
    """Steps of (value, days before NOW known, days before NOW true; as known where left out)."""
    steps = []
    for number, (value, known, *true) in enumerate(told):
        created, start = (NOW - timedelta(days=days) for days in (known, (true or [known])[0]))
        steps.append(ValueStep(UUID(int=number), start, created, created, value.encode()))
    return steps


def names(steps: Sequence[ValueStep], at: datetime = NOW) -> list[str]:
    return [hint.name.value for hint in hints.find_line_hints(steps, at)]


SIX = (("a", 29), ("b", 20), ("c", 15), ("d", 10), ("e", 5), ("f", 0))


@pytest.mark.parametrize(
    ("case", "steps", "expected"),
    [
        ("nothing", [], []),
        ("one value", [("a", 1)], []),
        ("five changes in thirty days", SIX, ["unstable_slot"]),
        ("the first value is no change", SIX[1:], []),
        ("five changes after an old value", [("z", 900), *SIX[1:]], ["unstable_slot"]),
        ("five changes in two months", [("a", 61), ("b", 60), *SIX[2:]], []),
        ("exactly thirty days ago is out", [("a", 31), ("b", 30), *SIX[2:]], []),
        (
            "history told at once is no unrest",
            [(v, 0, 365 * n) for n, v in enumerate("fedcba")],
            [],
        ),
        ("what is scheduled counts", [*SIX[:5], ("f", 0, -7)], ["unstable_slot"]),
        (
            "the same again is no change",
            [("a", 9), ("b", 8), ("b", 7), ("b", 6), ("b", 5), ("b", 4), ("b", 3)],
            [],
        ),
        ("what is known later does not count", [*SIX[:5], ("f", -1)], []),
        ("there and back", [("a", 900), ("b", 500), ("a", 100)], ["flip_flop"]),
        (
            "there and back, told twice",
            [("a", 900), ("b", 500), ("b", 400), ("a", 100), ("a", 50)],
            ["flip_flop"],
        ),
        ("there, back and on", [("a", 900), ("b", 500), ("a", 100), ("c", 50)], []),
        ("by a detour", [("a", 900), ("b", 500), ("c", 300), ("a", 100)], []),
        (
            "in the order of valid time",
            [("a", 3, 900), ("a", 2, 100), ("b", 1, 500)],
            ["flip_flop"],
        ),
        (
            "to and fro",
            [(v, 20 - n) for n, v in enumerate("ababab")],
            ["unstable_slot", "flip_flop"],
        ),
    ],
)
def test_what_a_line_of_values_warns_of(
    case: str, steps: list[tuple[str, float]], expected: list[str]
) -> None:
    assert names(line(*steps)) == expected, case


def test_the_sentence_counts_and_the_changes_are_named() -> None:
    steps = line(*SIX, ("g", -1))
    [hint] = hints.find_line_hints(steps, NOW + timedelta(days=1, seconds=-1))
    assert hint.sentence == "changed 5 times in 30 days: ask before acting on it"
    assert hint.memory_ids == tuple(UUID(int=n) for n in range(1, 6))
    many = line(*((str(n), 20 - n / 100) for n in range(500)))
    [hint] = hints.find_line_hints(many, NOW)
    assert hint.sentence.startswith("changed 499 times")
    assert hint.memory_ids == tuple(UUID(int=n) for n in range(490, 500))


def test_a_flip_flop_names_the_three() -> None:
    [hint] = hints.find_line_hints(line(("a", 9), ("b", 8), ("a", 7)), NOW)
    assert hint.memory_ids == (UUID(int=0), UUID(int=1), UUID(int=2))


# --- plans -------------------------------------------------------------------------------------------------------------


def told(
    chains: Chains, fact: Fact, number: int, *judgments: Judgment, now: datetime = NOW
) -> Plan:
    """The fact stored and absorbed."""
    plan = plan_store(IncomingFact(fact, UUID(int=number), judgments), chains, Policy(), now=now)
    chains.absorb_versions(plan.versions)
    return plan


def setting(value: str) -> Fact:
    return Fact(f"It is {value}", key="setting", value=value)


def test_a_plan_is_hinted_by_the_line_of_its_slot() -> None:
    chains = Chains()
    plans = [
        told(chains, setting(v), n + 1, now=NOW + timedelta(days=n)) for n, v in enumerate("abcdea")
    ]
    found = [[hint.name.value for hint in hints.find_plan_hints(plan, chains)] for plan in plans]
    assert found == [[], [], [], [], [], ["unstable_slot"]]
    again = told(chains, setting("a"), 9, now=NOW + timedelta(days=6))
    assert again.operation == "NOOP"
    assert [hint.name for hint in hints.find_plan_hints(again, chains)] == [HintName.UNSTABLE_SLOT]


def test_values_in_several_chains_of_one_slot_are_one_line() -> None:
    """As in a slot that was filled without being classified."""
    chains = Chains()
    for number, value in enumerate("aba", start=1):
        now = NOW + timedelta(days=number)
        plan = plan_store(
            IncomingFact(setting(value), UUID(int=number), classify=False),
            chains,
            Policy(),
            now=now,
        )
        chains.absorb_versions(plan.versions)
    assert [hint.name for hint in hints.find_plan_hints(plan, chains)] == [HintName.FLIP_FLOP]
    several = Chains()
    for number, value in enumerate("aba", start=1):
        fact = replace(setting(value), single_valued=False)
        plan = plan_store(
            IncomingFact(fact, UUID(int=number), classify=False), several, Policy(), now=NOW
        )
        several.absorb_versions(plan.versions)
    assert hints.find_plan_hints(plan, several) == []


def test_withdrawn_versions_do_not_count() -> None:
    chains = Chains()
    for number, value in enumerate("aba", start=1):
        last = told(chains, setting(value), number, now=NOW + timedelta(days=number))
    withdrawn = plan_retract(UUID(int=2), chains, now=NOW + timedelta(days=9), never_true=True)
    chains.absorb_versions(withdrawn.versions)
    assert hints.find_plan_hints(last, chains) == []


def judged(number: int, relation: Relation, confidence: float = 0.9) -> Judgment:
    return Judgment(UUID(int=number), relation, confidence, "said so", Judge.SIGNALS)


@pytest.mark.parametrize(
    ("kind", "relation", "conflicts"),
    [
        (Kind.CONSTRAINT, Relation.UPDATE, True),
        (Kind.CONSTRAINT, Relation.CONTRADICTION, True),
        (Kind.CONSTRAINT, Relation.RETRACTION, True),
        (Kind.CONSTRAINT, Relation.OVERLAP, False),
        (Kind.CONSTRAINT, Relation.NONE, False),
        (Kind.FACT, Relation.UPDATE, False),
    ],
)
def test_what_a_constraint_stands_against(kind: Kind, relation: Relation, conflicts: bool) -> None:
    chains = Chains()
    told(chains, Fact("Never on Fridays", kind=kind), 1)
    plan = told(
        chains, Fact("Fridays are fine"), 2, judged(1, relation), now=NOW + timedelta(days=1)
    )
    found = hints.find_plan_hints(plan, chains)
    assert [hint.name for hint in found] == (
        [HintName.CONFLICTS_WITH_CONSTRAINT] if conflicts else []
    )
    assert all(
        hint.memory_ids == (UUID(int=1),) and str(UUID(int=1)) in hint.sentence for hint in found
    )


def proposing() -> tuple[Plan, Chains]:
    """A fact stored beside what it may replace, for review."""
    chains = Chains()
    told(chains, Fact("Born in Porto"), 1)
    return told(
        chains,
        Fact("Born in Faro"),
        2,
        judged(1, Relation.UPDATE, 0.4),
        now=NOW + timedelta(days=1),
    ), chains


BEFORE = Rejection(
    Relation.UPDATE, NOW, frozenset({UUID(int=1)}), UUID(int=7), b"another text", None
)


@pytest.mark.parametrize(
    ("case", "rejected", "hinted"),
    [
        ("the same relation about the same memory", BEFORE, True),
        ("another relation", replace(BEFORE, relation=Relation.RETRACTION), False),
        ("another memory", replace(BEFORE, about=frozenset({UUID(int=3)})), False),
        (
            "the same text",
            replace(BEFORE, about=frozenset(), fuzzy_hash=Fact("born in FARO!").fuzzy_hash),
            True,
        ),
        ("no date", replace(BEFORE, decided_at=None), True),
    ],
)
def test_what_a_person_rejected_before(case: str, rejected: Rejection, hinted: bool) -> None:
    plan, chains = proposing()
    assert plan.review
    found = [
        h
        for h in hints.find_plan_hints(plan, chains, [rejected])
        if h.name is HintName.SIMILAR_REJECTED_BEFORE
    ]
    assert bool(found) is hinted, case
    assert all(hint.memory_ids == (UUID(int=7),) for hint in found)


def test_a_rejection_of_an_earlier_version_counts_for_its_successors() -> None:
    chains = Chains()
    told(chains, Fact("Born in Porto"), 1)
    told(chains, Fact("Born in Braga"), 2, judged(1, Relation.UPDATE), now=NOW + timedelta(days=1))
    plan = told(
        chains, Fact("Born in Faro"), 3, judged(2, Relation.UPDATE), now=NOW + timedelta(days=2)
    )
    assert (plan.operation, plan.superseded) == ("UPDATE", (UUID(int=2),))
    assert hints.find_proposal_targets(plan, chains) == {UUID(int=1), UUID(int=2)}
    assert [hint.name for hint in hints.find_plan_hints(plan, chains, [BEFORE])] == [
        HintName.SIMILAR_REJECTED_BEFORE
    ]


def test_only_proposals_and_what_judges_did_ask_for_rejections() -> None:
    chains = Chains()
    plans = [
        told(chains, setting(v), n, now=NOW + timedelta(days=n))
        for n, v in enumerate("ab", start=1)
    ]
    assert [hints.find_proposal_targets(plan, chains) for plan in plans] == [
        frozenset(),
        frozenset(),
    ]
    empty = replace(plans[1], review=Review(ReviewSource.FALLBACK, Relation.NONE, (), ()))
    assert hints.find_proposal_targets(empty, chains) == frozenset()
    told_by_caller = replace(plans[1], decision=Decision(Relation.UPDATE, 1.0, Judge.CALLER, ""))
    assert hints.find_proposal_targets(told_by_caller, chains) == frozenset()


def summarize_anew(steps: Sequence[ValueStep], at: datetime) -> hints.LineSummary:
    """Sum up a line as its definition says."""
    ordered = sorted(steps, key=lambda step: (step.valid_from, step.asserted_at, step.memory_id))
    runs = [list(run) for _, run in groupby(ordered, key=lambda step: step.value)]
    since = at - timedelta(days=hints.UNSTABLE_DAYS)
    changes = [run[0] for run in runs[1:]]
    recent = [s.memory_id for s in changes if min(s.created_at, s.valid_from) > since]
    last = [(run[-1].memory_id, run[-1].value) for run in runs[-3:]]
    return hints.LineSummary(len(recent), tuple(recent[-hints.MAX_NAMED :]), tuple(last))


@pytest.mark.parametrize("seed", range(20))
def test_a_line_is_summed_up_as_its_definition_says(seed: int) -> None:
    chance = random.Random(seed)
    values = "abc"[: 2 + seed % 2]
    steps = line(
        *((chance.choice(values), chance.randint(0, 60), chance.randint(-5, 60)) for _ in range(60))
    )
    for count in range(20, 61):
        line_of_values = hints.order_steps(steps[:count])
        assert hints.summarize_line(line_of_values, NOW) == summarize_anew(steps[:count], NOW)


def test_each_plan_of_a_batch_has_the_hints_that_it_has_without_the_others() -> None:
    chance = random.Random(7)
    chains = Chains()
    plans: list[Plan] = []
    for number in range(40):
        fact = Fact(f"Level {number}", key="level", value=chance.choice("abc"))
        incoming = IncomingFact(fact, UUID(int=number + 1), classify=chance.random() < 0.7)
        plan = plan_store(incoming, chains, Policy(), now=NOW + timedelta(minutes=number))
        plan.absorb_into(chains)
        plans.append(plan)
    lines = hints.PlanLines(chains)
    for plan in plans:
        assert lines.summarize(plan) == hints.PlanLines(chains).summarize(plan)
    assert hints.find_plan_hints(plans[-1], chains)
