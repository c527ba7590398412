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

from app.domain.chains import Chains
from app.domain.fact import Kind
from app.domain.relation import Judge, Operation, Relation
from app.domain.version import Memory, Version
from app.planning.plan import Plan

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
class ValueStep:
    """One value in a line of values: since when it is true, since when that start is asserted, since when it is known. `value` is a hash;
    of what was erased, something like nothing else."""

    memory_id: UUID
    valid_from: datetime
    asserted_at: datetime
    created_at: datetime
    value: bytes

    @classmethod
    def from_version(cls, version: Version) -> "ValueStep":
        value = version.id.bytes if version.erased_at else version.value_hash or version.folded_hash
        return cls(
            version.id,
            version.belief.valid_from,
            version.belief.asserted_at,
            version.created_at,
            value,
        )


@dataclass(frozen=True, slots=True)
class PlacedStep:
    """A step with its chain, and the digest of its slot where that holds one value at a time."""

    step: ValueStep
    chain_id: UUID
    slot: bytes | None


@dataclass(frozen=True, slots=True)
class Rejection:
    """A proposal that a person rejected: of which relation, about which memories, and what it wanted to store."""

    relation: Relation
    decided_at: datetime | None
    about: frozenset[UUID]
    memory_id: UUID | None
    fuzzy_hash: bytes | None
    slot_hash: bytes | None


# --- a line of values --------------------------------------------------------------------------------------------------


def find_line_hints(steps: Iterable[ValueStep], at: datetime) -> list[Hint]:
    """What the values of one slot or chain, as known at `at`, warn of. Withdrawn versions are to be left out."""
    line = sorted(
        (s for s in steps if s.created_at <= at), key=lambda s: (s.valid_from, s.asserted_at)
    )
    return [hint for hint in (_find_unstable_slot(line, at), _find_flip_flop(line)) if hint]


def _find_unstable_slot(line: Sequence[ValueStep], at: datetime) -> Hint | None:
    """Changes became known in the window and took effect in it or after: history that is told late makes nothing unstable."""
    since = at - timedelta(days=UNSTABLE_DAYS)
    changes = [run[0] for run in _group_repetitions(line)[1:]]
    recent = [step for step in changes if min(step.created_at, step.valid_from) > since]
    if len(recent) < UNSTABLE_CHANGES:
        return None
    sentence = f"changed {len(recent)} times in {UNSTABLE_DAYS} days: ask before acting on it"
    return Hint(
        HintName.UNSTABLE_SLOT, sentence, tuple(step.memory_id for step in recent[-MAX_NAMED:])
    )


def _find_flip_flop(line: Sequence[ValueStep]) -> Hint | None:
    """The last value is again the one before the last change: A, B, A."""
    last = _group_repetitions(line)[-3:]
    if len(last) < 3 or last[0][0].value != last[2][0].value:
        return None
    sentence = "went back to the value before the last one: ask which of the two holds"
    return Hint(HintName.FLIP_FLOP, sentence, tuple(run[-1].memory_id for run in last))


def _group_repetitions(line: Sequence[ValueStep]) -> list[list[ValueStep]]:
    """The line without repetitions: neighbours of one value belong together."""
    return [list(run) for _, run in groupby(line, key=lambda step: step.value)]


MIN_STEPS = 3  # fewer make neither a flip-flop nor an unstable slot


def find_memory_hints(
    memories: Iterable[Memory], others: Iterable[PlacedStep], at: datetime
) -> dict[UUID, list[Hint]]:
    """The hints of each of these memories that has any; `others` holds the versions of their chains and slots."""
    lines: dict[UUID | bytes, dict[UUID, ValueStep]] = defaultdict(dict)
    for other in others:
        for line in (other.chain_id, other.slot):
            if line is not None:
                lines[line][other.step.memory_id] = other.step
    hinted = {
        m.id: lines[m.chain_id] | (lines[m.fact.slot.digest] if m.fact.one_value else {})
        for m in memories
    }
    return {
        memory_id: hints
        for memory_id, steps in hinted.items()
        if steps and (hints := find_line_hints(steps.values(), at))
    }


