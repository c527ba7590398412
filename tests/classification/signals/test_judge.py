from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.classification.signals import SignalJudgment, Statement, judge_candidates
from app.classification.signals.lexicon import ANTONYMS, CONFIDENCE
from app.domain.relation import Operation, Relation
from support.signal_cases import (
    HAND_WRITTEN,
    answer_of,
    decided,
    gold_of,
    is_lost,
    load,
    run,
    wrongly_retired,
)

CASES: list[dict[str, Any]] = [
    case for path in sorted(HAND_WRITTEN.glob("*.txt")) for case in load(path)
]
MUST_STAY = [case for case in CASES if case["gold"]["relation"] == "COEXIST"]


def operation(new: str, *stored: str) -> Operation:
    return decided(judge_candidates(Statement(new), [Statement(text) for text in stored])).operation


def sure(place: int, relation: Relation, confidence: float) -> SignalJudgment:
    return SignalJudgment(place, relation, confidence, "")


@pytest.mark.parametrize("case", MUST_STAY, ids=lambda case: case["id"])
def test_a_fact_that_changes_nothing_is_added(case: dict[str, Any]) -> None:
    (outcome,) = run([case])
    assert answer_of(outcome).operation == "ADD"


def test_nothing_is_retired_wrongly_or_lost_and_most_targets_are_found() -> None:
    outcomes = run(CASES)
    asked = sum(len(gold_of(o.case)[0]) for o in outcomes)
    found = sum(len(answer_of(o).retired & gold_of(o.case)[0]) for o in outcomes)
    assert not [o.case["id"] for o in outcomes if wrongly_retired(o) or is_lost(o)]
    assert found / asked > 0.75


LOADS = (HAND_WRITTEN / "loads.list").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("template", LOADS)
@pytest.mark.parametrize(("one", "other"), [(1, 2), (9, 10), (99, 1000), (54321, 54322)])
def test_thousands_of_numbered_facts_stay_apart(template: str, one: int, other: int) -> None:
    assert operation(template.format(n=other), template.format(n=one)) is Operation.ADD


def test_every_signal_says_what_it_sees_and_has_a_confidence() -> None:
    meanings = dict(
        line.split("\t")
        for line in (HAND_WRITTEN / "signals.tsv").read_text(encoding="utf-8").splitlines()
    )
    assert meanings.keys() == CONFIDENCE.keys()


def test_every_candidate_gets_a_judgment_in_order() -> None:
    judgments = judge_candidates(
        Statement("I live in Rome."), [Statement("I like tea."), Statement("I live in Bari.")]
    )
    assert [j.candidate for j in judgments] == [0, 1]


def test_a_retraction_ends_only_what_it_matches_most_closely() -> None:
    stored = [Statement("I play tennis with Bob on Mondays."), Statement("I play tennis.")]
    choice = decided(judge_candidates(Statement("I no longer play tennis."), stored))
    assert [j.candidate for j in choice.acts_on] == [1]


def test_a_retraction_with_news_is_an_update() -> None:
    assert (
        operation("I no longer work at Acme, I joined Beta.", "I work at Acme.") is Operation.UPDATE
    )
    assert operation("I no longer work at Acme.", "I work at Acme.") is Operation.DELETE


def test_a_retraction_that_hits_nothing_is_added() -> None:
    assert operation("I no longer smoke.", "I like tea.") is Operation.ADD


def test_operations_as_sure_as_each_other_stop_each_other() -> None:
    choice = decided([sure(0, Relation.UPDATE, 0.95), sure(1, Relation.DUPLICATE, 0.93)])
    assert choice.operation is Operation.ADD
    assert {j.candidate for j in choice.flagged} == {0, 1}


def test_the_surer_operation_wins() -> None:
    assert (
        decided([sure(0, Relation.UPDATE, 0.95), sure(1, Relation.DUPLICATE, 0.8)]).operation
        is Operation.UPDATE
    )


def test_what_is_flagged_is_not_acted_on() -> None:
    flagged = SignalJudgment(0, Relation.UPDATE, 0.6, "", flag=True)
    choice = decided([flagged])
    assert (choice.operation, choice.flagged) == (Operation.ADD, (flagged,))


def test_a_constraint_is_never_retired_but_flagged() -> None:
    stored = Statement("Deploys are allowed on Fridays.", kind="constraint")
    choice = decided(judge_candidates(Statement("Deploys are not allowed on Fridays."), [stored]))
    assert choice.operation is Operation.ADD
    assert [j.candidate for j in choice.flagged] == [0]


def test_a_key_given_by_the_caller_keeps_facts_apart() -> None:
    new = Statement("The limit is 20.", entity="api", key="rate_limit")
    (judgment,) = judge_candidates(
        new, [Statement("The limit is 10.", entity="api", key="upload_limit")]
    )
    assert judgment.vetoes


def test_dates_are_told_as_support() -> None:
    new, old = datetime(2024, 5, 9, tzinfo=UTC), datetime(2024, 5, 1, tzinfo=UTC)
    (judgment,) = judge_candidates(
        Statement("I live in Rome.", new), [Statement("I live in Bari.", old)]
    )
    assert "8 days later" in judgment.reasoning


def test_antonyms_are_read_in_both_directions() -> None:
    assert all(word in ANTONYMS[other] for word, others in ANTONYMS.items() for other in others)
    assert sum(map(len, ANTONYMS.values())) >= 60


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_is_judged_without_error(new: str, old: str) -> None:
    (judgment,) = judge_candidates(Statement(new), [Statement(old)])
    assert 0 <= judgment.confidence <= 1


TELLING = "I Alice not no longer from to live in Rome room 204 9.1 5 May , . actually forget my job is Bob's".split()
WORDS = st.lists(st.sampled_from(TELLING), max_size=12)


@given(WORDS, WORDS)
def test_any_salad_of_telling_words_is_judged_without_error(new: list[str], old: list[str]) -> None:
    texts = " ".join(new), " ".join(old)
    assert (
        decided(judge_candidates(Statement(texts[0]), [Statement(texts[1])])).operation in Operation
    )


@given(WORDS)
def test_the_same_words_never_retire_each_other(words: list[str]) -> None:
    text = " ".join(words)
    (judgment,) = judge_candidates(Statement(text), [Statement(text)])
    assert not judgment.relation.effect.ends_stored or judgment.flag
