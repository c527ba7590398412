"""Staleness: memories that rest on something that an operation ended.

A stale memory does not end by that; somebody should look at it.
"""

from collections.abc import Set
from dataclasses import dataclass
from uuid import UUID

from app.domain.timeline import compute_status
from app.domain.version import StalenessCause, Status
from app.planning.plan import Plan

# A version with such a status holds, or will hold again.
_STANDING = (Status.CURRENT, Status.COVERED, Status.SCHEDULED)


@dataclass(frozen=True, slots=True)
class StaleMemory:
    """A memory that holds although something that it rests on has ended."""

    memory_id: UUID
    because: tuple[StalenessCause, ...]

    def narrow_to(self, ids: Set[UUID]) -> "StaleMemory":
        """Return the same memory with only the causes among these ids."""
        causes = tuple(cause for cause in self.because if cause.memory_id in ids)
        return StaleMemory(self.memory_id, causes)


def find_ended_versions(plan: Plan) -> tuple[UUID, ...]:
    """Return the stored versions that the plan ends or withdraws."""
    ended: list[UUID] = []
    for change in plan.changed:
        before, after = change.before.belief, change.after.belief
        is_withdrawn = after.void and not before.void
        stood = compute_status(before, plan.now) in _STANDING
        if is_withdrawn or (stood and compute_status(after, plan.now) not in _STANDING):
            ended.append(change.after.id)
    return tuple(ended)
