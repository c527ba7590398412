"""One decision over a list: what is read of each candidate, and what signals say of it."""

from dataclasses import replace
from uuid import UUID

import pytest

from app.classification.local.judge import (
    ReadCandidate,
    Thresholds,
    weigh_readings,
)
from app.classification.local.reading import Reading
from app.domain.relation import Finding, Judge, Judgment, Relation

THRESHOLDS = Thresholds(act=0.8, ask=0.4, repeats=0.8, completes=0.75)
NEW = "My place is a flat in Bruges"


def reading(**probabilities: float) -> Reading:
    names = ("duplicate", "update", "contradiction", "retraction", "complement", "part")
    values = [probabilities.get(name, 0.0) for name in names]
    return Reading(1 - sum(values), *values)


def by_signals(
    relation: Relation = Relation.NONE, *, name: str = "negation", number: int = 1, **more: bool
) -> Judgment:
    findings = (Finding(name, relation, 0.9, "a reason"),) if relation.effect.changes_stored else ()
    return Judgment(UUID(int=number), relation, 0.95, "a reason", Judge.SIGNALS, findings, **more)


def weigh(*read: tuple[Judgment, Reading]) -> list[Judgment]:
    """The judgments, without the opinions that led to them."""
    candidates = [ReadCandidate("I live in Ghent", judgment, 0.6) for judgment, _ in read]
    readings = [reading for _, reading in read]
    judgments = weigh_readings(NEW, candidates, readings, THRESHOLDS)
    return [replace(judgment, opinions=()) for judgment in judgments]


@pytest.mark.parametrize(
    ("relation", "read"),
    [
        (Relation.UPDATE, reading(update=0.7)),
        (Relation.UPDATE, reading(update=0.3, retraction=0.2, contradiction=0.2)),
        (Relation.DUPLICATE, reading(duplicate=0.7)),
        (Relation.COMPLEMENT, reading()),
    ],
)
def test_a_signal_acts_if_the_judge_reads_the_same(relation: Relation, read: Reading) -> None:
    assert weigh((by_signals(relation), read)) == [by_signals(relation)]


@pytest.mark.parametrize(
    ("relation", "read"),
    [
        (Relation.UPDATE, reading(update=0.39)),
        (Relation.RETRACTION, reading(part=0.9)),
        (Relation.DUPLICATE, reading(duplicate=0.49)),
        (Relation.DUPLICATE, reading(complement=0.6)),
    ],
)
def test_to_what_it_does_not_read_the_judge_objects(relation: Relation, read: Reading) -> None:
    [judgment] = weigh((by_signals(relation), read))
    assert (judgment.relation, judgment.disagree) == (Relation.OVERLAP, True)
    assert judgment.reasoning.startswith("the local judge objects")


def test_another_value_of_an_attribute_is_asked_about() -> None:
    told = by_signals(Relation.UPDATE, name="changed_attribute")
    [judgment] = weigh((told, reading(update=0.02)))
    assert (judgment.relation, judgment.flag, judgment.disagree) == (Relation.UPDATE, True, True)


def test_an_ending_that_the_judge_half_reads_is_asked_about() -> None:
    [judgment] = weigh((by_signals(Relation.UPDATE), reading(update=0.45)))
    assert (judgment.relation, judgment.flag) == (Relation.UPDATE, True)
    assert judgment.disagree


def test_on_regular_text_signals_decide() -> None:
    typed = by_signals(Relation.UPDATE, name="single_valued")
    assert weigh((typed, reading())) == [typed]
    [asked] = weigh((typed, reading(duplicate=0.6)))
    assert (asked.relation, asked.flag) == (Relation.UPDATE, True)


def test_what_bears_another_number_stays_whatever_is_read() -> None:
    vetoed = replace(by_signals(), vetoes=("node 20 is not node 22",))
    assert weigh((vetoed, reading(update=0.99))) == [vetoed]
    assert weigh((vetoed, reading(duplicate=0.99))) == [vetoed]


def test_all_judges_are_on_record_whoever_wins() -> None:
    stored = ReadCandidate("I live in Ghent", by_signals(Relation.UPDATE), 0.6)
    [judgment] = weigh_readings(NEW, [stored], [reading(update=0.1)], THRESHOLDS)
    signal, judge = judgment.opinions
    assert (signal.decided_by, signal.relation, signal.confidence) == (
        Judge.SIGNALS,
        Relation.UPDATE,
        0.95,
    )
    assert (judge.decided_by, judge.relation) == (Judge.LOCAL, Relation.NONE)
    [silent] = weigh_readings(NEW, [replace(stored, judgment=by_signals())], [reading()])
    assert silent.opinions == ()


@pytest.mark.parametrize(
    ("signals", "probability", "relation", "flag"),
    [
        (by_signals(), 0.81, Relation.UPDATE, False),
        (by_signals(), 0.79, Relation.UPDATE, True),
        (by_signals(), 0.39, Relation.NONE, False),
        (by_signals(Relation.UPDATE), 0.51, Relation.UPDATE, False),
        (by_signals(Relation.UPDATE), 0.49, Relation.UPDATE, True),
    ],
)
def test_alone_it_must_be_surer_than_with_a_reason(
    signals: Judgment, probability: float, relation: Relation, flag: bool
) -> None:
    [judgment] = weigh((signals, reading(update=probability)))
    assert (judgment.relation, judgment.flag) == (relation, flag)


@pytest.mark.parametrize("signals", [by_signals(), by_signals(Relation.RETRACTION)])
def test_it_retracts_with_and_without_a_signal(signals: Judgment) -> None:
    [judgment] = weigh((signals, reading(retraction=0.99)))
    assert (judgment.relation, judgment.flag) == (Relation.RETRACTION, False)


