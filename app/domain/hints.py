"""What an agent should know before it acts on a fact: that its slot keeps changing, or that a person or a constraint stands against it.

Hints name memories and quote nothing, so that no text outlives its erasure in them.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import groupby
from uuid import UUID

from app.domain.memory import Kind, Memory, Operation, Version
from app.domain.picture import Picture
from app.domain.plan import Plan
from app.domain.relation import Judge, Relation

UNSTABLE_CHANGES = 5
UNSTABLE_DAYS = 30
MAX_NAMED = 10


class HintName(StrEnum):
    """What a hint warns of."""

    UNSTABLE_SLOT = "unstable_slot"
    FLIP_FLOP = "flip_flop"
    CONFLICTS_WITH_CONSTRAINT = "conflicts_with_constraint"
    SIMILAR_REJECTED_BEFORE = "similar_rejected_before"


@dataclass(frozen=True, slots=True)
class Hint:
    """A warning in a sentence, and the memories it is about."""

    name: HintName
    sentence: str
    memory_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One value in a line of values: since when it is true, since when that start is asserted, since when it is known. `value` is a hash;
    of what was erased, something like nothing else."""

    memory_id: UUID
    valid_from: datetime
    asserted_at: datetime
    created_at: datetime
    value: bytes

    @classmethod
    def of(cls, version: Version) -> "Step":
        value = version.id.bytes if version.erased_at else version.value_hash or version.folded_hash
        return cls(version.id, version.belief.valid_from, version.belief.asserted_at, version.created_at, value)


@dataclass(frozen=True, slots=True)
class Placed:
    """A step with its chain, and the digest of its slot where that holds one value at a time."""

    step: Step
    chain_id: UUID
    slot: bytes | None


@dataclass(frozen=True, slots=True)
class Rejected:
    """A proposal that a person rejected: of which relation, about which memories, and what it wanted to store."""

    relation: Relation
    decided_at: datetime | None
    about: frozenset[UUID]
    memory_id: UUID | None
    fuzzy_hash: bytes | None
    slot_hash: bytes | None


# --- a line of values --------------------------------------------------------------------------------------------------


def of_line(steps: Iterable[Step], at: datetime) -> list[Hint]:
    """What the values of one slot or chain, as known at `at`, warn of. Withdrawn versions are to be left out."""
    line = sorted((s for s in steps if s.created_at <= at), key=lambda s: (s.valid_from, s.asserted_at))
    return [hint for hint in (_unstable(line, at), _flip_flop(line)) if hint]


def _unstable(line: Sequence[Step], at: datetime) -> Hint | None:
    """Changes became known in the window and took effect in it or after: history that is told late makes nothing unstable."""
    since = at - timedelta(days=UNSTABLE_DAYS)
    changes = [run[0] for run in _runs(line)[1:]]
    recent = [step for step in changes if min(step.created_at, step.valid_from) > since]
    if len(recent) < UNSTABLE_CHANGES:
        return None
    sentence = f"changed {len(recent)} times in {UNSTABLE_DAYS} days: ask before acting on it"
    return Hint(HintName.UNSTABLE_SLOT, sentence, tuple(step.memory_id for step in recent[-MAX_NAMED:]))


def _flip_flop(line: Sequence[Step]) -> Hint | None:
    """The last value is again the one before the last change: A, B, A."""
    last = _runs(line)[-3:]
    if len(last) < 3 or last[0][0].value != last[2][0].value:
        return None
    sentence = "went back to the value before the last one: ask which of the two holds"
    return Hint(HintName.FLIP_FLOP, sentence, tuple(run[-1].memory_id for run in last))


def _runs(line: Sequence[Step]) -> list[list[Step]]:
    """The line without repetitions: neighbours of one value belong together."""
    return [list(run) for _, run in groupby(line, key=lambda step: step.value)]


MIN_STEPS = 3  # fewer make neither a flip-flop nor an unstable slot


