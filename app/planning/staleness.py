"""What an operation ended: those that rest on it are to be looked at again. Nothing ends by that."""

from collections.abc import Set
from dataclasses import dataclass
from uuid import UUID

from app.domain.timeline import compute_status
from app.domain.version import StalenessCause, Status
from app.planning.plan import Plan, VersionChange

_STANDING = (Status.CURRENT, Status.SCHEDULED)


@dataclass(frozen=True, slots=True)
class StaleMemory:
    """A memory that holds though something that it rests on has ended."""

    memory_id: UUID
    because: tuple[StalenessCause, ...]

    def narrow_to(self, ids: Set[UUID]) -> "StaleMemory":
        """The same, because of these alone."""
        return StaleMemory(
            self.memory_id, tuple(ended for ended in self.because if ended.memory_id in ids)
        )


def find_ended_versions(plan: Plan) -> tuple[UUID, ...]:
    """The stored versions that stood before the operation and no longer do, or that it withdrew."""
    return tuple(change.after.id for change in plan.changed if _ends_version(change, plan))


def _ends_version(change: VersionChange, plan: Plan) -> bool:
    before, after = change.before.belief, change.after.belief
    stood = compute_status(before, plan.now) in _STANDING
    withdrawn = after.void and not before.void
    return withdrawn or (stood and compute_status(after, plan.now) not in _STANDING)
