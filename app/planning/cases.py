"""One fact to be stored, with everything that its plan depends on, and what it may do to others."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from app.domain.chains import Chains
from app.domain.fact import DEFAULT_TRUST, Fact, Kind
from app.domain.policy import Policy
from app.domain.relation import Decision, Judgment
from app.domain.version import Version
from app.planning.building_blocks import Placement, choose_start, choose_told_at, plan_addition
from app.planning.dating import find_told_later, has_only_dated_end, is_past, move_before
from app.planning.plan import IncomingFact, Plan, ReviewSource

# The local judge ends .13 % of look-alikes at this confidence (docs/design/classification.md).
SURE_OF_CAPTURED = 0.97


@dataclass(frozen=True, slots=True)
class StoreCase:
    """One fact to be stored, with everything that its plan depends on.

    It is compared with what holds at `start`. It begins then too, unless its start is open.
    """

    incoming: IncomingFact
    chains: Chains
    policy: Policy
    start: datetime
    now: datetime

    @property
    def fact(self) -> Fact:
        return self.incoming.fact

    @property
    def new_id(self) -> UUID:
        return self.incoming.new_id

    @property
    def is_temporary(self) -> bool:
        """Return True if the fact has a stated end: what it covers resumes then."""
        return self.fact.valid_until is not None

    @property
    def trust(self) -> int:
        return DEFAULT_TRUST if self.fact.trust is None else self.fact.trust

    def place_in(self, chain_id: UUID) -> Placement:
        """Return the fact's place in this chain."""
        start = choose_start(self.fact, self.now)
        return Placement(self.new_id, chain_id, start, self.now, self.is_temporary)

    def place_in_new_chain(self) -> Placement:
        """Return the fact's place in a chain of its own."""
        return self.place_in(self.new_id)

    def get_judged(self, judgment: Judgment) -> Version:
        """Return the version that the judgment is about."""
        return self.chains.get_version(judgment.memory_id)

    @property
    def told_at(self) -> datetime:
        """Return when the words of the fact were spoken."""
        return choose_told_at(self.fact, self.now)

    @property
    def is_past(self) -> bool:
        """Return True if the words say that the fact had ended when they were spoken."""
        return self.incoming.is_episode or is_past(self.fact, self.told_at)

    @property
    def is_past_stay(self) -> bool:
        """Return True if the words say a time in the past with both ends: it ends nothing."""
        return self.is_past and self.is_temporary and not has_only_dated_end(self.fact)

    def holds_at_start(self, judgment: Judgment) -> bool:
        """Return True if the judged version holds when the fact begins, or resumes after that."""
        return self.get_judged(judgment).stands_at(self.start)

    def find_told_later(self, chain_id: UUID) -> Sequence[Version]:
        """Return the versions of the chain that only seem to begin after the fact.

        Return nothing if the words of the fact do not date it.
        """
        if self.fact.dated_by is None:
            return ()
        return find_told_later(self.chains, chain_id, start=self.start, told_at=self.told_at)

    def make_room(self, judgment: Judgment) -> Sequence[Version]:
        """Return the judged version as one that holds when the fact begins, as the last item.

        The versions before it have to be moved with it. Return nothing if it does not hold then,
        and its start was stated.
        """
        version = self.get_judged(judgment)
        if self.holds_at_start(judgment):
            return (version,)
        if self.is_past_stay:
            return ()
        later = self.find_told_later(version.chain_id)
        if not later or later[-1] != version:
            return ()
        return move_before(later, self.start, self.now)

    def end_in_other_chain(self, version: Version) -> list[Version]:
        """Return the version of another chain as the fact ends it, with what would resume after it.

        In the chain that the fact joins, the order of the chain says the same.
        """
        resuming = self.chains.find_resuming(version, self.start)
        return [
            ended.replace_claims(retracted_at=self.start, ended_by=self.new_id)
            for ended in (version, *resuming)
        ]

    def find_protection(
        self, version: Version, judgment: Judgment | None = None
    ) -> ReviewSource | None:
        """Return the reason why the fact may not end or shorten the version, if there is one.

        Constraints end by explicit calls only, and lower trust never ends higher.
        """
        if version.kind is Kind.CONSTRAINT:
            return ReviewSource.CONSTRAINT
        if self.trust >= version.trust:
            return None
        # A fact from a message has a lower trust because nobody asked for it to be stored, but it
        # is the user's own word. So it may end what was stated with ordinary trust if the judgment
        # is very sure.
        is_sure = judgment is not None and judgment.confidence >= SURE_OF_CAPTURED
        is_allowed = self.incoming.may_end_stated and is_sure and version.trust <= DEFAULT_TRUST
        return None if is_allowed else ReviewSource.TRUST


def plan_cover(
    case: StoreCase,
    fact: Fact,
    holding: Version,
    decision: Decision,
    *,
    moved: Sequence[Version],
) -> Plan | None:
    """Plan a temporary fact over the version that holds when it begins, in the chain of that.

    Nothing ends, and the decision says when the covered version resumes. `holding` and the `moved`
    versions may have other starts than the stored ones. Return None if the version does not resume,
    because it has an end of its own by then.
    """
    placement = case.place_in(holding.chain_id)
    plan = plan_addition(fact, placement, case.chains, moved=(*moved, holding))
    for change in plan.changed:
        until = change.after.belief.valid_until
        if change.after.id == holding.id and until is not None and until <= case.start:
            return None
    reasoning = f"{decision.reasoning} It holds until its stated end; then the other one resumes."
    return plan.with_decision(replace(decision, reasoning=reasoning))
