"""Two keys: signals and the local judge together decide what neither may decide alone."""

from collections.abc import Sequence
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

THRESHOLDS = Thresholds(
    act=0.8,
    near=0.35,
    with_reason=0.7,
    named=0.75,
    margin=0.3,
    ask=0.5,
    ask_beside=0.7,
    duplicate=0.8,
    duplicate_alike=0.97,
)
NEW = "My place is a flat in Bruges"


def reading(**probabilities: float) -> Reading:
    names = ("duplicate", "update", "contradiction", "retraction", "complement", "part")
    values = [probabilities.get(name, 0.0) for name in names]
    return Reading(1 - sum(values), *values)


def by_signals(relation: Relation = Relation.NONE, *, number: int = 1, **more: bool) -> Judgment:
    findings = (
        (Finding("signal", relation, 0.9, "a reason"),) if relation.effect.changes_stored else ()
    )
    return Judgment(UUID(int=number), relation, 0.95, "a reason", Judge.SIGNALS, findings, **more)


def weigh(
    *read: tuple[Judgment, Reading], near: float | None = 0.6, copies: Sequence[int] = ()
) -> list[Judgment]:
    """The judgments, without the opinions that led to them."""
    candidates = [ReadCandidate("I live in Ghent", judgment, near) for judgment, _ in read]
    readings = [reading for _, reading in read]
    judgments = weigh_readings(NEW, candidates, readings, THRESHOLDS, copies=copies)
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
        (Relation.UPDATE, reading(update=0.29)),
        (Relation.RETRACTION, reading(part=0.9)),
        (Relation.DUPLICATE, reading(duplicate=0.69)),
        (Relation.DUPLICATE, reading(complement=0.6)),
    ],
)
def test_to_a_signal_that_the_judge_does_not_read_it_objects(
    relation: Relation, read: Reading
) -> None:
    [judgment] = weigh((by_signals(relation), read))
    assert (judgment.relation, judgment.disagree) == (Relation.OVERLAP, True)
    assert judgment.reasoning.startswith("the local judge objects")


@pytest.mark.parametrize("read", [reading(update=0.6), reading(duplicate=0.99)])
def test_an_ending_that_the_judge_half_reads_or_takes_for_a_repetition_is_asked_about(
    read: Reading,
) -> None:
    [judgment] = weigh((by_signals(Relation.UPDATE), read))
    assert (judgment.relation, judgment.flag) == (Relation.UPDATE, True)


@pytest.mark.parametrize(("near", "acts"), [(0.36, False), (None, False), (0.34, True)])
def test_a_fact_must_stand_out_from_those_that_are_near(near: float | None, acts: bool) -> None:
    one, other = by_signals(number=1), by_signals(number=2)
    [likelier, _] = weigh((one, reading(update=0.85)), (other, reading(update=0.6)), near=near)
    assert (likelier.relation, likelier.flag) == (Relation.UPDATE, not acts)


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
        (by_signals(), 0.49, Relation.NONE, False),
        (by_signals(Relation.UPDATE, flag=True), 0.71, Relation.UPDATE, False),
        (by_signals(Relation.UPDATE, flag=True), 0.69, Relation.UPDATE, True),
    ],
)
def test_alone_it_must_be_surer_than_with_a_reason(
    signals: Judgment, probability: float, relation: Relation, flag: bool
) -> None:
    [judgment] = weigh((signals, reading(update=probability)))
    assert (judgment.relation, judgment.flag) == (relation, flag)


def test_alone_it_updates_rather_than_retracts_because_the_incoming_text_would_be_lost() -> None:
    sure = reading(retraction=0.99)
    [alone] = weigh((by_signals(), sure))
    assert (alone.relation, alone.flag) == (Relation.UPDATE, False)
    [with_reason] = weigh((by_signals(Relation.RETRACTION, flag=True), sure))
    assert (with_reason.relation, with_reason.flag) == (Relation.RETRACTION, False)


def test_a_reason_that_a_signal_found_makes_it_surer() -> None:
    flagged = by_signals(Relation.UPDATE, flag=True)
    [judgment] = weigh((flagged, reading(update=0.95)))
    assert judgment.confidence == pytest.approx(1 - (1 - 0.95) * (1 - flagged.confidence))


