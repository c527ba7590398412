"""Planning a fact in a slot that holds one value.

`tests/support/oracle.py` states the same rules as a program.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
from app.planning.plan import Plan
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
    """A fact for a slot: it joins the oldest chain of the slot, which may have other chains."""

    case: StoreCase
    chain_id: UUID
    other_chains: Sequence[UUID]

    @property
    def holding(self) -> Version | None:
        """Return the version of the chain that holds when the fact begins."""
        return self.case.chains.find_holding(self.chain_id, self.case.start)

    @property
    def later(self) -> Version | None:
        """Return the version of the chain that begins next after the fact."""
        return self.case.chains.find_next_after(self.chain_id, self.case.start)

    @property
    def ended(self) -> Version | None:
        """Return what holds when the fact begins, if the fact takes its place.

        A fact that became known late ends nothing if a later lasting value has begun already. What
        would resume when the fact begins has ended before: a temporary value took its place.
        """
        following = self.case.chains.find_next_lasting(self.chain_id, self.case.start)
        is_late = following is not None and following.belief.valid_from <= self.case.now
        return None if is_late or self.resumes_at_start else self.holding

    @property
    def resumes_at_start(self) -> bool:
        """Return True if a version resumes when the fact begins, and held before it was covered."""
        holding = self.holding
        return holding is not None and holding.belief.resumes_at(self.case.start)

    def find_protected(self) -> Version | None:
        """Return the version that the fact would shorten and may not.

        It holds when the fact begins, or it would resume after that and the fact would end it.
        """
        holding = self.holding
        if holding and self.case.find_protection(holding):
            return holding
        if self.case.is_temporary:
            return None
        lasting = self.case.chains.find_lasting(self.chain_id, self.case.start)
        if lasting is None or lasting.has_same_value(self.case.fact):
            return None
        return lasting if self.case.find_protection(lasting) else None

    def find_repeated_elsewhere(self) -> Version | None:
        """Return the first version in the other chains that holds and has the fact's value."""
        for holding in self._list_holding_elsewhere():
            if holding.has_same_value(self.case.fact):
                return holding
        return None

    def list_closing(self, ended: int) -> list[Version]:
        """Return the versions that the fact ends in the other chains, besides so many others.

        A temporary fact ends none of them.
        """
        most = 0 if self.case.is_temporary else max(0, self.case.policy.max_closures - ended)
        return list(islice(filter(self._may_close, self._list_holding_elsewhere()), most))

    def _may_close(self, holding: Version) -> bool:
        ended = self.case.end_in_other_chain(holding)
        return not any(map(self.case.find_protection, ended))

    def _list_holding_elsewhere(self) -> Iterator[Version]:
        for chain_id in self.other_chains:
            if holding := self.case.chains.find_holding(chain_id, self.case.start):
                yield holding


def plan_in_slot(case: StoreCase, slot_chains: Sequence[UUID]) -> Plan:
    """Put the fact at its place in the oldest chain of its slot.

    The versions that hold in the slot's other chains end there, unless the fact is temporary.
    """
    chain_id, *other_chains = slot_chains
    slot = _SlotCase(case, chain_id, other_chains)
    for plan_kind in _KINDS:
        if plan := plan_kind(slot):
            return plan
    return _plan_value(slot)


def _plan_past(slot: _SlotCase) -> Plan | None:
    """Plan a fact that is over by its words, without an end: it gets a chain of its own.

    If it is stored already, it is only confirmed.
    """
    case = slot.case
    if not case.is_past or case.is_temporary:
        return None
    known = plan_known_duplicate(case)
    if known and known.operation is Operation.NOOP:
        return known
    plan = plan_addition(case.fact, case.place_in_new_chain(), case.chains)
    return plan.with_reasoning("Its words say that it is over, so it ends nothing that holds.")


def _plan_over_told(slot: _SlotCase) -> Plan | None:
    """Plan a fact that comes after versions which count from when they were told."""
    case, later = slot.case, _find_replaceable(slot)
    if not later:
        return None
    *moved, ended = move_before(later, case.start, case.now)
    if case.is_temporary:
        return _plan_over_holding(slot, ended, moved)
    return _plan_replacement(slot, [ended], slot.list_closing(1), moved)


def _find_replaceable(slot: _SlotCase) -> Sequence[Version]:
    """Return the versions of the chain that only seem to begin after the fact, if it ends them."""
    case = slot.case
    if case.is_past:
        return ()
    later = case.find_told_later(slot.chain_id)
    if not later or later[-1].has_same_value(case.fact) or slot.find_protected():
        return ()
    return () if any(map(case.find_protection, later)) else later