def of_memories(memories: Iterable[Memory], others: Iterable[Placed], at: datetime) -> dict[UUID, list[Hint]]:
    """The hints of each of these memories that has any; `others` holds the versions of their chains and slots."""
    lines: dict[UUID | bytes, dict[UUID, Step]] = defaultdict(dict)
    for other in others:
        for line in (other.chain_id, other.slot):
            if line is not None:
                lines[line][other.step.memory_id] = other.step
    hinted = {m.id: lines[m.chain_id] | (lines[m.fact.slot.digest] if m.fact.one_value else {}) for m in memories}
    return {memory_id: hints for memory_id, steps in hinted.items() if steps and (hints := of_line(steps.values(), at))}


# --- a plan ------------------------------------------------------------------------------------------------------------


def of_plan(plan: Plan, picture: Picture, rejected: Sequence[Rejected] = ()) -> list[Hint]:
    """What speaks against acting on what was just written. The picture has absorbed the plan; `rejected` is what people rejected
    about the memories of `asks_about`."""
    steps = [Step.of(v) for v in _line(plan, picture) if not v.belief.void]
    found = [*of_line(steps, plan.now), _conflict(plan, picture), _rejected(plan, picture, rejected)]
    return [hint for hint in found if hint]


def _line(plan: Plan, picture: Picture) -> Iterable[Version]:
    """The versions of the slot or the chain that the plan is about."""
    about = plan.target or next(iter(plan.superseded), None)
    if about is None or not picture.has(about):
        return ()
    version = picture.version(about)
    chain = picture.chain(version.chain_id)
    if not version.one_value:
        return chain
    return {v.id: v for v in (*chain, *(v for v in picture.in_slot(version.slot) if v.one_value))}.values()


def _conflict(plan: Plan, picture: Picture) -> Hint | None:
    against = [j.memory_id for j in plan.judgments if j.relation.retires and picture.has(j.memory_id)]
    constraints = [i for i in dict.fromkeys(against) if i != plan.target and _binds(picture.version(i))]
    if not constraints:
        return None
    named = ", ".join(map(str, constraints))
    sentence = f"stands against what constraint {named} says, which stays: ask before acting on it"
    return Hint(HintName.CONFLICTS_WITH_CONSTRAINT, sentence, tuple(constraints))


def _binds(version: Version) -> bool:
    return version.kind is Kind.CONSTRAINT and not version.belief.void


def asks_about(plan: Plan, picture: Picture) -> frozenset[UUID]:
    """The memories that the plan proposes something of or that judges made it change, with their chains: what a person may have
    rejected before. Empty for plans that neither leave a review nor follow judges."""
    named: Iterable[UUID] = ()
    if plan.review:
        named = [j.memory_id for j in plan.review.judgments]
    elif plan.decision.decided_by in (Judge.SIGNALS, Judge.MODEL) and plan.operation in _CHANGING:
        named = plan.superseded
    chains = {picture.version(i).chain_id for i in named if picture.has(i)}
    return frozenset(v.id for chain_id in chains for v in picture.chain(chain_id) if v.id != plan.target)


_CHANGING = (Operation.UPDATE, Operation.DELETE, Operation.MERGE)


def _rejected(plan: Plan, picture: Picture, rejected: Sequence[Rejected]) -> Hint | None:
    """The latest rejection of the same relation about the same memories, or of the same fact or slot."""
    about = asks_about(plan, picture)
    relation = plan.review.relation if plan.review else plan.decision.relation
    before = [r for r in rejected if r.relation is relation and _alike(r, plan, about)]
    if not about or not before:
        return None
    latest = before[0]
    on = f" on {latest.decided_at:%Y-%m-%d}" if latest.decided_at else ""
    sentence = f"a person rejected the like{on} ({relation.value}): ask before doing it again"
    return Hint(HintName.SIMILAR_REJECTED_BEFORE, sentence, tuple(r.memory_id for r in before[:MAX_NAMED] if r.memory_id))


def _alike(rejected: Rejected, plan: Plan, about: frozenset[UUID]) -> bool:
    fact = plan.incoming
    same_text = fact is not None and rejected.fuzzy_hash == fact.fuzzy_hash
    same_slot = fact is not None and fact.key is not None and rejected.slot_hash == fact.slot.digest
    return same_text or same_slot or bool(rejected.about & about)
