"""Retroactive supersession (reference 001): stored memories are judged as if they came now.

The judges, the plan of a store and the way a review is accepted are the same as for a new fact. The
only difference is that the fact is stored already.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from app.domain.chains import Chains
from app.domain.errors import CannotAccept
from app.domain.fact import Fact, Kind
from app.domain.policy import Policy
from app.domain.relation import Decision, Judge, Operation, Relation
from app.domain.timeline import begins_before, order_versions
from app.domain.version import Version
from app.planning.building_blocks import rewrite_chains
from app.planning.plan import IncomingFact, Plan, PreparedMerge, Review, ReviewSource
from app.planning.questions import build_end_review
from app.planning.reviews import Proposal, plan_proposed, review_from_plan
from app.planning.store import plan_store


def select_comparison_chains(
    memory: Version,
    fact: Fact,
    chains: Chains,
    excluded_ids: Collection[UUID],
) -> Chains:
    """Return the chains to compare this memory with: all others, except the excluded versions.

    A version that waits for its own turn is skipped. If other versions of the slot hold the same
    value, only their chains are compared: then all that remains is to confirm them.
    """
    compared = [
        version
        for version in chains.list_versions()
        if version.chain_id != memory.chain_id
        and version.id not in excluded_ids
        and not _waits_for_own_turn(version, memory, fact)
    ]
    repeated: set[UUID] = set()
    for version in compared:
        in_slot = fact.one_value and version.one_value and version.slot == fact.slot
        holds = version.belief.holds_at(memory.belief.valid_from)
        if in_slot and holds and version.has_same_value(fact):
            repeated.add(version.chain_id)
    if repeated:
        compared = [version for version in compared if version.chain_id in repeated]
    return Chains(compared)


def _waits_for_own_turn(version: Version, memory: Version, fact: Fact) -> bool:
    """Return True if the version begins later and will be compared with this memory itself.

    That goes for versions that start together with the memory but became known later, and for
    versions that start later and say the same.
    """
    starts_together = version.belief.valid_from == memory.belief.valid_from
    says_same = version.has_same_value(fact) or version.fuzzy_hash == fact.fuzzy_hash
    return begins_before(memory, version) and (starts_together or says_same)


def can_act(memory: Version) -> bool:
    """Return True if the memory says anything about any time."""
    belief = memory.belief
    return not (memory.erased_at or belief.void or belief.is_empty or belief.merged)


@dataclass(frozen=True, slots=True)
class _Sweep:
    """One memory that is compared with `others`, chains without the memory's own."""

    incoming: IncomingFact
    memory: Version
    chains: Chains
    others: Chains
    now: datetime

    def can_carry_out(self, review: Review) -> bool:
        """Return True unless the change would withdraw a memory that has to stay.

        A relation that stores no incoming fact withdraws the memory, which repeats another one.
        Then no version before it may begin to hold again, and nothing may have ended in its favour.
        """
        if review.relation.effect.stores_incoming:
            return True
        chain = self.chains.find_chain(self.memory.chain_id)
        if len(order_versions(chain)) != 1:
            return False
        return all(v.belief.ended_by != self.memory.id for v in self.chains.list_versions())


def plan_sweep(
    swept: IncomingFact,
    chains: Chains,
    others: Chains,
    policy: Policy,
    *,
    now: datetime,
    proposes: bool,
) -> Plan | None:
    """Plan what storing the memory now would do to `others`, as a change of stored memories.

    `swept` is the stored memory as an incoming fact under its own id. A change that may not be made
    or is not sure enough becomes a review; with `proposes`, every change does. Return None if
    nothing changes.
    """
    memory = chains.get_version(swept.new_id)
    swept = replace(
        swept,
        merged=next(_list_fitting(memory, filter(None, [swept.merged]), others), None),
        rewritten=tuple(_list_fitting(memory, swept.rewritten, others)),
    )
    sweep = _Sweep(swept, memory, chains, others, now)
    live = plan_store(swept, others, policy, now=now)
    change = _choose_change(sweep, live)
    if change and not sweep.can_carry_out(change):
        return None
    if change and proposes:
        return _plan_question(sweep, change)
    refused = live.review if live.review and live.review.judgments else None
    if refused and not sweep.can_carry_out(refused):
        refused = None
    plan = _carry_out_change(sweep, live, change) if change else None
    if plan is None:
        return _plan_question(sweep, refused) if refused else None
    if refused and any(c.after.id == memory.id and c.after.belief.void for c in plan.changed):
        # The plan withdraws the memory: a review about it could not be accepted.
        refused = replace(refused, source=ReviewSource.SWEEP)
    elif refused:
        refused = _make_review_about(memory, refused)
    return replace(plan, review=refused, judgments=swept.judgments)


