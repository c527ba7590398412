"""Reviews that another decision has settled: they close, and wait again if it is undone."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from uuid import UUID

from app.domain.relation import Decision, Judge, Operation, Relation
from app.domain.version import Belief
from app.planning.plan import Plan, ReviewDecision, ReviewStatus
from app.planning.question_text import NamedMemory
from app.planning.reviews import Proposal


def has_ended(belief: Belief | None, now: datetime) -> bool:
    """Return True if a decision has ended or withdrawn the memory, or erased it (None).

    A memory whose stated end has passed was ended by nobody.
    """
    if belief is None or belief.void or belief.is_empty:
        return True
    is_ended = belief.retracted_at is not None or belief.superseded_by is not None
    return is_ended and belief.valid_until is not None and belief.valid_until <= now


def _is_taken_back(belief: Belief | None, now: datetime) -> bool:
    """Return True if the fact of a review can end nothing more.

    A fact that a later one replaced may still have ended what the review names.
    """
    if belief is not None and belief.superseded_by is not None and not belief.is_empty:
        return False
    return has_ended(belief, now)


def is_overtaken(proposal: Proposal, named: Mapping[UUID, NamedMemory], now: datetime) -> bool:
    """Return True if the fact of the review is gone, or all that the review names has ended.

    `named` holds the memories of the review that are not erased.
    """
    if proposal.memory_id and _is_taken_back(_find_belief(named, proposal.memory_id), now):
        return True
    targets = proposal.targets
    return bool(targets) and all(has_ended(_find_belief(named, i), now) for i in targets)


def _find_belief(named: Mapping[UUID, NamedMemory], memory_id: UUID) -> Belief | None:
    return named[memory_id].belief if memory_id in named else None


def find_turned_memories(plans: Iterable[Plan]) -> set[UUID]:
    """Return the stored memories that the plans end or withdraw, and those that stand again."""
    turned: set[UUID] = set()
    for plan in plans:
        for change in plan.changed:
            before, after = change.before.belief, change.after.belief
            if has_ended(before, plan.now) != has_ended(after, plan.now):
                turned.add(change.after.id)
    return turned


def plan_overtaking(proposal: Proposal, *, is_waiting: bool, now: datetime) -> Plan:
    """Plan that a waiting review closes, or that a closed one waits again.

    The plan names no memory: the fact of the review can be undone without undoing this first.
    """
    pending, overtaken = ReviewStatus.PENDING, ReviewStatus.OVERTAKEN
    before, after = (pending, overtaken) if is_waiting else (overtaken, pending)
    reasoning = (
        "Another decision has settled what the review asks."
        if is_waiting
        else "What the review asks is open again."
    )
    plan = Plan(
        operation=Operation.NOOP,
        now=now,
        decision=Decision.certain(Relation.NONE, Judge.RULE, reasoning),
    )
    return plan.with_settled_review(ReviewDecision(proposal.review_id, before, after))
