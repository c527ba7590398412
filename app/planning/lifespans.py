"""Ends of sessions and projects, which end the memories of that lifespan and no others."""

from dataclasses import dataclass
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
    memory_id: UUID,
    chains: Chains,
    *,
    now: datetime,
    at: datetime,
    ahead: bool,
    reason: str,
) -> Plan | None:
    """Plan that a memory that holds at `at` ends then.

    With `ahead`, a memory that begins later is withdrawn. Return None if the memory does not
    change.
    """
    belief = chains.get_version(memory_id).belief
    if belief.holds_at(at):
        return plan_retract(memory_id, chains, now=now, at=at).with_reasoning(reason)
    if ahead and not belief.void and belief.valid_from > at:
        return plan_retract(memory_id, chains, now=now, never_true=True).with_reasoning(reason)
    return None
