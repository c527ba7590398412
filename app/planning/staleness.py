"""Staleness: memories that rest on something that an operation ended.

A stale memory does not end by that; somebody should look at it.
"""

from collections.abc import Set
from dataclasses import dataclass
from uuid import UUID

from app.domain.timeline import compute_status
from app.domain.version import StalenessCause, Status
from app.planning.plan import Plan, VersionChange

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
    return tuple(change.after.id for change in plan.changed if _ends_version(change, plan))


def _ends_version(change: VersionChange, plan: Plan) -> bool:
    """Return True if the version is withdrawn, or stood before and stands no longer."""
    before = change.before.belief
    after = change.after.belief
    if after.void and not before.void:
        return True
    if compute_status(before, plan.now) not in _STANDING:
        return False
    return compute_status(after, plan.now) not in _STANDING