# --- a plan ------------------------------------------------------------------------------------------------------------


def find_plan_hints(plan: Plan, picture: Chains, rejected: Sequence[Rejection] = ()) -> list[Hint]:
    """What speaks against acting on what was just written. The picture has absorbed the plan; `rejected` is what people rejected
    about the memories of `asks_about`."""
    steps = [
        ValueStep.from_version(v) for v in _list_line_versions(plan, picture) if not v.belief.void
    ]
    found = [
        *find_line_hints(steps, plan.now),
        _find_constraint_conflict(plan, picture),
        _find_similar_rejection(plan, picture, rejected),
    ]
    return [hint for hint in found if hint]


def _list_line_versions(plan: Plan, picture: Chains) -> Iterable[Version]:
    """The versions of the slot or the chain that the plan is about."""
    about = plan.target or next(iter(plan.superseded), None)
    if about is None or not picture.has_version(about):
        return ()
    version = picture.get_version(about)
    chain = picture.find_chain(version.chain_id)
    if not version.one_value:
        return chain
    return {
        v.id: v for v in (*chain, *(v for v in picture.find_in_slot(version.slot) if v.one_value))
    }.values()


def _find_constraint_conflict(plan: Plan, picture: Chains) -> Hint | None:
    against = [
        j.memory_id
        for j in plan.judgments
        if j.relation.retires and picture.has_version(j.memory_id)
    ]
    constraints = [
        i
        for i in dict.fromkeys(against)
        if i != plan.target and _is_standing_constraint(picture.get_version(i))
    ]
    if not constraints:
        return None
    named = ", ".join(map(str, constraints))
    sentence = f"stands against what constraint {named} says, which stays: ask before acting on it"
    return Hint(HintName.CONFLICTS_WITH_CONSTRAINT, sentence, tuple(constraints))


def _is_standing_constraint(version: Version) -> bool:
    return version.kind is Kind.CONSTRAINT and not version.belief.void


def find_proposal_targets(plan: Plan, picture: Chains) -> frozenset[UUID]:
    """The memories that the plan proposes something of or that judges made it change, with their chains: what a person may have
    rejected before. Empty for plans that neither leave a review nor follow judges."""
    named: Iterable[UUID] = ()
    if plan.review:
        named = [j.memory_id for j in plan.review.judgments]
    elif plan.decision.decided_by in (Judge.SIGNALS, Judge.MODEL) and plan.operation in _CHANGING:
        named = plan.superseded
    chains = {picture.get_version(i).chain_id for i in named if picture.has_version(i)}
    return frozenset(
        v.id for chain_id in chains for v in picture.find_chain(chain_id) if v.id != plan.target
    )


_CHANGING = (Operation.UPDATE, Operation.DELETE, Operation.MERGE)


def _find_similar_rejection(
    plan: Plan, picture: Chains, rejected: Sequence[Rejection]
) -> Hint | None:
    """The latest rejection of the same relation about the same memories, or of the same fact or slot."""
    about = find_proposal_targets(plan, picture)
    relation = plan.review.relation if plan.review else plan.decision.relation
    before = [
        r for r in rejected if r.relation is relation and _is_similar_rejection(r, plan, about)
    ]
    if not about or not before:
        return None
    latest = before[0]
    on = f" on {latest.decided_at:%Y-%m-%d}" if latest.decided_at else ""
    sentence = f"a person rejected the like{on} ({relation.value}): ask before doing it again"
    return Hint(
        HintName.SIMILAR_REJECTED_BEFORE,
        sentence,
        tuple(r.memory_id for r in before[:MAX_NAMED] if r.memory_id),
    )


def _is_similar_rejection(rejected: Rejection, plan: Plan, about: frozenset[UUID]) -> bool:
    fact = plan.incoming
    same_text = fact is not None and rejected.fuzzy_hash == fact.fuzzy_hash
    same_slot = fact is not None and fact.key is not None and rejected.slot_hash == fact.slot.digest
    return same_text or same_slot or bool(rejected.about & about)
