"""Where a fact takes its place: in its slot, beside what may not end, or nowhere because it is known."""

from typing import Any
from uuid import UUID

import pytest

from app.domain.errors import InvalidFact
from app.domain.fact import Fact, Kind
from app.domain.policy import Policy
from app.domain.relation import Operation, Relation
from app.domain.version import Status
from app.planning.explicit import plan_supersede
from app.planning.plan import IncomingFact, Plan, ReviewSource
from support.planned_memory import DAY, HOUR, NOW, PlannedMemory, editor_fact

SOONER, SOON = NOW + HOUR, NOW + DAY
NEVER = "Never deploy on Fridays"


def store_all(memory: PlannedMemory, *facts: Fact, **more: Any) -> list[Plan]:
    return [memory.store(fact, **more) for fact in facts]


def operations(plans: list[Plan]) -> list[str]:
    return [plan.operation.value for plan in plans]


# --- slots -----------------------------------------------------------------------------------


def test_the_slot_and_its_value_compare_trimmed_and_case_folded() -> None:
    plans = store_all(
        PlannedMemory(),
        editor_fact("Vim"),
        editor_fact("Emacs", category=" Tooling", key="EDITOR"),
        editor_fact("EMACS "),
    )
    assert operations(plans) == ["ADD", "UPDATE", "NOOP"]


def test_a_key_with_many_values_ends_nothing() -> None:
    memory = PlannedMemory()
    plans = store_all(
        memory,
        Fact("Speaks Dutch", key="language", value="Dutch", single_valued=False),
        Fact("Speaks Greek", key="language", value="Greek", single_valued=False),
    )
    assert operations(plans) == ["ADD", "ADD"]
    assert memory.list_holding() == {"Speaks Dutch", "Speaks Greek"}


def test_unclassified_facts_are_only_checked_for_equal_text() -> None:
    memory = PlannedMemory()
    plans = store_all(
        memory,
        editor_fact("Vim"),
        editor_fact("Emacs"),
        editor_fact("Emacs"),
        editor_fact("Emacs", content="Uses Emacs as Editor"),
        classify=False,
    )
    assert operations(plans) == ["ADD", "ADD", "NOOP", "ADD"]
    assert len(memory.list_holding()) == 3


def test_a_classified_fact_joins_the_oldest_chain_and_ends_the_others_within_the_cap() -> None:
    memory = PlannedMemory()
    ids = [memory.keep(editor_fact(value)) for value in "ABCDE"]
    new = memory.store(editor_fact("Z"))
    assert (new.operation, new.superseded) == (Operation.UPDATE, tuple(ids[:3]))
    assert new.inserted[0].version.chain_id == ids[0]
    assert memory.list_holding() == {f"Uses {value} as editor" for value in "DEZ"}
    other = memory.chains.get_version(ids[1])
    assert (memory.get_status(ids[1]), other.belief.superseded_by, other.chain_id) == (
        Status.SUPERSEDED,
        new.target,
        ids[1],
    )


def test_an_undated_end_that_lies_in_the_past_is_refused() -> None:
    with pytest.raises(InvalidFact, match="valid_until"):
        PlannedMemory().store(Fact("Has a dog", valid_until=NOW - DAY))


# --- constraints -----------------------------------------------------------------------------


def test_a_constraint_is_never_ended_by_another_value() -> None:
    memory = PlannedMemory()
    plans = store_all(
        memory,
        Fact("Budget stays under 100", kind=Kind.CONSTRAINT, key="budget", value="100"),
        Fact("Budget stays under 200", kind=Kind.CONSTRAINT, key="budget", value="200"),
        Fact("Budget is 300", key="budget", value="300"),
    )
    assert operations(plans) == ["ADD", "ADD", "ADD"]
    assert len(memory.list_holding()) == 3
    first, second, third = plans
    assert {j.memory_id: j.relation for j in third.judgments} == {
        first.target: Relation.CONTRADICTION,
        second.target: Relation.CONTRADICTION,
    }


def test_a_constraint_gets_no_end_from_a_text_that_repeats_it() -> None:
    memory = PlannedMemory()
    kept = memory.keep(Fact(NEVER, kind=Kind.CONSTRAINT))
    plan = memory.store(Fact("never deploy on fridays.", trust=0, valid_until=SOON))
    assert (plan.operation, plan.target) == (Operation.NOOP, kept)
    assert plan.review
    assert (plan.review.source, plan.review.corrections) == (
        ReviewSource.CONSTRAINT,
        {"said_until": SOON},
    )
    assert memory.get_belief(kept).valid_until is None


def test_a_constraint_in_a_slots_chain_is_not_ended_by_the_slots_next_value() -> None:
    memory = PlannedMemory()
    vim = memory.keep(editor_fact("Vim"))
    only = IncomingFact(Fact("Only Emacs is allowed", kind=Kind.CONSTRAINT), UUID(int=9))
    memory.absorb(
        plan_supersede(only, [vim], memory.chains, Policy(), now=memory.next_known_time())
    )
    plan = memory.store(editor_fact("Nano"))
    assert plan.superseded == ()
    assert plan.review
    assert plan.review.source is ReviewSource.CONSTRAINT
    assert memory.get_status(only.new_id) == Status.CURRENT


# --- trust -----------------------------------------------------------------------------------


def test_lower_trust_never_ends_a_value_of_higher_trust() -> None:
    memory = PlannedMemory()
    porto = memory.keep(Fact("Home is Porto", key="home", value="Porto", trust=80))
    plan = memory.store(Fact("Home is Lisbon", key="home", value="Lisbon", trust=20))
    assert (plan.operation, plan.superseded) == (Operation.ADD, ())
    assert plan.review
    assert (plan.review.source, plan.review.relied_on) == (ReviewSource.TRUST, ((porto, 1),))
    assert memory.get_status(porto) == Status.CURRENT
    equal = memory.store(Fact("Home is Faro", key="home", value="Faro", trust=80))
    assert porto in equal.superseded


def test_lower_trust_neither_shortens_nor_brings_a_change_forward() -> None:
    memory = PlannedMemory()
    vim = memory.keep(editor_fact("Vim", trust=90))
    emacs = memory.store(editor_fact("Emacs", trust=90, valid_from=SOON)).target
    assert emacs
    earlier = memory.store(editor_fact("Emacs", trust=0))
    assert earlier.review
    assert (earlier.operation, earlier.review.source) == (Operation.ADD, ReviewSource.TRUST)
    ended = memory.store(editor_fact("Vim", trust=0, valid_until=SOONER))
    assert ended.review
    assert (ended.operation, ended.review.source) == (Operation.NOOP, ReviewSource.TRUST)
    assert memory.get_belief(vim).valid_until == SOON
    assert memory.get_belief(emacs).valid_from == SOON
