"""Any judgments, however absurd, give a plan that keeps the invariants of DESIGN §4."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.chains import Chains
from app.domain.fact import Fact, Kind, StoredFact, Tier
from app.domain.policy import Policy
from app.domain.relation import TIE, Judge, Judgment, Operation, Relation, decide_operation
from app.domain.timeline import order_versions
from app.domain.version import Version
from app.planning.plan import IncomingFact, Plan, PreparedMerge, ReviewSource
from app.planning.store import plan_store
from support.depth import DEEP

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def remembered(*facts: Fact) -> tuple[Chains, list[UUID]]:
    """A chains of facts stored one a second, without classification."""
    chains, ids = Chains(), []
    for second, fact in enumerate(facts):
        memory_id = uuid4()
        now = NOW - DAY + timedelta(seconds=second)
        chains.absorb_versions(
            plan_store(
                IncomingFact(fact, memory_id, classify=False), chains, Policy(), now=now
            ).versions
        )
        ids.append(memory_id)
    return chains, ids


def said(memory_id: UUID, relation: Relation, confidence: float = 0.95, **more: object) -> Judgment:
    return Judgment(memory_id, relation, confidence, "because", Judge.MODEL, **more)  # type: ignore[arg-type]


def planned(
    chains: Chains,
    *judgments: Judgment,
    fact: Fact | None = None,
    policy: Policy | None = None,
    **more: object,
) -> Plan:
    fact = fact or Fact("something new")
    incoming = IncomingFact(fact, uuid4(), judgments, **more)  # type: ignore[arg-type]
    return plan_store(incoming, chains, policy or Policy(), now=NOW)


@pytest.mark.parametrize(
    ("captured", "confidence", "trust", "ended"),
    [
        (True, 0.98, 50, True),
        (True, 0.9, 50, False),
        (True, 0.98, 60, False),
        (False, 0.98, 50, False),
    ],
)
def test_a_captured_fact_ends_what_was_stated_only_if_that_is_very_sure(
    captured: bool, confidence: float, trust: int, ended: bool
) -> None:
    chains, [one] = remembered(Fact("one", trust=trust))
    judgment = said(one, Relation.UPDATE, confidence)
    plan = planned(chains, judgment, fact=Fact("other", trust=40), may_end_stated=captured)
    assert plan.superseded == ((one,) if ended else ())
    assert (plan.review is None) == ended


def test_each_relation_leads_to_its_operation() -> None:
    for relation, operation in [
        (Relation.DUPLICATE, Operation.NOOP),
        (Relation.UPDATE, Operation.UPDATE),
        (Relation.CONTRADICTION, Operation.UPDATE),
        (Relation.RETRACTION, Operation.DELETE),
        (Relation.OVERLAP, Operation.ADD),
        (Relation.NONE, Operation.ADD),
    ]:
        chains, [one] = remembered(Fact("one"))
        assert planned(chains, said(one, relation)).operation is operation


def test_a_complement_becomes_a_merge_of_both() -> None:
    chains, [one] = remembered(Fact("one"))
    merged = PreparedMerge(one, StoredFact("one. something new"), uuid4())
    plan = planned(chains, said(one, Relation.COMPLEMENT), merged=merged)
    assert plan.operation is Operation.MERGE
    assert plan.target == merged.new_id
    assert len(plan.inserted) == 2
    assert {link.target for link in plan.links} == {merged.new_id}
    source = next(i.version for i in plan.inserted if i.version.id != merged.new_id)
    assert source.belief.superseded_by == merged.new_id
    assert source.belief.merged


def test_judgments_about_as_sure_that_lead_elsewhere_stop_each_other() -> None:
    chains, [one, two] = remembered(Fact("one"), Fact("two"))
    tied = planned(chains, said(one, Relation.UPDATE, 0.93), said(two, Relation.DUPLICATE, 0.95))
    assert tied.operation is Operation.ADD
    assert tied.review is not None
    clear = planned(
        chains, said(one, Relation.UPDATE, 0.93), said(two, Relation.DUPLICATE, 0.93 + TIE + 0.001)
    )
    assert clear.operation is Operation.NOOP


def test_several_targets_end_together_within_the_cap() -> None:
    chains, ids = remembered(*(Fact(f"fact {i}") for i in range(5)))
    plan = planned(chains, *(said(i, Relation.UPDATE) for i in ids))
    assert plan.superseded == tuple(ids[:3])
    assert plan.review is not None
    assert plan.review.source is ReviewSource.CAP
    assert {j.memory_id for j in plan.review.judgments} == set(ids[3:])


def test_what_is_less_sure_waits_for_a_person_beside_what_is_done() -> None:
    chains, [sure, unsure, rule, ended] = remembered(
        Fact("one"), Fact("two"), Fact("rule", kind=Kind.CONSTRAINT), Fact("three")
    )
    doubts = [
        said(unsure, Relation.UPDATE, 0.5),
        said(rule, Relation.CONTRADICTION, 0.6),
        said(ended, Relation.RETRACTION, 0.5),
    ]
    plan = planned(chains, said(sure, Relation.UPDATE), *doubts)
    assert plan.superseded == (sure,)
    assert plan.review is not None
    assert plan.review.source is ReviewSource.LOW_CONFIDENCE
    assert {j.memory_id for j in plan.review.judgments} == {unsure, rule, ended}


def test_a_switch_that_is_off_keeps_both() -> None:
    chains, [one] = remembered(Fact("one"))
    for relation, policy in [
        (Relation.UPDATE, Policy(may_supersede=False)),
        (Relation.RETRACTION, Policy(may_delete=False)),
    ]:
        plan = planned(chains, said(one, relation), policy=policy)
        assert plan.operation is Operation.ADD
        assert plan.review is not None


def test_core_follows_the_policy() -> None:
    chains, [one] = remembered(Fact("one", tier=Tier.CORE, importance=0.9))
    for relation, inheritance, tier in [
        (Relation.UPDATE, "any", Tier.CORE),
        (Relation.UPDATE, "contradiction", Tier.SEMANTIC),
        (Relation.CONTRADICTION, "contradiction", Tier.CORE),
    ]:
        plan = planned(chains, said(one, relation), policy=Policy(core_inheritance=inheritance))
        [inserted] = plan.inserted
        assert (inserted.fact.tier, inserted.fact.importance) == (tier, 0.9)
        [change] = plan.changed
        assert change.after.belief.tier is Tier.SEMANTIC
        assert change.after.belief.contradicted_by == inserted.version.id


PROTECTED = [
    (Fact("one", kind=Kind.CONSTRAINT), ReviewSource.CONSTRAINT),
    (Fact("one", trust=80), ReviewSource.TRUST),
]


@pytest.mark.parametrize("judge", [Judge.SIGNALS, Judge.MODEL])
@pytest.mark.parametrize("relation", [Relation.UPDATE, Relation.CONTRADICTION, Relation.RETRACTION])
@pytest.mark.parametrize(("stored", "source"), PROTECTED)
def test_no_judge_ends_a_constraint_or_what_is_trusted_more(
    stored: Fact, source: ReviewSource, relation: Relation, judge: Judge
) -> None:
    chains, [one] = remembered(stored)
    judgment = Judgment(one, relation, 1.0, "because", judge)
    plan = planned(chains, judgment, fact=Fact("something new", trust=20))
    assert (plan.operation, plan.superseded, plan.changed) == (Operation.ADD, (), ())
    assert plan.review is not None
    assert (plan.review.source, plan.review.relied_on) == (source, ((one, 1),))


def test_equal_trust_ends_what_lower_trust_may_not() -> None:
    chains, [one] = remembered(Fact("one", trust=80))
    plan = planned(chains, said(one, Relation.UPDATE), fact=Fact("something new", trust=80))
    assert (plan.operation, plan.superseded) == (Operation.UPDATE, (one,))


def test_what_may_not_end_and_what_is_over_the_cap_waits_together() -> None:
    facts = [Fact(f"fact {number}") for number in range(6)]
    chains, ids = remembered(*facts, Fact("rule", kind=Kind.CONSTRAINT), Fact("trusted", trust=90))
    plan = planned(chains, *(said(i, Relation.CONTRADICTION) for i in ids))
    assert (plan.operation, plan.superseded) == (Operation.UPDATE, tuple(ids[:3]))
    assert plan.review is not None
    assert [j.memory_id for j in plan.review.judgments] == ids[3:]
    chains.absorb_versions(plan.versions)
    assert all(chains.get_version(i).belief.holds_at(NOW) for i in ids[3:])


@pytest.mark.parametrize(
    ("judge", "confidence", "operation"),
    [
        (Judge.MODEL, 0.6, Operation.ADD),
        (Judge.MODEL, 0.79, Operation.ADD),
        (Judge.MODEL, 0.8, Operation.UPDATE),
        (Judge.SIGNALS, 0.69, Operation.ADD),
        (Judge.SIGNALS, 0.7, Operation.UPDATE),
    ],
)
def test_an_unsure_judge_leaves_a_review(
    judge: Judge, confidence: float, operation: Operation
) -> None:
    chains, [one] = remembered(Fact("one"))
    plan = planned(chains, Judgment(one, Relation.UPDATE, confidence, "because", judge))
    assert plan.operation is operation
    assert bool(plan.superseded) is (operation is Operation.UPDATE)
    assert bool(plan.review) is (operation is Operation.ADD)


@pytest.mark.parametrize(
    ("stored", "fact", "operation"),
    [
        (Fact("I live in Porto", entity="bob"), Fact("I live in Lisbon"), Operation.ADD),
        (Fact("I live in Porto"), Fact("I live in Lisbon", entity="bob"), Operation.ADD),
        (
            Fact("I live in Porto", entity="bob"),
            Fact("I live in Lisbon", entity="ana"),
            Operation.ADD,
        ),
        (
            Fact("Lives in Porto", entity="ana"),
            Fact("Moved to Lisbon, says Ana", entity="bob"),
            Operation.ADD,
        ),
        (Fact("Lives in Porto", entity="bob"), Fact("Bob moved to Lisbon"), Operation.UPDATE),
        (
            Fact("Lives in Porto", entity="Bob"),
            Fact("Moved to Lisbon", entity="bob "),
            Operation.UPDATE,
        ),
    ],
)
def test_what_is_said_of_one_ends_nothing_of_another(
    stored: Fact, fact: Fact, operation: Operation
) -> None:
    chains, [one] = remembered(stored)
    plan = planned(chains, said(one, Relation.UPDATE, 1.0), fact=fact)
    assert plan.operation is operation
    assert plan.superseded == ((one,) if operation is Operation.UPDATE else ())
    if operation is Operation.UPDATE:
        assert plan.inserted[0].fact.entity == stored.entity


def test_a_change_that_became_known_late_takes_its_place_in_the_past() -> None:
    chains, [lisbon] = remembered(Fact("I live in Lisbon", valid_from=NOW - 2 * DAY))
    late = Fact("I live in Porto", valid_from=NOW - 9 * DAY)
    plan = planned(chains, said(lisbon, Relation.UPDATE), fact=late)
    assert (plan.operation, plan.superseded) == (Operation.ADD, ())
    chains.absorb_versions(plan.versions)
    porto = chains.get_version(plan.inserted[0].version.id)
    assert (porto.chain_id, porto.belief.valid_until) == (lisbon, NOW - 2 * DAY)
    assert chains.get_version(lisbon).belief.valid_until is None


LATER = NOW + DAY


@pytest.mark.parametrize(
    ("stored", "fact"),
    [
        (Fact("one", kind=Kind.CONSTRAINT), Fact("two")),
        (Fact("one"), Fact("two", kind=Kind.CONSTRAINT)),
        (Fact("one", trust=80), Fact("two")),
        (Fact("one", valid_until=LATER), Fact("two")),
        (Fact("one"), Fact("two", valid_until=LATER)),
    ],
)
def test_what_is_protected_or_ends_is_never_merged_away(stored: Fact, fact: Fact) -> None:
    chains, [one] = remembered(stored)
    merged = PreparedMerge(one, StoredFact("one. two"), uuid4())
    plan = planned(chains, said(one, Relation.COMPLEMENT, 1.0), fact=fact, merged=merged)
    assert (plan.operation, plan.changed) == (Operation.ADD, ())
    assert [insertion.fact.content for insertion in plan.inserted] == ["two"]


FACTS = st.builds(
    Fact,
    content=st.sampled_from(["a", "b", "c", "d"]),
    kind=st.sampled_from([None, Kind.CONSTRAINT, Kind.PREFERENCE]),
    key=st.sampled_from([None, None, "k"]),
    value=st.sampled_from([None, "1", "2"]),
    trust=st.sampled_from([None, 10, 90]),
    tier=st.sampled_from([None, Tier.CORE]),
    valid_from=st.sampled_from([None, NOW - 9 * DAY, NOW - 2 * DAY, NOW + 3 * DAY]),
    valid_until=st.sampled_from([None, None, NOW + 5 * DAY]),
)
WORDS = st.tuples(
    st.integers(0, 9),
    st.sampled_from(Relation),
    st.floats(0, 1),
    st.sampled_from([Judge.MODEL, Judge.SIGNALS, Judge.RULE]),
    st.booleans(),
)


@settings(max_examples=1500 if DEEP else 400, derandomize=True, deadline=None)
@given(
    stored=st.lists(FACTS, max_size=8),
    fact=FACTS,
    words=st.lists(WORDS, max_size=12),
    retracts=st.booleans(),
    merge=st.booleans(),
)
def test_any_judgments_keep_the_invariants(
    stored: list[Fact], fact: Fact, words: list[tuple], retracts: bool, merge: bool
) -> None:  # type: ignore[type-arg]
    chains, ids = remembered(*stored)
    known = [i for i in ids if chains.has_version(i)]
    target = [*known, uuid4()]
    judgments = [
        Judgment(target[w[0] % len(target)], w[1], w[2], "x", w[3], flag=w[4])
        for w in words
        if w[3] is not Judge.RULE or known
    ]
    judgments = [
        j for j in judgments if j.decided_by is not Judge.RULE or chains.has_version(j.memory_id)
    ]
    merged = PreparedMerge(known[0], StoredFact("both"), uuid4()) if merge and known else None
    before = {v.id: v for v in chains.list_versions()}
    policy = Policy()
    incoming = IncomingFact(fact, uuid4(), tuple(judgments), merged=merged, retracts=retracts)
    plan = plan_store(incoming, chains, policy, now=NOW)
    check_closures(plan, before, fact, policy)
    chains.absorb_versions(plan.versions)
    check_chains(list(chains.list_versions()))
    assert plan.incoming == fact, "nothing told is lost"
    if plan.operation not in (Operation.NOOP, Operation.AMEND):
        assert plan.inserted, "the fact is stored"


def check_closures(plan: Plan, before: dict[UUID, Version], fact: Fact, policy: Policy) -> None:
    ended = [before[c.after.id] for c in plan.changed if c.after.id in plan.superseded]
    assert len(plan.superseded) <= policy.max_closures
    assert all(v.kind is not Kind.CONSTRAINT for v in ended)
    assert all(v.trust <= (50 if fact.trust is None else fact.trust) for v in ended)
    touched = (
        {c.after.id for c in plan.changed if c.has_moved} - set(plan.superseded) - {plan.target}
    )
    assert touched == set(plan.adjusted)


def check_chains(versions: list[Version]) -> None:
    for chain_id in {v.chain_id for v in versions}:
        line = order_versions(v for v in versions if v.chain_id == chain_id)
        ends = [(v.belief.valid_from, v.belief.valid_until, *v.belief.covered) for v in line]
        for at in {at for moments in ends for at in moments if at is not None}:
            assert sum(v.belief.holds_at(at) for v in line) <= 1
        assert sum(v.belief.valid_until is None for v in line) <= 1


@settings(max_examples=500 if DEEP else 150, derandomize=True, deadline=None)
@given(words=st.lists(WORDS, max_size=10))
def test_deciding_acts_only_on_what_is_sure_and_of_one_operation(words: list[tuple]) -> None:  # type: ignore[type-arg]
    judgments = [Judgment(uuid4(), w[1], w[2], "x", Judge.MODEL, flag=w[4]) for w in words]
    choice = decide_operation(judgments, lambda j: j.confidence >= 0.8)
    assert all(j.confidence >= 0.8 and not j.flag for j in choice.acts_on)
    if not all(j.relation.effect.ends_stored for j in choice.acts_on):
        assert {j.relation.effect.operation for j in choice.acts_on} <= {choice.operation}
