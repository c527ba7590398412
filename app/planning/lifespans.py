"""What ends with a session or a project: the memories that were given that life, and no others."""

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from app.domain.chains import Chains
from app.domain.fact import Lifespan
from app.planning.explicit import plan_retract
from app.planning.plan import Plan


@dataclass(frozen=True, slots=True)
class NamedLifespan:
    """A session or a project, by the name that its memories carry."""

    lifespan: Lifespan
    name: str

    @property
    def sentence(self) -> str:
        return f"The {self.lifespan} {self.name} ended."


def plan_lifespan_end(
    memory_id: UUID, picture: Chains, *, now: datetime, at: datetime, ahead: bool, reason: str
) -> Plan | None:
    """Ends a memory at `at`, where it holds; with `ahead`, withdraws one that has not begun by then. None where it stays as it is."""
    belief = picture.get_version(memory_id).belief
    if belief.holds_at(at):
        plan = plan_retract(memory_id, picture, now=now, at=at)
    elif ahead and not belief.void and belief.valid_from > at:
        plan = plan_retract(memory_id, picture, now=now, never_true=True)
    else:
        return None
    return replace(plan, decision=replace(plan.decision, reasoning=reason))