@pytest.mark.parametrize(
    ("opening", "acts"), [("Actually, ", True), ("I meant: ", True), ("I think ", False)]
)
def test_what_says_that_it_corrects_needs_less(opening: str, acts: bool) -> None:
    text = f"{opening}my place is a flat in Bruges"
    stored = ReadCandidate("My place is a flat in Ghent", by_signals(), 0.6)
    [judgment] = weigh_readings(text, [stored], [reading(update=0.75)], THRESHOLDS)
    assert judgment.relation is Relation.UPDATE
    assert judgment.flag is not acts


def test_the_relation_is_the_likeliest_that_ends() -> None:
    [judgment] = weigh((by_signals(), reading(update=0.3, contradiction=0.45, retraction=0.2)))
    assert judgment.relation is Relation.CONTRADICTION
    assert judgment.confidence == pytest.approx(0.95)


def test_each_candidate_ends_by_its_own_probability() -> None:
    one, other = by_signals(number=1), by_signals(number=2)
    both = weigh((one, reading(update=0.95)), (other, reading(update=0.81)))
    assert [(each.relation, each.flag) for each in both] == [(Relation.UPDATE, False)] * 2
    asked = weigh((one, reading(update=0.79)), (other, reading(update=0.4)))
    assert [(each.relation, each.flag) for each in asked] == [(Relation.UPDATE, True)] * 2


def test_beside_an_ending_only_a_likely_one_is_asked_about() -> None:
    one, other = by_signals(number=1), by_signals(number=2)
    [_, likely] = weigh((one, reading(update=0.95)), (other, reading(update=0.6)))
    assert (likely.relation, likely.flag) == (Relation.UPDATE, True)
    [_, unlikely] = weigh((one, reading(update=0.95)), (other, reading(update=0.49)))
    assert unlikely == other


def test_beside_a_mere_ending_nothing_is_asked_about() -> None:
    acting, other = by_signals(Relation.RETRACTION, number=1), by_signals(number=2)
    [_, silent] = weigh((acting, reading(retraction=0.8)), (other, reading(update=0.7)))
    assert silent == other


def test_beside_a_retraction_without_a_signal_a_likely_ending_is_asked_about() -> None:
    acting, other = by_signals(number=1), by_signals(number=2)
    [first, second] = weigh((acting, reading(retraction=0.97)), (other, reading(update=0.7)))
    assert (first.relation, first.flag) == (Relation.RETRACTION, False)
    assert (second.relation, second.flag) == (Relation.UPDATE, True)


def test_what_holds_for_a_while_retracts_nothing_without_a_signal() -> None:
    read = [reading(retraction=0.99)]
    for signals, relation in (
        (by_signals(), Relation.UPDATE),
        (by_signals(Relation.RETRACTION), Relation.RETRACTION),
    ):
        stored = [ReadCandidate("I drink coffee", signals, 0.6)]
        [judgment] = weigh_readings("No coffee for me", stored, read, THRESHOLDS, has_end=True)
        assert judgment.relation is relation


@pytest.mark.parametrize(
    ("read", "relation"),
    [
        (reading(retraction=0.6, update=0.3), Relation.RETRACTION),
        (reading(retraction=0.4, update=0.3, contradiction=0.2), Relation.UPDATE),
        (reading(retraction=0.3, contradiction=0.5), Relation.CONTRADICTION),
        (reading(), Relation.UPDATE),
    ],
)
def test_a_fact_is_retracted_if_that_is_likelier_than_not(
    read: Reading, relation: Relation
) -> None:
    assert read.ending_relation is relation


def test_what_says_the_same_is_found() -> None:
    one, other = by_signals(number=1), by_signals(number=2)
    [first, second] = weigh((one, reading(duplicate=0.5)), (other, reading(duplicate=0.81)))
    assert (first, second.relation, second.flag) == (one, Relation.DUPLICATE, False)


def test_a_question_about_another_fact_hides_no_repetition() -> None:
    one, same = by_signals(number=1), by_signals(number=2)
    [first, second] = weigh((one, reading(update=0.45)), (same, reading(duplicate=0.9)))
    assert (first, second.relation) == (one, Relation.DUPLICATE)


def test_beside_a_likely_ending_nothing_is_a_repetition() -> None:
    one, same = by_signals(number=1), by_signals(number=2)
    [first, second] = weigh((one, reading(update=0.6)), (same, reading(duplicate=0.9)))
    assert (first.relation, first.flag, second) == (Relation.UPDATE, True, same)


def test_a_text_that_completes_another_is_asked_about() -> None:
    [judgment] = weigh((by_signals(), reading(complement=0.8)))
    assert (judgment.relation, judgment.flag) == (Relation.COMPLEMENT, True)
    assert weigh((by_signals(), reading(complement=0.7))) == [by_signals()]


def test_another_decision_of_the_same_category_is_asked_about() -> None:
    text = "Use React for frontend"
    alike, other = (
        ReadCandidate(text, by_signals(), 0.33, is_decision_of_category=is_alike)
        for is_alike in (True, False)
    )
    [asked] = weigh_readings("Vue would suit us better", [alike], [reading()])
    assert (asked.relation, asked.flag) == (Relation.UPDATE, True)
    [silent] = weigh_readings("Vue would suit us better", [other], [reading()])
    assert silent == by_signals()


def test_a_judgment_names_the_words_that_differ() -> None:
    [judgment] = weigh((by_signals(), reading(update=0.95)))
    assert judgment.reasoning == 'local_judge: "I live in Ghent" → "My place is a flat in Bruges"'
    assert judgment.findings[-1].name == "local_judge"