def _choose_change(sweep: _Sweep, live: Plan) -> Review | None:
    """Return what the live plan does to other memories; None if it does nothing to them.

    If the memory repeats one that may not stand for it, the memory takes over from that one, unless
    it may not end that one.
    """
    if live.target and sweep.others.has_version(live.target):
        memory, repeated = sweep.memory, sweep.others.get_version(live.target)
        if not _can_stand_for(repeated, memory):
            if Kind.CONSTRAINT in (memory.kind, repeated.kind) or repeated.trust > memory.trust:
                return None
            reasoning = "The same, and it holds longer."
            return build_end_review(repeated, ReviewSource.SWEEP, reasoning=reasoning)
    if live.changed:
        # Some changes appear only because `others` lacks versions: without the versions that
        # followed them, earlier versions of a chain seem to hold longer.
        others = sweep.others
        _, side_effects = rewrite_chains(others, live.now, others.list_versions())
        longer = {change.after.id: change.after for change in side_effects}
        changed = tuple(c for c in live.changed if longer.get(c.after.id) != c.after)
        live = replace(live, changed=changed)
    return review_from_plan(live, sweep.others, ReviewSource.SWEEP)


def _list_fitting(
    memory: Version, prepared: Iterable[PreparedMerge], others: Chains
) -> Iterator[PreparedMerge]:
    """Yield the prepared texts unless one of the two memories has ended.

    In the new memory that one would begin to hold again, or end together with the other.
    """
    if memory.belief.valid_until is not None:
        return
    for each in prepared:
        is_there = others.has_version(each.stored_id)
        if is_there and others.get_version(each.stored_id).belief.valid_until is None:
            yield each


def _can_stand_for(other: Version, memory: Version) -> bool:
    """Return True if a memory that repeats the other one may be withdrawn without a loss.

    The other one must be trusted no less, and hold and live as long. A constraint is repeated by a
    constraint only.
    """
    until, needed = other.belief.valid_until, memory.belief.valid_until
    holds_as_long = until is None or (needed is not None and until >= needed)
    lives_as_long = not memory.lifespan.outlasts(other.lifespan)
    binds_as_much = memory.kind is not Kind.CONSTRAINT or other.kind is Kind.CONSTRAINT
    is_trusted = other.trust >= memory.trust
    return holds_as_long and lives_as_long and binds_as_much and is_trusted


def _carry_out_change(sweep: _Sweep, live: Plan, change: Review) -> Plan | None:
    """Plan the change for the memories as they are; None if they have changed too much."""
    cause = live.decision
    decision = Decision(
        relation=change.relation,
        confidence=cause.confidence,
        decided_by=Judge.SWEEP,
        reasoning=f"Found by the sweep ({cause.decided_by}): {cause.reasoning}",
        findings=cause.findings,
    )
    proposal = Proposal(
        review_id=sweep.memory.id,
        relation=change.relation,
        created_at=sweep.now,
        memory_id=sweep.memory.id,
        judgments=change.judgments,
        relied_on=change.relied_on,
        corrections=change.corrections,
    )
    try:
        return plan_proposed(
            proposal,
            sweep.chains,
            decision,
            now=sweep.now,
            merged=sweep.incoming.merged or next(iter(sweep.incoming.rewritten), None),
        )
    except CannotAccept:
        return None


def _make_review_about(memory: Version, review: Review) -> Review:
    """Return the review as one about the stored memory, whose revision it relies on too."""
    relied_on = (*review.relied_on, (memory.id, memory.revision))
    return replace(review, source=ReviewSource.SWEEP, relied_on=relied_on, successor=memory.id)


def _plan_question(sweep: _Sweep, review: Review) -> Plan:
    """Plan that nothing changes and that a person decides."""
    surest = max(review.judgments, key=lambda judgment: judgment.confidence)
    decision = Decision(
        relation=Relation.NONE,
        confidence=surest.confidence,
        decided_by=Judge.SWEEP,
        reasoning=f"Found by the sweep, for review: {surest.reasoning}",
        findings=surest.findings,
    )
    return Plan(
        operation=Operation.NOOP,
        now=sweep.now,
        decision=decision,
        target=sweep.memory.id,
        judgments=sweep.incoming.judgments,
        review=_make_review_about(sweep.memory, review),
    )