def _plan_repetition(slot: _SlotCase) -> Plan | None:
    """Plan a fact that says what holds when it begins."""
    case, holding = slot.case, slot.holding
    if holding is None or not holding.has_same_value(case.fact):
        return None
    # What is protected is confirmed, whatever other chains say.
    if case.find_protection(holding) is None and is_separated(case, holding):
        return None
    return plan_renewal(case, holding)


def _plan_conflict(slot: _SlotCase) -> Plan | None:
    """Plan a fact that would shorten what it may not: a person decides.

    If another chain says the same, that is confirmed.
    """
    protected = slot.find_protected()
    protection = slot.case.find_protection(protected) if protected else None
    if protected is None or protection is None:
        return None
    renewal = _plan_renewal_elsewhere(slot)
    return renewal or plan_protected_conflict(slot.case, protected, protection)


def _plan_repetition_of_later(slot: _SlotCase) -> Plan | None:
    """Plan a fact that says what begins next: that begins earlier."""
    case, later = slot.case, slot.later
    if later is None or not later.has_same_value(case.fact):
        return None
    if not can_start_earlier(later, case.fact) or is_separated(case, later):
        return None
    return plan_earlier_start(case, later)


def _plan_repetition_elsewhere(slot: _SlotCase) -> Plan | None:
    """Plan a temporary fact that only another chain says: its stated end is corrected there."""
    if not slot.case.is_temporary or slot.holding:
        return None
    return _plan_renewal_elsewhere(slot)


def _plan_renewal_elsewhere(slot: _SlotCase) -> Plan | None:
    repeated = slot.find_repeated_elsewhere()
    return plan_renewal(slot.case, repeated) if repeated else None


def _plan_temporary_value(slot: _SlotCase) -> Plan | None:
    """Plan a temporary fact in place of what holds."""
    ended = slot.ended
    if not slot.case.is_temporary or ended is None:
        return None
    return _plan_over_holding(slot, ended)


# Each plans one kind of fact, and returns None for the others. The first one that has a plan
# decides, so the later ones need not look at what the earlier ones plan.
_KINDS = (
    _plan_past,
    _plan_over_told,
    _plan_repetition,
    _plan_conflict,
    _plan_repetition_of_later,
    _plan_repetition_elsewhere,
    _plan_temporary_value,
)


def _plan_value(slot: _SlotCase) -> Plan:
    """Plan the fact as the value of its slot from its start on."""
    case = slot.case
    ended = [slot.ended] if slot.ended else []
    closing = slot.list_closing(len(ended))
    if ended or closing:
        return _plan_replacement(slot, ended, closing)
    plan = plan_addition(case.fact, case.place_in(slot.chain_id), case.chains)
    if slot.holding is None:
        return plan
    if slot.resumes_at_start:
        reasoning = "Another value in the slot, from where the one before it would have resumed."
    else:
        reasoning = "Another value in the slot, told late: it takes its place in the past."
    return plan.with_decision(_decide_value(reasoning))


def _plan_over_holding(slot: _SlotCase, holding: Version, moved: Sequence[Version] = ()) -> Plan:
    """Plan a value with a stated end: the version that holds when it begins resumes afterwards.

    If that one has an end of its own by then, it is replaced.
    """
    decision = _decide_value(_ANOTHER_VALUE)
    cover = plan_cover(slot.case, slot.case.fact, holding, decision, moved=moved)
    return cover or _plan_replacement(slot, [holding], (), moved)


def _plan_replacement(
    slot: _SlotCase,
    ended: Sequence[Version],
    closing: Sequence[Version],
    moved: Sequence[Version] = (),
) -> Plan:
    """Plan the fact as the new value of its slot.

    It ends a version of its chain, and the `closing` ones of other chains. `moved` are versions
    with other starts, which the fact does not end.
    """
    case, all_ended = slot.case, [*ended, *closing]
    decision = _decide_value(_ANOTHER_VALUE if ended else "It joins the oldest chain of its slot.")
    stored = inherit_from_ended(
        case.fact,
        all_ended,
        decision.relation,
        case.policy,
        corrects=case.incoming.corrects,
    )
    return plan_replacement(
        stored,
        case.place_in(slot.chain_id),
        case.chains,
        decision,
        ended=all_ended,
        claims=[claim for version in closing for claim in case.end_in_other_chain(version)],
        moved=moved,
    )


_ANOTHER_VALUE = "Another value for a slot that holds one at a time."


def _decide_value(reasoning: str) -> Decision:
    return Decision.certain(Relation.UPDATE, Judge.RULE, reasoning)
