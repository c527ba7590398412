"""Planning a fact in a slot that holds one value.

`tests/support/oracle.py` states the same rules as a program.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from uuid import UUID

from app.domain.relation import Decision, Judge, Operation, Relation
from app.domain.version import Version
from app.planning.building_blocks import (
    inherit_from_ended,
    plan_addition,
    plan_replacement,
)
from app.planning.cases import StoreCase, plan_cover
from app.planning.dating import move_before
from app.planning.plan import Plan, ReviewSource
from app.planning.questions import plan_protected_conflict
from app.planning.repetitions import (
    can_start_earlier,
    is_separated,
    plan_earlier_start,
    plan_known_duplicate,
    plan_renewal,
)


@dataclass(frozen=True, slots=True)
class _SlotCase:
    """A fact for a slot: it joins the oldest chain of the slot, which may have other chains.

    `holding` is the version of its chain that holds when the fact begins.
    """

    case: StoreCase
    chain_id: UUID
    other_chains: Sequence[UUID]
    holding: Version | None

    def find_protected(self) -> tuple[Version, ReviewSource] | None:
        """Return the version that the fact would shorten and may not, and the reason.

        It holds when the fact begins, or it would resume after that and the fact would end it.
        """
        case = self.case
        if self.holding and (protection := case.find_protection(self.holding)):
            return self.holding, protection
        if case.is_temporary:
            return None
        lasting = case.chains.find_lasting(self.chain_id, case.start)
        if lasting is None or lasting.has_same_value(case.fact):
            return None
        protection = case.find_protection(lasting)
        return (lasting, protection) if protection else None

    def find_replaceable(self) -> Sequence[Version]:
        """Return the versions of the chain that only seem to begin after the fact, if it ends them.

        They count from when they were told.
        """
        case = self.case
        if case.is_past:
            return ()
        later = case.find_told_later(self.chain_id)
        if not later or later[-1].has_same_value(case.fact) or self.find_protected():
            return ()
        return () if any(map(case.find_protection, later)) else later

    def find_ended(self) -> Version | None:
        """Return the version that holds when the fact begins, if the fact takes its place.

        A fact that became known late ends nothing if a later lasting value has begun already. What
        would resume when the fact begins has ended before: a temporary value took its place.
        """
        case = self.case
        following = case.chains.find_next_lasting(self.chain_id, case.start)
        is_late = following is not None and following.belief.valid_from <= case.now
        return None if is_late or self.resumes_at_start else self.holding

    @property
    def resumes_at_start(self) -> bool:
        """Return True if a version resumes when the fact begins, and held before it was covered."""
        return self.holding is not None and self.holding.belief.resumes_at(self.case.start)

    def list_closing(self, ended: int) -> list[Version]:
        """Return the versions that the fact ends in the other chains, besides `ended` others.

        A temporary fact ends none of them.
        """
        case = self.case
        most = 0 if case.is_temporary else max(0, case.policy.max_closures - ended)
        unprotected = (
            holding
            for holding in self._list_holding_elsewhere()
            if not any(map(case.find_protection, case.end_in_other_chain(holding)))
        )
        return list(islice(unprotected, most))

    def plan_renewal_elsewhere(self) -> Plan | None:
        """Plan the renewal of the first version in the other chains with the fact's value."""
        for holding in self._list_holding_elsewhere():
            if holding.has_same_value(self.case.fact):
                return plan_renewal(self.case, holding)
        return None

    def _list_holding_elsewhere(self) -> Iterator[Version]:
        for chain_id in self.other_chains:
            if holding := self.case.chains.find_holding(chain_id, self.case.start):
                yield holding


def plan_in_slot(case: StoreCase, slot_chains: Sequence[UUID]) -> Plan:
    """Put the fact at its place in the oldest chain of its slot.

    The versions that hold in the slot's other chains end there, unless the fact is temporary.
    """
    chain_id, *other_chains = slot_chains
    holding = case.chains.find_holding(chain_id, case.start)
    slot = _SlotCase(case, chain_id, other_chains, holding)
    if case.is_past and not case.is_temporary:
        return _plan_past(case)
    if later := slot.find_replaceable():
        *moved, ended = move_before(later, case.start, case.now)
        return _plan_value(slot, ended, moved)
    plan = _plan_repetition(slot)
    if plan is None and (protected := slot.find_protected()):
        # If another chain says the same, that is confirmed; else a person decides.
        plan = slot.plan_renewal_elsewhere() or plan_protected_conflict(case, *protected)
    if plan is None:
        plan = _plan_repetition_of_later(slot)
    if plan is None and case.is_temporary and holding is None:
        plan = slot.plan_renewal_elsewhere()
    return plan or _plan_value(slot, slot.find_ended())


def _plan_past(case: StoreCase) -> Plan:
    """Plan a fact that is over by its words, without an end: it gets a chain of its own.

    If it is stored already, it is only confirmed.
    """
    known = plan_known_duplicate(case)
    if known and known.operation is Operation.NOOP:
        return known
    plan = plan_addition(case.fact, case.place_in_new_chain(), case.chains)
    return plan.with_reasoning("Its words say that it is over, so it ends nothing that holds.")


def _plan_repetition(slot: _SlotCase) -> Plan | None:
    """Plan a fact with the value that holds when it begins."""
    case, holding = slot.case, slot.holding
    if holding is None or not holding.has_same_value(case.fact):
        return None
    # What is protected is confirmed, whatever other chains say.
    if case.find_protection(holding) is None and is_separated(case, holding):
        return None
    return plan_renewal(case, holding)


def _plan_repetition_of_later(slot: _SlotCase) -> Plan | None:
    """Plan a fact with the value that begins next, and that begins earlier by the fact."""
    case = slot.case
    later = case.chains.find_next_after(slot.chain_id, case.start)
    if later is None or not later.has_same_value(case.fact):
        return None
    if not can_start_earlier(later, case.fact) or is_separated(case, later):
        return None
    return plan_earlier_start(case, later)


def _plan_value(slot: _SlotCase, ended: Version | None, moved: Sequence[Version] = ()) -> Plan:
    """Plan the fact as the value of its slot from its start on.

    The fact ends the version `ended` of its chain, and the versions that hold in other chains.
    After a temporary fact `ended` resumes, unless it has an end of its own by then. `moved` are
    versions with other starts, which the fact does not end.
    """
    case, placement = slot.case, slot.case.place_in(slot.chain_id)
    reasoning = "Another value for a slot that holds one at a time."
    decision = Decision.certain(Relation.UPDATE, Judge.RULE, reasoning)
    if ended and case.is_temporary:
        cover = plan_cover(case, case.fact, ended, decision, moved=moved)
        if cover:
            return cover
    closing = slot.list_closing(1 if ended else 0)
    all_ended = [ended, *closing] if ended else closing
    if not all_ended:
        plan = plan_addition(case.fact, placement, case.chains)
        if slot.holding is None:
            return plan
        if slot.resumes_at_start:
            reasoning = (
                "Another value in the slot, from where the one before it would have resumed."
            )
        else:
            reasoning = "Another value in the slot, told late: it takes its place in the past."
        return plan.with_decision(replace(decision, reasoning=reasoning))
    if not ended:
        decision = replace(decision, reasoning="It joins the oldest chain of its slot.")
    stored = inherit_from_ended(
        case.fact, all_ended, decision.relation, case.policy, corrects=case.incoming.corrects
    )
    return plan_replacement(
        stored,
        placement,
        case.chains,
        decision,
        ended=all_ended,
        claims=[claim for version in closing for claim in case.end_in_other_chain(version)],
        moved=moved,
    )
