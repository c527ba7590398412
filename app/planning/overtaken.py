"""Reviews that another decision has settled: they close, and wait again if it is undone."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from uuid import UUID

from app.domain.relation import Decision, Judge, Operation, Relation
from app.planning.plan import Plan, ReviewDecision, ReviewStatus
from app.planning.question_text import NamedMemory
from app.planning.reviews import Proposal


def is_overtaken(proposal: Proposal, named: Mapping[UUID, NamedMemory], now: datetime) -> bool:
    """Return True if the fact of the review is gone, or all that the review names has ended.

    `named` holds the memories of the review that are not erased.
    """
    if proposal.memory_id and _is_taken_back(named.get(proposal.memory_id), now):
        return True
    targets = set(proposal.targets)
    return bool(targets) and find_ended_targets(proposal, named, now) == targets


def find_ended_targets(
    proposal: Proposal, named: Mapping[UUID, NamedMemory], now: datetime
) -> set[UUID]:
    """Return the targets that the review can no longer be right about.

    A fact whose start was stated may still end a target earlier than another decision did.
    """
    fact = named.get(proposal.memory_id) if proposal.memory_id else None
    by = fact.belief.valid_from if fact and fact.is_dated else now
    return {target for target in proposal.targets if _has_ended(named.get(target), by)}


def _has_ended(memory: NamedMemory | None, by: datetime) -> bool:
    """Return True if a decision has ended the memory by then, withdrawn it, or erased it (None).

    A memory whose stated end has passed was ended by nobody.
    """
    if memory is None or memory.belief.void or memory.belief.is_empty:
        return True
    belief = memory.belief
    is_ended = belief.retracted_at is not None or belief.superseded_by is not None
    return is_ended and belief.valid_until is not None and belief.valid_until <= by


def _is_taken_back(fact: NamedMemory | None, now: datetime) -> bool:
    """Return True if the fact of a review can end nothing more.

    A fact that a later one replaced may still have ended what the review names.
    """
    if fact and fact.belief.superseded_by is not None and not fact.belief.is_empty:
        return False
    return _has_ended(fact, now)


def find_moved_memories(plans: Iterable[Plan]) -> set[UUID]:
    """Return the stored memories whose interval the plans move, or which they withdraw."""
    moved: set[UUID] = set()
    for plan in plans:
        for change in plan.changed:
            if change.has_moved or change.before.belief.void != change.after.belief.void:
                moved.add(change.after.id)
    return moved


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
