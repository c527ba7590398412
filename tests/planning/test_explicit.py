"""What an explicit call is refused for before anything is planned."""

from typing import Any
from uuid import UUID

import pytest

from app.domain.errors import InvalidFact
from app.domain.fact import Fact, Kind
from app.domain.policy import Policy
from app.planning.explicit import plan_amend, plan_supersede
from app.planning.plan import IncomingFact, Plan
from support.planned_memory import NOW, PlannedMemory, editor_fact


def supersede(memory: PlannedMemory, old: UUID, fact: Fact) -> Plan:
    incoming = IncomingFact(fact, UUID(int=9))
    return plan_supersede(incoming, [old], memory.chains, Policy(), now=memory.next_known_time())


@pytest.mark.parametrize(
    "said",
    [{"key": "home"}, {"category": "work"}, {"entity": "Ana"}, {"key": "editor", "category": ""}],
)
def test_a_successor_with_another_slot_is_refused(said: dict[str, Any]) -> None:
    memory = PlannedMemory()
    vim = memory.keep(editor_fact("Vim"))
    with pytest.raises(InvalidFact, match="entity, category and key"):
        supersede(memory, vim, Fact("Lives in Porto", **said))


@pytest.mark.parametrize("said", [{}, {"key": "Editor"}, {"key": "editor", "category": "TOOLING"}])
def test_a_successor_may_leave_its_slot_out_or_repeat_it(said: dict[str, Any]) -> None:
    memory = PlannedMemory()
    vim = memory.keep(editor_fact("Vim"))
    plan = supersede(memory, vim, Fact("Uses Emacs", **said))
    assert plan.superseded == (vim,)
    assert plan.inserted[0].fact.slot == editor_fact("Vim").slot


@pytest.mark.parametrize(
    "details",
    [{"alternatives": 5}, {"alternatives": "spaces"}, {"related_files": [1]}, {"rationale": 7}],
)
def test_the_details_of_a_decision_are_typed_however_they_come(details: dict[str, Any]) -> None:
    memory = PlannedMemory()
    tabs = memory.keep(Fact("We use tabs", kind=Kind.DECISION))
    for name in details:
        with pytest.raises(InvalidFact, match=name):
            memory.store(Fact("We use UTC", kind=Kind.DECISION, details=details))
        with pytest.raises(InvalidFact, match=name):
            supersede(memory, tabs, Fact("We use spaces", details=details))
        with pytest.raises(InvalidFact, match=name):
            plan_amend(tabs, memory.chains, now=NOW, claims={}, metadata={"details": details})
