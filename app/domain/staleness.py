"""What an operation ended: those that rest on it are to be looked at again. Nothing ends by that."""

from collections.abc import Set
from dataclasses import dataclass
from uuid import UUID

from app.domain.memory import Ended, Status
from app.domain.plan import Change, Plan
from app.domain.time import status

_STANDING = (Status.CURRENT, Status.SCHEDULED)


@dataclass(frozen=True, slots=True)
class Stale:
    """A memory that holds though something that it rests on has ended."""

    memory_id: UUID
    because: tuple[Ended, ...]

    def by(self, ids: Set[UUID]) -> "Stale":
        """The same, because of these alone."""
        return Stale(self.memory_id, tuple(ended for ended in self.because if ended.memory_id in ids))


def ended_by(plan: Plan) -> tuple[UUID, ...]:
    """The stored versions that stood before the operation and no longer do, or that it withdrew."""
    return tuple(change.after.id for change in plan.changed if _ends(change, plan))


def _ends(change: Change, plan: Plan) -> bool:
    before, after = change.before.belief, change.after.belief
    stood = status(before, plan.now) in _STANDING
    withdrawn = after.void and not before.void
    return withdrawn or (stood and status(after, plan.now) not in _STANDING)
