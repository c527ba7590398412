"""Retroactive supersession (reference 001): what a stored memory would have done to others had it been judged when it came, done now.

The judges, the plan of a store and the way a review is accepted are the same; only the fact is stored already.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from app.domain.errors import CannotAccept
from app.domain.judged import Merged
from app.domain.memory import Fact, Kind, Memory, Operation, Version
from app.domain.picture import Picture
from app.domain.plan import Plan, Policy, Review, ReviewSource, rewrite
from app.domain.relation import Decision, Judge, Judgment, Relation
from app.domain.reviewing import Proposal, plan_proposed, review_of
from app.domain.storing import plan_store
from app.domain.time import begins_before


@dataclass(frozen=True, slots=True)
class Swept:
    """A stored memory looked at again: the fact as it was told, what the judges say of others to it, and the merge it may lead to."""

    memory_id: UUID
    fact: Fact
    judgments: tuple[Judgment, ...] = ()
    merged: Merged | None = None


def as_told(memory: Memory) -> Fact:
    """The fact of a stored memory, as a caller would tell it now. What is stored as the default counts as not said."""
    fact = memory.fact
    return replace(
        fact,
        kind=None if fact.kind is Kind.FACT else fact.kind,
        entity=None if fact.entity == "user" else fact.entity,
        category=fact.category or None,
    )


def ground(memory: Version, fact: Fact, picture: Picture, left_alone: Collection[UUID]) -> Picture:
    """What a memory, with its fact as told, is held against: the other chains, without what is left alone. What begins with it and is
    known later, or begins later and says the same, is held against it in its own turn."""

    def stands(version: Version) -> bool:
        twin = version.belief.valid_from == memory.belief.valid_from
        repeats = version.says(fact) or version.fuzzy_hash == fact.fuzzy_hash
        waits = begins_before(memory, version) and (twin or repeats)
        return version.chain_id != memory.chain_id and not waits and version.id not in left_alone

    standing = [v for v in picture.versions() if stands(v)]
    repeated = {v.chain_id for v in standing if fact.one_value and v.slot == fact.slot and _says_it(v, fact, memory.belief.valid_from)}
    return Picture(v for v in standing if not repeated or v.chain_id in repeated)


def _says_it(version: Version, fact: Fact, at: datetime) -> bool:
    """Whether it holds the same value then: in whichever chain of the slot, there is nothing more to do than to confirm that."""
    return version.one_value and version.belief.holds(at) and version.says(fact)


def can_act(memory: Version) -> bool:
    """Whether it says anything of any time."""
    return not (memory.erased_at or memory.belief.void or memory.belief.empty or memory.belief.merged)


def plan_sweep(swept: Swept, picture: Picture, others: Picture, policy: Policy, *, now: datetime, proposes: bool) -> Plan | None:
    """What storing the memory now would do to `others` (`ground`), as a change of stored memories; None where it does nothing.

    What may not be done, is not sure enough, or where the mode `proposes` only, becomes a review.
    """
    judgments, memory = swept.judgments, picture.version(swept.memory_id)
    swept = replace(swept, merged=_still_open(memory, swept.merged, others))
    live = plan_store(
        swept.fact, others, judgments, policy, now=now, new_id=swept.memory_id, classify=True, merged=swept.merged, retracts=False
    )
    alone = _stands_alone(memory, picture)
    change = review_of(_caused(live, others), others, ReviewSource.SWEEP)
    repeated = others.version(live.target) if live.target and others.has(live.target) else None
    if repeated and not _stands_for(repeated, memory):
        change = _taking_over(memory, repeated)
    if change and change.relation in _WITHDRAWING and not alone:
        return None
    if change and proposes:
        return _asking(swept, memory, change, now)
    refused = live.review if live.review and live.review.judgments else None
    if refused and refused.relation in _WITHDRAWING and not alone:
        refused = None
    plan = _carried_out(swept, live, change, picture, now) if change else None
    if plan is None:
        return _asking(swept, memory, refused, now) if refused else None
    return replace(plan, review=_left_over(memory, refused, plan) if refused else None, judgments=judgments)


def _caused(live: Plan, others: Picture) -> Plan:
    """The plan without what follows from versions being left out of their chains alone: those before them would seem to hold longer."""
    if not live.changed:
        return live
    _, apart = rewrite(others, live.now, others.versions())
    longer = {change.after.id: change.after for change in apart}
    return replace(live, changed=tuple(change for change in live.changed if longer.get(change.after.id) != change.after))


# Carrying these out withdraws the memory itself: it repeats another, or only tells of an end.
_WITHDRAWING = (Relation.DUPLICATE, Relation.RETRACTION)


def _still_open(memory: Version, merged: Merged | None, others: Picture) -> Merged | None:
    """The merge, unless one of both has ended: in the merged memory it would begin to hold again, or end with the other."""
    ended = memory.belief.valid_until is not None
    if merged is None or ended or not others.has(merged.stored_id) or others.version(merged.stored_id).belief.valid_until is not None:
        return None
    return merged


def _stands_for(other: Version, memory: Version) -> bool:
    """Whether a memory that repeats the other may be withdrawn: the other is trusted no less and holds and lives as long, so that nothing
    which holds is lost; and a constraint is repeated by a constraint only."""
    until, needed = other.belief.valid_until, memory.belief.valid_until
    as_long = (until is None or (needed is not None and until >= needed)) and not memory.lifespan.outlasts(other.lifespan)
    return as_long and other.trust >= memory.trust and (memory.kind is not Kind.CONSTRAINT or other.kind is Kind.CONSTRAINT)


def _taking_over(memory: Version, repeated: Version) -> Review | None:
    """The change in which it follows what it repeats, because it holds longer; None where it may not end that."""
    if Kind.CONSTRAINT in (memory.kind, repeated.kind) or repeated.trust > memory.trust:
        return None
    judgment = Judgment(repeated.id, Relation.UPDATE, 1.0, "The same, and it holds longer.", Judge.RULE)
    sentence = f"Accepting ends {repeated.id} in favour of this fact."
    return Review(ReviewSource.SWEEP, Relation.UPDATE, sentence, (judgment,), ((repeated.id, repeated.revision),))


def _stands_alone(memory: Version, picture: Picture) -> bool:
    """Whether withdrawing it changes nothing else: no version before it would stand up again, nothing ended in its favour."""
    line = [v for v in picture.chain(memory.chain_id) if not v.belief.void]
    return len(line) == 1 and not any(v.belief.ended_by == memory.id for v in picture.versions())


def _carried_out(swept: Swept, live: Plan, change: Review, picture: Picture, now: datetime) -> Plan | None:
    """The change made to the memories as they are; None where they have gone another way."""
    said = live.decision
    decision = Decision(
        change.relation, said.confidence, Judge.SWEEP, f"Found by the sweep ({said.decided_by}): {said.reasoning}", said.findings
    )
    proposal = Proposal(
        swept.memory_id, change.relation, change.sentence, now, swept.memory_id, change.judgments, change.relied_on, change.said
    )
    try:
        return plan_proposed(proposal, picture, decision, now=now, merged=swept.merged)
    except CannotAccept:
        return None


def _about(memory: Version, review: Review) -> Review:
    """The review as one about the stored memory, which it relies on like on the others."""
    relied_on = (*review.relied_on, (memory.id, memory.revision))
    return replace(review, source=ReviewSource.SWEEP, relied_on=relied_on, successor=memory.id)


def _left_over(memory: Version, review: Review, plan: Plan) -> Review:
    """The review of what the plan leaves undone. It is not about the memory where that is withdrawn: it could not be accepted then."""
    withdrawn = any(change.after.id == memory.id and change.after.belief.void for change in plan.changed)
    return replace(review, source=ReviewSource.SWEEP) if withdrawn else _about(memory, review)


def _asking(swept: Swept, memory: Version, review: Review, now: datetime) -> Plan:
    """Nothing changes; a person is asked."""
    sure = max(review.judgments, key=lambda j: j.confidence)
    decision = Decision(Relation.NONE, sure.confidence, Judge.SWEEP, f"Found by the sweep, for review: {sure.reasoning}", sure.findings)
    return Plan(Operation.NOOP, now, decision, target=swept.memory_id, judgments=swept.judgments, review=_about(memory, review))