@pytest.mark.parametrize(
    ("opening", "acts"), [("Actually, ", True), ("I meant: ", True), ("I think ", False)]
)
def test_what_says_that_it_corrects_needs_less(opening: str, acts: bool) -> None:
    text = f"{opening}my place is a flat in Bruges"
    stored = ReadCandidate("My place is a flat in Ghent", by_signals(), 0.6)
    [judgment] = weigh_readings(text, [stored], [reading(update=0.75)], THRESHOLDS)
    assert judgment.relation is Relation.UPDATE
    assert judgment.flag is not acts
    assert (judgment.confidence > 0.9) is acts


def test_the_relation_is_the_likeliest_that_ends() -> None:
    [judgment] = weigh((by_signals(), reading(update=0.3, contradiction=0.45, retraction=0.2)))
    assert judgment.relation is Relation.CONTRADICTION
    assert judgment.confidence == pytest.approx(0.95)


def test_of_two_candidates_that_are_close_both_are_asked_about() -> None:
    one, other = by_signals(number=1), by_signals(number=2)
    judgments = weigh((one, reading(update=0.95)), (other, reading(update=0.7)))
    assert [(each.relation, each.flag) for each in judgments] == [(Relation.UPDATE, True)] * 2
    [first, second] = weigh((one, reading(update=0.49)), (other, reading(update=0.95)))
    assert (first, second.decided_by, second.flag) == (one, Judge.LOCAL, False)


def test_a_copy_of_what_ends_ends_too_and_is_no_rival() -> None:
    one, other = by_signals(number=1), by_signals(number=2)
    judgments = weigh((one, reading(update=0.95)), (other, reading(update=0.9)), copies=[1])
    assert [(each.relation, each.flag) for each in judgments] == [(Relation.UPDATE, False)] * 2


def test_a_copy_of_what_a_signal_ends_ends_too() -> None:
    acting, other = by_signals(Relation.UPDATE, number=1), by_signals(number=2)
    judgments = weigh((acting, reading(update=0.8)), (other, reading(update=0.6)), copies=[1])
    assert [each.flag for each in judgments] == [False, False]
    assert judgments[1].relation is Relation.UPDATE


def test_beside_a_signal_that_acts_only_a_sure_ending_is_asked_about() -> None:
    acting, other = by_signals(Relation.UPDATE, number=1), by_signals(number=2)
    assert weigh((acting, reading(update=0.7)), (other, reading(update=0.69))) == [acting, other]
    [first, second] = weigh((acting, reading(update=0.7)), (other, reading(update=0.99)))
    assert (first, second.relation, second.flag) == (acting, Relation.UPDATE, True)


@pytest.mark.parametrize(
    ("texts", "acts"),
    [
        (["CI runs on CircleCI", "The team likes its CI"], True),
        (["CI runs on CircleCI", "CircleCI sends the bills"], False),
        (["CI runs on Jenkins", "The team likes its CI"], False),
    ],
)
def test_a_value_that_one_fact_alone_has_is_a_second_key(texts: list[str], acts: bool) -> None:
    candidates = [ReadCandidate(text, by_signals(number=n), 0.6) for n, text in enumerate(texts)]
    readings = [reading(update=0.78), reading(update=0.6)]
    incoming = "We switched from CircleCI to Buildkite"
    [judgment, _] = weigh_readings(incoming, candidates, readings, THRESHOLDS)
    assert (judgment.relation, judgment.flag) == (Relation.UPDATE, not acts)


def test_what_says_the_same_is_found() -> None:
    one, other = by_signals(number=1), by_signals(number=2)
    [first, second] = weigh((one, reading(duplicate=0.5)), (other, reading(duplicate=0.81)))
    assert (first, second.relation, second.flag) == (one, Relation.DUPLICATE, False)


def test_a_flag_on_another_fact_hides_no_repetition() -> None:
    flagged, same = by_signals(Relation.UPDATE, number=1, flag=True), by_signals(number=2)
    [first, second] = weigh((flagged, reading(duplicate=0.5)), (same, reading(duplicate=0.9)))
    assert (first.flag, second.relation) == (True, Relation.DUPLICATE)


@pytest.mark.parametrize(("probability", "is_repetition"), [(0.96, False), (0.98, True)])
def test_what_hangs_on_one_word_must_be_read_very_surely(
    probability: float, is_repetition: bool
) -> None:
    stored = ReadCandidate("My place is a flat in Ghent", by_signals(), 0.6)
    [judgment] = weigh_readings(NEW, [stored], [reading(duplicate=probability)], THRESHOLDS)
    assert (judgment.relation is Relation.DUPLICATE) is is_repetition


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
