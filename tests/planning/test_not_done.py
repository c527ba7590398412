"""What a store did not do of what judges proposed: the reason, the decision, and the sentence."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from app.domain.chains import Chains
from app.domain.fact import Fact, StoredFact
from app.domain.policy import Policy
from app.domain.relation import Finding, Judge, Judgment, Operation, Opinion, Relation
from app.domain.version import Version
from app.planning.building_blocks import Placement, build_version, plan_addition
from app.planning.not_done import MAX_JUDGED, Judging, explain_plan, list_judged_memories
from app.planning.opinions import Reason, describe_judged_memory
from app.planning.plan import IncomingFact, Plan, Review, ReviewSource
from app.planning.store import plan_store

OLD, NEW = UUID(int=1), UUID(int=2)
THEN, NOW = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 5, 4, tzinfo=UTC)
STORED, TOLD = "User lives in Portland", "User just moved to Seattle"


def version(memory_id: UUID = OLD, content: str = STORED, **more: Any) -> Version:
    placement = Placement(new_id=memory_id, chain_id=memory_id, start=THEN, now=THEN)
    return build_version(StoredFact(content, **more), placement)


SIGNALS = Opinion(Judge.SIGNALS, Relation.UPDATE, 0.999, "single_valued: Portland, Seattle")
LOCAL = Opinion(Judge.LOCAL, Relation.NONE, 0.96, "reads no change")
MODEL = Opinion(Judge.MODEL, Relation.NONE, 0.9, "both may be true")


def judgment(relation: Relation = Relation.OVERLAP, **more: Any) -> Judgment:
    """The judgment on the stored fact; a signal saw an update."""
    values: dict[str, Any] = {
        "confidence": 0.9,
        "reasoning": "Portland before, Seattle now",
        "decided_by": Judge.LOCAL,
        "findings": (Finding("single_valued", Relation.UPDATE, 0.999, "Portland, Seattle"),),
        "opinions": (SIGNALS, LOCAL),
    }
    return Judgment(more.pop("memory_id", OLD), relation, **(values | more))


def plan_told(*judgments: Judgment, policy: Policy | None = None, **judging: Any) -> Plan:
    """The explained plan of the told fact over the stored one."""
    chains = Chains([version()])
    policy = policy or Policy()
    moved = judging.get("moved", ())
    usable = tuple(one for one in judgments if one.memory_id not in moved)
    incoming = IncomingFact(Fact(TOLD), NEW, judgments=usable)
    plan = plan_store(incoming, chains, policy, now=NOW)
    return explain_plan(plan, Judging(judgments, **judging), chains, policy)


@pytest.mark.parametrize(
    ("judged", "judging", "reason", "said"),
    [
        (
            judgment(),
            {},
            Reason.OBJECTED,
            "The signal single_valued saw an update (.999), the local judge saw none (.96): "
            "nothing was changed.",
        ),
        (
            judgment(),
            {"gate_closed": True},
            Reason.GATE_CLOSED,
            "The signal single_valued saw an update (.999), the local judge saw none (.96): "
            "nothing was changed, and the model was not asked.",
        ),
        (
            judgment(opinions=(SIGNALS, LOCAL), decided_by=Judge.SIGNALS),
            {"failure": "timeout"},
            Reason.FAILED,
            "The signal single_valued saw an update (.999), the local judge saw none (.96): "
            "not done, because the model gave no answer.",
        ),
        (
            judgment(Relation.NONE, decided_by=Judge.MODEL, opinions=(SIGNALS, MODEL)),
            {},
            Reason.MODEL_NONE,
            "The signal single_valued saw an update (.999), the model saw none (.9): "
            "nothing was changed.",
        ),
        (
            judgment(vetoes=("several bear the name",), opinions=(SIGNALS,)),
            {},
            Reason.VETO,
            "The signal single_valued saw an update (.999): kept apart.",
        ),
        (
            judgment(Relation.UPDATE, opinions=(SIGNALS,), decided_by=Judge.SIGNALS),
            {"moved": {OLD}},
            Reason.MOVED,
            "The signal single_valued saw an update (.999): not done, because the memory changed "
            "while it was judged.",
        ),
        (
            judgment(Relation.DUPLICATE, confidence=0.2, findings=(), opinions=()),
            {},
            Reason.UNSURE,
            "The local judge saw a repetition (.2): not sure enough to act or to ask.",
        ),
    ],
)
def test_what_was_not_done_has_its_own_reason_and_sentence(
    judged: Judgment, judging: dict[str, Any], reason: Reason, said: str
) -> None:
    plan = plan_told(judged, **judging)
    [not_done] = plan.not_done
    assert (plan.operation, not_done.memory_id, not_done.reason) == (Operation.ADD, OLD, reason)
    assert plan.decision.reasoning == said


@pytest.mark.parametrize(
    ("relation", "setting"),
    [(Relation.COMPLEMENT, "may_merge"), (Relation.UPDATE, "may_supersede")],
)
def test_what_a_setting_forbids_says_so(relation: Relation, setting: str) -> None:
    judged = judgment(relation, decided_by=Judge.SIGNALS, confidence=0.99, opinions=())
    plan = plan_told(judged, policy=replace(Policy(), **{setting: False}))
    [not_done] = plan.not_done
    left_open = Reason.IN_REVIEW if plan.review else Reason.SETTING
    assert (not_done.relation, not_done.reason) == (relation, left_open)


def test_the_judge_whose_word_counted_decided_with_its_own_confidence() -> None:
    decision = plan_told(judgment()).decision
    assert (decision.decided_by, decision.relation, decision.confidence) == (
        Judge.LOCAL,
        Relation.NONE,
        0.96,
    )
    decision = plan_told(
        judgment(Relation.NONE, decided_by=Judge.MODEL, opinions=(SIGNALS, LOCAL, MODEL))
    ).decision
    assert (decision.decided_by, decision.confidence) == (Judge.MODEL, 0.9)


def test_a_model_that_saw_nothing_where_nobody_else_did_decided() -> None:
    asked = judgment(Relation.NONE, decided_by=Judge.MODEL, findings=(), opinions=(MODEL,))
    plan = plan_told(asked)
    assert plan.not_done == ()
    assert (plan.decision.decided_by, plan.decision.confidence) == (Judge.MODEL, 0.9)
    assert plan.decision.reasoning == "The model saw no change in anything stored."


def test_a_model_that_failed_before_anybody_judged_is_no_silence() -> None:
    plan = plan_told(failure="timeout")
    assert "(timeout)" in plan.decision.reasoning
    assert plan_told(compared=False).decision.reasoning.startswith("No judge compared")


@pytest.mark.parametrize(
    ("source", "reason"),
    [(ReviewSource.LOW_CONFIDENCE, Reason.IN_REVIEW), (ReviewSource.CAP, Reason.CAP)],
)
def test_a_question_leaves_the_confidence_of_what_was_not_done_to_its_review(
    source: ReviewSource, reason: Reason
) -> None:
    flagged = judgment(Relation.UPDATE, flag=True, confidence=0.995)
    plan = plan_told(flagged)
    assert plan.review is not None
    plan = plan.with_review(replace(plan.review, source=source))
    plan = explain_plan(plan, Judging((flagged,)), Chains([version()]), Policy())
    assert [each.reason for each in plan.not_done] == [reason]
    decision = plan.decision
    assert (decision.relation, decision.decided_by, decision.confidence) == (
        Relation.NONE,
        Judge.FALLBACK,
        1.0,
    )


def test_what_is_done_is_not_among_what_is_not() -> None:
    plan = plan_told(judgment(Relation.UPDATE, confidence=0.99, decided_by=Judge.SIGNALS))
    assert (plan.operation, plan.not_done) == (Operation.UPDATE, ())
    [judged] = list_judged_memories(plan)
    assert (judged.reason, judged.is_disputed) == (None, True)
    assert describe_judged_memory(judged).endswith("the local judge saw none (.96): done.")


def test_a_fact_about_another_entity_does_not_fit() -> None:
    stored = version(entity="Anna", content="Anna lives in Portland")
    chains = Chains([stored])
    judged = judgment(Relation.UPDATE, confidence=0.99, decided_by=Judge.SIGNALS, opinions=())
    incoming = IncomingFact(Fact(TOLD, entity="Ben"), NEW, judgments=(judged,))
    plan = plan_store(incoming, chains, Policy(), now=NOW)
    plan = explain_plan(plan, Judging((judged,)), chains, Policy())
    assert [each.reason for each in plan.not_done] == [Reason.UNFIT]


def test_a_protected_memory_is_asked_about_and_the_sentence_is_true() -> None:
    stored = version(key="home", trust=90)
    chains = Chains([stored])
    incoming = IncomingFact(Fact(TOLD, key="home"), NEW)
    plan = plan_store(incoming, chains, Policy(), now=NOW)
    assert isinstance(plan.review, Review)
    assert plan.decision.reasoning.startswith("Stored beside, for review: Another value")


# --- the row -----------------------------------------------------------------------------------


def plan_alone() -> Plan:
    placement = Placement(new_id=NEW, chain_id=NEW, start=NOW, now=NOW)
    return plan_addition(Fact(TOLD), placement, Chains(()))


def test_a_row_has_no_opinions_if_nobody_saw_anything() -> None:
    nothing = judgment(Relation.NONE, findings=(), opinions=(LOCAL,))
    assert list_judged_memories(replace(plan_alone(), judgments=(nothing,))) == []


def test_a_row_stays_small_and_vetoes_come_last() -> None:
    seen = [judgment(memory_id=UUID(int=n), reasoning="x" * 900) for n in range(10, 14)]
    seen = [replace(one, opinions=(replace_reasoning(SIGNALS, "y" * 900),)) for one in seen]
    vetoed = [
        judgment(memory_id=UUID(int=n), findings=(), opinions=(), vetoes=("other key", "no"))
        for n in range(20, 40)
    ]
    judged = list_judged_memories(replace(plan_alone(), judgments=(*vetoed, *seen)))
    assert len(judged) == MAX_JUDGED
    assert [one.memory_id for one in judged[:4]] == [UUID(int=n) for n in range(10, 14)]
    assert all(len(o.reasoning) <= 200 for one in judged for o in one.opinions)
    assert {one.vetoes for one in judged[4:]} == {("other key",)}


def replace_reasoning(opinion: Opinion, reasoning: str) -> Opinion:
    return replace(opinion, reasoning=reasoning)


def test_sentences_quote_no_text() -> None:
    plan = plan_told(judgment())
    assert "Portland" not in plan.decision.reasoning
