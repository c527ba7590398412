"""What ends with a session or a project, when it ends, and which life a repeated fact has."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from app.domain.fact import Fact, Kind, Lifespan
from app.domain.relation import Operation, Relation
from app.domain.version import Status
from app.planning.lifespans import plan_lifespan_end
from support.planned_memory import DAY, HOUR, NOW, PROJECT, SESSION, PlannedMemory, editor_fact

LONG_BEFORE, BEFORE, AFTER = NOW - 9 * DAY, NOW - DAY, NOW + DAY
TUESDAY = {"session_id": "tuesday", "lifespan": Lifespan.SESSION}


def end(memory: PlannedMemory, *ids: UUID, at: datetime | None = None) -> list[UUID]:
    """End these memories at a moment, or now. Return the ones that changed."""
    moment = at or memory.now + timedelta(seconds=1)
    ended: list[UUID] = []
    for memory_id in ids:
        plan = plan_lifespan_end(
            memory_id,
            memory.chains,
            now=memory.next_known_time(),
            at=moment,
            ahead=at is None,
            reason="The session monday ended.",
        )
        if plan:
            assert (plan.operation, plan.decision.reasoning) == (
                Operation.DELETE,
                "The session monday ended.",
            )
            ended += memory.absorb(plan).superseded
    return ended


@pytest.mark.parametrize("kind", Kind)
def test_what_holds_ends_at_that_moment_whatever_its_kind(kind: Kind) -> None:
    memory = PlannedMemory()
    given = memory.keep(Fact("Never write to the disk", kind=kind, **SESSION))
    assert end(memory, given) == [given]
    assert memory.get_status(given) == Status.RETRACTED
    assert memory.list_holding() == set()


def test_what_has_not_begun_is_withdrawn() -> None:
    memory = PlannedMemory()
    ahead = memory.keep(Fact("Is away from tomorrow on", valid_from=AFTER, **SESSION))
    assert end(memory, ahead) == [ahead]
    assert memory.get_status(ahead) == Status.REVERTED
    assert memory.list_holding(AFTER + DAY) == set()


def test_an_end_with_a_date_leaves_what_begins_later() -> None:
    memory = PlannedMemory()
    old = memory.keep(Fact("Began before", valid_from=LONG_BEFORE, **SESSION))
    new = memory.keep(Fact("Began after", valid_from=BEFORE, **SESSION))
    scheduled = memory.keep(Fact("Begins tomorrow", valid_from=AFTER, **SESSION))
    assert end(memory, old, new, scheduled, at=BEFORE - HOUR) == [old]
    assert memory.list_holding() == {"Began after"}
    assert memory.list_holding(BEFORE - 2 * HOUR) == {"Began before"}
    assert memory.list_holding(BEFORE - HOUR) == set()
    assert memory.list_holding(AFTER) == {"Began after", "Begins tomorrow"}


def test_an_end_in_the_future_is_a_stated_end_until_then() -> None:
    memory = PlannedMemory()
    given = memory.keep(Fact("Is on the train", **SESSION))
    assert end(memory, given, at=AFTER) == [given]
    assert memory.list_holding() == {"Is on the train"}
    assert memory.list_holding(AFTER) == set()
    assert end(memory, given) == [given], "it may end sooner"
    assert memory.list_holding() == set()


def test_what_ended_before_keeps_its_end() -> None:
    memory = PlannedMemory()
    stated = memory.keep(Fact("Stated end", valid_from=LONG_BEFORE, valid_until=BEFORE, **SESSION))
    first = memory.store(editor_fact("Vim", **SESSION)).target
    second = memory.store(editor_fact("Emacs", **SESSION)).target
    assert first
    assert second
    before = memory.get_belief(first)
    assert end(memory, stated, first, second) == [second]
    assert memory.get_belief(stated).valid_until == BEFORE
    assert memory.get_belief(first) == before
    assert end(memory, stated, first, second) == [], "nor does it end twice"


def test_the_memory_that_it_replaced_does_not_come_back() -> None:
    memory = PlannedMemory()
    memory.store(editor_fact("Vim"))
    given = memory.store(editor_fact("Nano", **SESSION)).target
    assert given
    end(memory, given)
    assert memory.list_holding() == set(), "a retraction leaves a gap"


def test_current_and_scheduled_versions_of_one_chain_end_together() -> None:
    memory = PlannedMemory()
    now = memory.store(editor_fact("Vim", **SESSION)).target
    ahead = memory.store(editor_fact("Emacs", valid_from=AFTER, **SESSION)).target
    assert now
    assert ahead
    assert end(memory, now, ahead) == [now, ahead]
    assert memory.list_holding() == memory.list_holding(AFTER) == set()


def test_a_fact_that_comes_after_the_end_begins_anew() -> None:
    memory = PlannedMemory()
    first = memory.keep(Fact("Is on the train", **SESSION))
    end(memory, first)
    again = memory.store(Fact("Is on the train", **SESSION))
    assert (again.operation, again.target != first) == (Operation.ADD, True)
    assert memory.list_holding() == {"Is on the train"}


@pytest.mark.parametrize(
    ("first", "again", "operation", "expected"),
    [
        (SESSION, PROJECT, Operation.AMEND, (Lifespan.PROJECT, "monday", "almanac")),
        (SESSION, {}, Operation.AMEND, (Lifespan.PERMANENT, "monday", None)),
        (SESSION, {"project": "almanac"}, Operation.AMEND, (Lifespan.PERMANENT, "monday", None)),
        (SESSION, TUESDAY, Operation.AMEND, (Lifespan.SESSION, "tuesday", None)),
        (SESSION, SESSION, Operation.NOOP, (Lifespan.SESSION, "monday", None)),
        (PROJECT, SESSION, Operation.NOOP, (Lifespan.PROJECT, None, "almanac")),
        ({}, PROJECT, Operation.NOOP, (Lifespan.PERMANENT, None, None)),
        ({}, TUESDAY, Operation.NOOP, (Lifespan.PERMANENT, None, None)),
    ],
)
def test_a_repeated_fact_lives_as_long_as_was_said_longest_or_last(
    first: dict[str, Any],
    again: dict[str, Any],
    operation: Operation,
    expected: tuple[Lifespan, str | None, str | None],
) -> None:
    memory = PlannedMemory()
    kept = memory.keep(Fact("Prefers tea", **first))
    plan = memory.store(Fact("Prefers tea", **again))
    assert (plan.operation, plan.target) == (operation, kept)
    assert plan.decision.relation is Relation.DUPLICATE
    version = memory.chains.get_version(kept)
    assert (version.lifespan, version.session_id, version.project) == expected
