"""Retroactive supersession (reference 001): what a stored memory would have done to others had it been judged when it came, done now.

The judges, the plan of a store and the way a review is accepted are the same; only the fact is stored already.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from app.domain.chains import Chains
from app.domain.errors import CannotAccept
from app.domain.fact import Fact, Kind
from app.domain.policy import Policy
from app.domain.relation import Decision, Judge, Judgment, Operation, Relation
from app.domain.timeline import begins_before
from app.domain.version import Version
from app.planning.building_blocks import rewrite_chains
from app.planning.classified import PreparedMerge
from app.planning.plan import Plan, Review, ReviewSource
from app.planning.reviews import Proposal, plan_proposed, review_from_plan
from app.planning.store import plan_store


@dataclass(frozen=True, slots=True)
class SweptMemory:
    """A stored memory looked at again: the fact as it was told, what the judges say of others to it, and the merge it may lead to."""

    memory_id: UUID
    fact: Fact
    judgments: tuple[Judgment, ...] = ()
    merged: PreparedMerge | None = None


def select_comparison_chains(
    memory: Version, fact: Fact, picture: Chains, excluded_ids: Collection[UUID]
) -> Chains:
    """What a memory, with its fact as told, is held against: the other chains, without what is left alone. What begins with it and is
    known later, or begins later and says the same, is held against it in its own turn."""

    def is_compared(version: Version) -> bool:
        twin = version.belief.valid_from == memory.belief.valid_from
        repeats = version.has_same_value(fact) or version.fuzzy_hash == fact.fuzzy_hash
        waits = begins_before(memory, version) and (twin or repeats)
        return version.chain_id != memory.chain_id and not waits and version.id not in excluded_ids

    standing = [v for v in picture.list_versions() if is_compared(v)]
    repeated = {
        v.chain_id
        for v in standing
        if fact.one_value
        and v.slot == fact.slot
        and _holds_same_value(v, fact, memory.belief.valid_from)
    }
    return Chains(v for v in standing if not repeated or v.chain_id in repeated)


def _holds_same_value(version: Version, fact: Fact, at: datetime) -> bool:
    """Whether it holds the same value then: in whichever chain of the slot, there is nothing more to do than to confirm that."""
    return version.one_value and version.belief.holds_at(at) and version.has_same_value(fact)


def can_act(memory: Version) -> bool:
    """Whether it says anything of any time."""
    return not (
        memory.erased_at or memory.belief.void or memory.belief.is_empty or memory.belief.merged
    )


def plan_sweep(
    swept: SweptMemory,
    picture: Chains,
    others: Chains,
    policy: Policy,
    *,
    now: datetime,
    proposes: bool,
) -> Plan | None:
    """What storing the memory now would do to `others` (`ground`), as a change of stored memories; None where it does nothing.

    What may not be done, is not sure enough, or where the mode `proposes` only, becomes a review.
    """
    judgments, memory = swept.judgments, picture.get_version(swept.memory_id)
    swept = replace(swept, merged=_recheck_merge(memory, swept.merged, others))
    live = plan_store(
        swept.fact,
        others,
        judgments,
        policy,
        now=now,
        new_id=swept.memory_id,
        classify=True,
        merged=swept.merged,
        retracts=False,
    )
    alone = _can_be_withdrawn(memory, picture)
    change = review_from_plan(_drop_side_effects(live, others), others, ReviewSource.SWEEP)
    repeated = (
        others.get_version(live.target) if live.target and others.has_version(live.target) else None
    )
    if repeated and not _can_stand_for(repeated, memory):
        change = _build_takeover_review(memory, repeated)
    if change and change.relation in _WITHDRAWING and not alone:
        return None
    if change and proposes:
        return _plan_question(swept, memory, change, now)
    refused = live.review if live.review and live.review.judgments else None
    if refused and refused.relation in _WITHDRAWING and not alone:
        refused = None
    plan = _carry_out_change(swept, live, change, picture, now) if change else None
    if plan is None:
        return _plan_question(swept, memory, refused, now) if refused else None
    return replace(
        plan,
        review=_build_leftover_review(memory, refused, plan) if refused else None,
        judgments=judgments,
    )


def _drop_side_effects(live: Plan, others: Chains) -> Plan:
    """The plan without what follows from versions being left out of their chains alone: those before them would seem to hold longer."""
    if not live.changed:
        return live
    _, apart = rewrite_chains(others, live.now, others.list_versions())
    longer = {change.after.id: change.after for change in apart}
    return replace(
        live,
        changed=tuple(
            change for change in live.changed if longer.get(change.after.id) != change.after
        ),
    )


# Carrying these out withdraws the memory itself: it repeats another, or only tells of an end.
_WITHDRAWING = (Relation.DUPLICATE, Relation.RETRACTION)


def _recheck_merge(
    memory: Version, merged: PreparedMerge | None, others: Chains
) -> PreparedMerge | None:
    """The merge, unless one of both has ended: in the merged memory it would begin to hold again, or end with the other."""
    ended = memory.belief.valid_until is not None
    if (
        merged is None
        or ended
        or not others.has_version(merged.stored_id)
        or others.get_version(merged.stored_id).belief.valid_until is not None
    ):
        return None
    return merged


def _can_stand_for(other: Version, memory: Version) -> bool:
    """Whether a memory that repeats the other may be withdrawn: the other is trusted no less and holds and lives as long, so that nothing
    which holds is lost; and a constraint is repeated by a constraint only."""
    until, needed = other.belief.valid_until, memory.belief.valid_until
    as_long = (
        until is None or (needed is not None and until >= needed)
    ) and not memory.lifespan.outlasts(other.lifespan)
    return (
        as_long
        and other.trust >= memory.trust
        and (memory.kind is not Kind.CONSTRAINT or other.kind is Kind.CONSTRAINT)
    )


def _build_takeover_review(memory: Version, repeated: Version) -> Review | None:
    """The change in which it follows what it repeats, because it holds longer; None where it may not end that."""
    if Kind.CONSTRAINT in (memory.kind, repeated.kind) or repeated.trust > memory.trust:
        return None
    judgment = Judgment(
        repeated.id, Relation.UPDATE, 1.0, "The same, and it holds longer.", Judge.RULE
    )
    sentence = f"Accepting ends {repeated.id} in favour of this fact."
    return Review(
        ReviewSource.SWEEP,
        Relation.UPDATE,
        sentence,
        (judgment,),
        ((repeated.id, repeated.revision),),
    )


def _can_be_withdrawn(memory: Version, picture: Chains) -> bool:
    """Whether withdrawing it changes nothing else: no version before it would stand up again, nothing ended in its favour."""
    line = [v for v in picture.find_chain(memory.chain_id) if not v.belief.void]
    return len(line) == 1 and not any(
        v.belief.ended_by == memory.id for v in picture.list_versions()
    )


def _carry_out_change(
    swept: SweptMemory, live: Plan, change: Review, picture: Chains, now: datetime
) -> Plan | None:
    """The change made to the memories as they are; None where they have gone another way."""
    said = live.decision
    decision = Decision(
        change.relation,
        said.confidence,
        Judge.SWEEP,
        f"Found by the sweep ({said.decided_by}): {said.reasoning}",
        said.findings,
    )
    proposal = Proposal(
        swept.memory_id,
        change.relation,
        change.sentence,
        now,
        swept.memory_id,
        change.judgments,
        change.relied_on,
        change.said,
    )
    try:
        return plan_proposed(proposal, picture, decision, now=now, merged=swept.merged)
    except CannotAccept:
        return None


def _make_review_about(memory: Version, review: Review) -> Review:
    """The review as one about the stored memory, which it relies on like on the others."""
    relied_on = (*review.relied_on, (memory.id, memory.revision))
    return replace(review, source=ReviewSource.SWEEP, relied_on=relied_on, successor=memory.id)


def _build_leftover_review(memory: Version, review: Review, plan: Plan) -> Review:
    """The review of what the plan leaves undone. It is not about the memory where that is withdrawn: it could not be accepted then."""
    withdrawn = any(
        change.after.id == memory.id and change.after.belief.void for change in plan.changed
    )
    return (
        replace(review, source=ReviewSource.SWEEP)
        if withdrawn
        else _make_review_about(memory, review)
    )


def _plan_question(swept: SweptMemory, memory: Version, review: Review, now: datetime) -> Plan:
    """Nothing changes; a person is asked."""
    sure = max(review.judgments, key=lambda j: j.confidence)
    decision = Decision(
        Relation.NONE,
        sure.confidence,
        Judge.SWEEP,
        f"Found by the sweep, for review: {sure.reasoning}",
        sure.findings,
    )
    return Plan(
        Operation.NOOP,
        now,
        decision,
        target=swept.memory_id,
        judgments=swept.judgments,
        review=_make_review_about(memory, review),
    )
