import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from measure_signals import gold_of, got, run

from app.domain.signals import Decision, Judgment, Operation, Relation, Statement, decide, judge, merge_texts
from app.domain.signals.lexicon import ANTONYMS

DATA = Path(__file__).parent / "data"
CASES: list[dict[str, Any]] = [json.loads(line) for path in sorted(DATA.glob("*.jsonl")) for line in path.read_text().splitlines()]
MUST_STAY = [case for case in CASES if case["gold"]["relation"] == "COEXIST"]


def operation(new: str, *stored: str) -> Operation:
    return decide(judge(Statement(new), [Statement(text) for text in stored])).operation


def sure(place: int, relation: Relation, confidence: float) -> Judgment:
    return Judgment(place, relation, confidence, "")


@pytest.mark.parametrize("case", MUST_STAY, ids=lambda case: case["id"])
def test_a_fact_that_changes_nothing_is_added(case: dict[str, Any]) -> None:
    (outcome,) = run([case], None)
    assert decide(outcome.judgments).operation is Operation.ADD


def test_nothing_is_retired_wrongly_and_nine_targets_in_ten_are_found() -> None:
    found = missed = wrong = 0
    for outcome in run(CASES, None):
        outcome.decision = decide(outcome.judgments)
        must, unscored, _ = gold_of(outcome.case)
        retired = got(outcome)["retired"]
        found, missed, wrong = found + len(retired & must), missed + len(must - retired), wrong + len(retired - must - unscored)
    assert wrong == 0
    assert found / (found + missed) > 0.9


def test_every_candidate_gets_a_judgment_in_order() -> None:
    judgments = judge(Statement("I live in Rome."), [Statement("I like tea."), Statement("I live in Bari.")])
    assert [j.candidate for j in judgments] == [0, 1]


def test_a_retraction_ends_only_what_it_matches_most_closely() -> None:
    stored = [Statement("I play tennis with Bob on Mondays."), Statement("I play tennis.")]
    decision = decide(judge(Statement("I no longer play tennis."), stored))
    assert [j.candidate for j in decision.acts_on] == [1]


def test_a_retraction_with_news_is_an_update() -> None:
    assert operation("I no longer work at Acme, I joined Beta.", "I work at Acme.") is Operation.UPDATE
    assert operation("I no longer work at Acme.", "I work at Acme.") is Operation.DELETE


def test_a_retraction_that_hits_nothing_is_added() -> None:
    assert operation("I no longer smoke.", "I like tea.") is Operation.ADD


def test_operations_as_sure_as_each_other_stop_each_other() -> None:
    decision = decide([sure(0, Relation.UPDATE, 0.95), sure(1, Relation.DUPLICATE, 0.93)])
    assert decision.operation is Operation.ADD
    assert {j.candidate for j in decision.flagged} == {0, 1}


def test_the_surer_operation_wins() -> None:
    assert decide([sure(0, Relation.UPDATE, 0.95), sure(1, Relation.DUPLICATE, 0.8)]).operation is Operation.UPDATE


def test_at_most_three_facts_are_retired_at_once() -> None:
    assert len(decide([sure(i, Relation.RETRACTION, 0.9) for i in range(5)]).acts_on) == 3


def test_nothing_under_the_threshold_is_acted_on() -> None:
    flagged = Judgment(0, Relation.UPDATE, 0.6, "", flag=True)
    assert decide([flagged]) == Decision(Operation.ADD, flagged=(flagged,))


def test_a_constraint_is_never_retired_but_flagged() -> None:
    stored = Statement("Deploys are allowed on Fridays.", kind="constraint")
    decision = decide(judge(Statement("Deploys are not allowed on Fridays."), [stored]))
    assert decision.operation is Operation.ADD
    assert [j.candidate for j in decision.flagged] == [0]


def test_a_key_given_by_the_caller_keeps_facts_apart() -> None:
    new = Statement("The limit is 20.", entity="api", key="rate_limit")
    (judgment,) = judge(new, [Statement("The limit is 10.", entity="api", key="upload_limit")])
    assert judgment.vetoes


def test_dates_are_told_as_support() -> None:
    new, old = datetime(2024, 5, 9, tzinfo=UTC), datetime(2024, 5, 1, tzinfo=UTC)
    (judgment,) = judge(Statement("I live in Rome.", new), [Statement("I live in Bari.", old)])
    assert "8 days later" in judgment.reasoning


@pytest.mark.parametrize(
    ("old", "new", "merged"),
    [
        ("Kim has two cats.", "Kim has two cats named Salt and Pepper.", "Kim has two cats named Salt and Pepper."),
        ("Kim has two cats and a dog.", "Kim has two cats", "Kim has two cats and a dog."),
        ("Kim has a cat", "It is called Salt.", "Kim has a cat. It is called Salt."),
    ],
)
def test_merged_text_is_the_longer_one_or_both(old: str, new: str, merged: str) -> None:
    assert merge_texts(old, new) == merged


def test_antonyms_are_read_in_both_directions() -> None:
    assert all(word in ANTONYMS[other] for word, others in ANTONYMS.items() for other in others)
    assert sum(map(len, ANTONYMS.values())) >= 60


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_is_judged_without_error(new: str, old: str) -> None:
    (judgment,) = judge(Statement(new), [Statement(old)])
    assert 0 <= judgment.confidence <= 1


TELLING = "I Alice not no longer from to live in Rome room 204 9.1 5 May , . actually forget my job is Bob's".split()
WORDS = st.lists(st.sampled_from(TELLING), max_size=12)


@given(WORDS, WORDS)
def test_any_salad_of_telling_words_is_judged_without_error(new: list[str], old: list[str]) -> None:
    texts = " ".join(new), " ".join(old)
    assert decide(judge(Statement(texts[0]), [Statement(texts[1])])).operation in Operation


@given(WORDS)
def test_the_same_words_never_retire_each_other(words: list[str]) -> None:
    text = " ".join(words)
    (judgment,) = judge(Statement(text), [Statement(text)])
    assert not judgment.relation.retires or judgment.flag
