"""A memory that is planned and never stored: the rules and the planner, without a database."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from app.classification import rules
from app.domain.chains import Chains
from app.domain.fact import Fact, Kind, Lifespan
from app.domain.policy import Policy
from app.domain.relation import Judgment
from app.domain.timeline import compute_status
from app.domain.version import Belief
from app.planning.building_blocks import choose_start
from app.planning.plan import IncomingFact, Plan
from app.planning.store import plan_store

NOW = datetime(2026, 6, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)

SESSION: dict[str, Any] = {"session_id": "monday", "lifespan": Lifespan.SESSION}
PROJECT: dict[str, Any] = {"project": "almanac", "lifespan": Lifespan.PROJECT}


def editor_fact(value: str, **more: Any) -> Fact:
    """A preference in a slot that holds one value."""
    said = {"kind": Kind.PREFERENCE, "category": "tooling", "key": "editor", "value": value}
    return Fact(**{"content": f"Uses {value} as editor", **said, **more})


class PlannedMemory:
    """The chains of one agent. Each write is known a second after the one before it."""

    def __init__(self) -> None:
        self.chains = Chains()
        self.now = NOW
        self._contents: dict[UUID, str] = {}

    def next_known_time(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def store(
        self, fact: Fact, *judgments: Judgment, classify: bool = True, **incoming: Any
    ) -> Plan:
        """Store the fact as the service does under its lock: rules first, then the judges."""
        now = self.next_known_time()
        start = choose_start(fact, now)
        certain = rules.judge_fact(fact, self.chains, start, classify=classify, fuzzy=True)
        said = IncomingFact(fact, uuid4(), (*certain, *judgments), classify=classify, **incoming)
        return self.absorb(plan_store(said, self.chains, Policy(), now=now))

    def keep(self, fact: Fact) -> UUID:
        """Store the fact without comparing it with others, and return its id."""
        [inserted] = self.store(fact, classify=False).inserted
        return inserted.version.id

    def absorb(self, plan: Plan) -> Plan:
        plan.absorb_into(self.chains)
        self._contents.update({i.version.id: i.fact.content for i in plan.inserted})
        return plan

    def get_belief(self, memory_id: UUID) -> Belief:
        return self.chains.get_version(memory_id).belief

    def get_status(self, memory_id: UUID) -> str:
        return compute_status(self.get_belief(memory_id), self.now).value

    def list_holding(self, at: datetime | None = None) -> set[str]:
        """Return what holds at that moment, or at the last known time."""
        moment = at or self.now
        held = [v.id for v in self.chains.list_versions() if v.belief.holds_at(moment)]
        return {self._contents[memory_id] for memory_id in held}
