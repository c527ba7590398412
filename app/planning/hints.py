"""Hints: what an agent should know before it acts on a fact.

A hint warns that a slot keeps changing, or that a constraint or a person's earlier decision speaks
against the fact. Hints name memories and quote nothing of them, so that they keep no text after
its erasure. Only a hint about dates quotes: it is about words of the call that it answers.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from uuid import UUID

from app.domain.chains import Chains
from app.domain.fact import Kind, Slot
from app.domain.relation import Judge, Operation, Relation
from app.domain.version import Memory, Version
from app.planning.plan import Plan

UNSTABLE_CHANGES = 5
UNSTABLE_DAYS = 30
_FIRST_MOMENT = datetime.min.replace(tzinfo=UTC)
MAX_NAMED = 10


class HintName(StrEnum):
    """The kinds of warnings."""

    UNSTABLE_SLOT = "unstable_slot"
    FLIP_FLOP = "flip_flop"
    CONFLICTS_WITH_CONSTRAINT = "conflicts_with_constraint"
    SIMILAR_REJECTED_BEFORE = "similar_rejected_before"
    ENDS_NOTHING_STORED = "ends_nothing_stored"
    FORGETS_NOTHING_STORED = "forgets_nothing_stored"
    REPETITION_NOT_JOINED = "repetition_not_joined"
    DATE_LEFT_OPEN = "date_left_open"
    LANGUAGE_NOT_READ = "language_not_read"


@dataclass(frozen=True, slots=True)
class Hint:
    """A warning in a sentence, and the memories it is about."""

    name: HintName
    sentence: str
    memory_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class ValueStep:
    """One value in a line of values: the start of its truth, of that assertion, and of its storage.

    `value` is a hash; an erased version uses its own id, so it equals no other.
    """

    memory_id: UUID
    valid_from: datetime
    asserted_at: datetime
    created_at: datetime
    value: bytes

    @classmethod
    def from_version(cls, version: Version) -> "ValueStep":
        value = version.id.bytes if version.erased_at else version.value_hash or version.folded_hash
        return cls(
            memory_id=version.id,
            valid_from=version.belief.valid_from,
            asserted_at=version.belief.asserted_at,
            created_at=version.created_at,
            value=value,
        )


@dataclass(frozen=True, slots=True)
class PlacedStep:
    """A step with its chain.

    `slot` is the digest of its slot, if that holds one value at a time.
    """

    step: ValueStep
    chain_id: UUID
    slot: bytes | None


@dataclass(frozen=True, slots=True)
class Rejection:
    """A proposal that a person rejected.

    `about` are the memories that it concerned, `memory_id` is one of them. The hashes are of the
    fact that it wanted to store.
    """

    relation: Relation
    decided_at: datetime | None
    about: frozenset[UUID]
    memory_id: UUID | None
    fuzzy_hash: bytes | None
    slot_hash: bytes | None


# --- lines of values ---------------------------------------------------------------------------


def find_line_hints(steps: Iterable[ValueStep], at: datetime) -> list[Hint]:
    """Return the hints about the values of one slot or chain, as known at `at`.

    The caller must leave out withdrawn versions.
    """
    return find_summary_hints(summarize_line(order_steps(steps), at))


@dataclass(frozen=True, slots=True)
class LineSummary:
    """What hints need to know of a line of values.

    `recent_changes` counts the changes that became known in the last UNSTABLE_DAYS and took effect
    in them or later: history that becomes known late makes nothing unstable. `recent_ids` are the
    last MAX_NAMED of them. `last_values` are the last three different values in a row, each with
    the last memory that had it.
    """

    recent_changes: int
    recent_ids: tuple[UUID, ...]
    last_values: tuple[tuple[UUID, bytes], ...]


def find_summary_hints(summary: LineSummary) -> list[Hint]:
    """Return the hints about the values of one slot or chain."""
    hints: list[Hint] = []
    count = summary.recent_changes
    if count >= UNSTABLE_CHANGES:
        sentence = f"changed {count} times in {UNSTABLE_DAYS} days: ask before acting on it"
        hints.append(Hint(HintName.UNSTABLE_SLOT, sentence, summary.recent_ids))
    values = [value for _, value in summary.last_values]
    if len(values) == 3 and values[0] == values[2]:
        sentence = "went back to the value before the last one: ask which of the two holds"
        memory_ids = tuple(memory_id for memory_id, _ in summary.last_values)
        hints.append(Hint(HintName.FLIP_FLOP, sentence, memory_ids))
    return hints


def compute_recent_start(at: datetime) -> datetime:
    """Return the time since when changes count as recent."""
    recent = timedelta(days=UNSTABLE_DAYS)
    return max(at, _FIRST_MOMENT + recent) - recent


def order_steps(steps: Iterable[ValueStep]) -> list[ValueStep]:
    """Return the steps of a line in the order in which they became true."""
    return sorted(steps, key=lambda step: (step.valid_from, step.asserted_at, step.memory_id))


def summarize_line(line: Sequence[ValueStep], at: datetime) -> LineSummary:
    """Return the summary of a line of values in their order, as known at `at`."""
    since = compute_recent_start(at)
    changed: list[UUID] = []
    last_values: list[tuple[UUID, bytes]] = []
    later: ValueStep | None = None
    for step in reversed(line):
        if step.created_at > at:
            continue
        if later is None or step.value != later.value:
            if later is not None and later.created_at > since and later.valid_from > since:
                changed.append(later.memory_id)
            if len(last_values) < 3:
                last_values.append((step.memory_id, step.value))
        later = step
    recent_ids = tuple(changed[:MAX_NAMED])
    return LineSummary(len(changed), recent_ids[::-1], tuple(last_values)[::-1])


MIN_STEPS = 3  # fewer make neither a flip-flop nor an unstable slot


def find_memory_hints(
    memories: Iterable[Memory], others: Iterable[PlacedStep], at: datetime
) -> dict[UUID, list[Hint]]:
    """Return the hints of each of these memories that has any.

    `others` holds the versions of their chains and slots.
    """
    lines: dict[UUID | bytes, dict[UUID, ValueStep]] = defaultdict(dict)
    for other in others:
        lines[other.chain_id][other.step.memory_id] = other.step
        if other.slot is not None:
            lines[other.slot][other.step.memory_id] = other.step
    hints_by_memory: dict[UUID, list[Hint]] = {}
    hints_by_slot: dict[bytes, list[Hint]] = {}
    for memory in memories:
        steps = lines[memory.chain_id]
        slot = memory.fact.slot.digest
        in_slot = lines[slot] if memory.fact.one_value else {}
        if not in_slot or not steps.keys() <= in_slot.keys():
            hints = find_line_hints((steps | in_slot).values(), at)
        elif slot in hints_by_slot:
            # Chains that lie in one slot have the same line.
            hints = hints_by_slot[slot]
        else:
            hints = hints_by_slot[slot] = find_line_hints(in_slot.values(), at)
        if hints:
            hints_by_memory[memory.id] = hints
    return hints_by_memory


# --- plans -------------------------------------------------------------------------------------


def find_plan_hints(
    plan: Plan,
    chains: Chains,
    rejections: Sequence[Rejection] = (),
    summary: LineSummary | None = None,
) -> list[Hint]:
    """Return what speaks against acting on what was just written.

    The chains must have absorbed the plan. `rejections` are the reviews that people rejected about
    the memories of `find_proposal_targets`. `summary` is that of the plan's line; None takes
    it from the chains.
    """
    if summary is None:
        summary = PlanLines(chains).summarize(plan)
    hints = (
        *find_summary_hints(summary),
        _find_constraint_conflict(plan, chains),
        _find_similar_rejection(plan, chains, rejections),
        *_list_left_undone(plan),
    )
    return list(filter(None, hints))


@dataclass(frozen=True, slots=True)
class ValueLine:
    """The values of one chain, and of one slot if that holds one value at a time."""

    chain_id: UUID
    slot: Slot | None

    def list_versions(self, chains: Chains) -> Iterable[Version]:
        """Return the versions of the line, each once."""
        line = chains.find_chain(self.chain_id)
        if self.slot is not None:
            line += [v for v in chains.find_in_slot(self.slot) if v.one_value]
        distinct = {v.id: v for v in line}
        return distinct.values()

    def list_chain_ids(self, chains: Chains) -> set[UUID]:
        return {version.chain_id for version in self.list_versions(chains)}


def find_plan_line(plan: Plan, chains: Chains) -> ValueLine | None:
    """Return the line of values that the plan is about; None if it is about no memory."""
    ended = next(iter(plan.superseded), None)
    about = ended if plan.operation is Operation.DELETE else plan.target or ended
    if about is None or not chains.has_version(about):
        return None
    version = chains.get_version(about)
    return ValueLine(version.chain_id, version.slot if version.one_value else None)


class PlanLines:
    """The lines of values that plans are about, each read once for all plans.

    The chains must have absorbed the plans.
    """

    def __init__(self, chains: Chains) -> None:
        self._chains = chains
        self._steps: dict[ValueLine | Slot, list[ValueStep]] = {}

    def summarize(self, plan: Plan) -> LineSummary:
        """Return the summary of the plan's line as it was known after the plan."""
        line = find_plan_line(plan, self._chains)
        if line is None:
            return summarize_line((), plan.now)
        if line not in self._steps:
            chain = self._chains.find_chain(line.chain_id)
            name: ValueLine | Slot = line
            if line.slot and all(v.one_value and v.slot == line.slot for v in chain):
                # Many chains share the line of their slot.
                name = line.slot
            if name not in self._steps:
                versions = line.list_versions(self._chains)
                steps = [ValueStep.from_version(v) for v in versions if not v.belief.void]
                self._steps[name] = order_steps(steps)
            self._steps[line] = self._steps[name]
        return summarize_line(self._steps[line], plan.now)


def _find_constraint_conflict(plan: Plan, chains: Chains) -> Hint | None:
    """Return a hint if the fact would end a constraint, which stays."""
    constraints: dict[UUID, None] = {}
    for judgment in plan.judgments:
        memory_id = judgment.memory_id
        if not judgment.relation.effect.ends_stored or memory_id == plan.target:
            continue
        if not chains.has_version(memory_id):
            continue
        version = chains.get_version(memory_id)
        if version.kind is Kind.CONSTRAINT and not version.belief.void:
            constraints[memory_id] = None
    if not constraints:
        return None
    named = ", ".join(map(str, constraints))
    sentence = f"stands against what constraint {named} says, which stays: ask before acting on it"
    return Hint(HintName.CONFLICTS_WITH_CONSTRAINT, sentence, tuple(constraints))


def find_date_hints(left_open: Sequence[str]) -> list[Hint]:
    """Return a hint about the words of a fact that may date it or may not; none if all is clear."""
    if not left_open:
        return []
    quoted = ", ".join(f"“{words}”" for words in left_open[:MAX_NAMED])
    sentence = (
        f"{quoted} may say when this holds, or something else: it was not dated by these words; "
        "give valid_from or valid_until if it should be"
    )
    return [Hint(HintName.DATE_LEFT_OPEN, sentence, ())]


def build_language_hint() -> Hint:
    """Return the hint about a fact that nobody who judged it could read."""
    sentence = (
        "is in a language that is not read here (docs/operate/languages.md): whether it ends, "
        "corrects or repeats something was not judged; set a model, or give entity and key"
    )
    return Hint(HintName.LANGUAGE_NOT_READ, sentence, ())


def _list_left_undone(plan: Plan) -> list[Hint]:
    """Return hints about an end, a forgetting or details that the plan leaves out."""
    hints: list[Hint] = []
    if plan.forgets_unknown:
        sentence = (
            "commands to forget, and nothing stored is surely meant, so nothing was stored or "
            "ended: search for it, then retract or delete it by its id, or erase it with all traces"
        )
        hints.append(Hint(HintName.FORGETS_NOTHING_STORED, sentence, ()))
    elif plan.ends_unknown:
        sentence = "says that something ended, but nothing stored matches: name what ended"
        hints.append(Hint(HintName.ENDS_NOTHING_STORED, sentence, ()))
    if plan.not_taken and plan.target:
        fields = ", ".join(plan.not_taken[:MAX_NAMED])
        sentence = (
            f"repeats memory {plan.target}, which keeps its own {fields}: correct that memory if "
            "the new ones should count"
        )
        hints.append(Hint(HintName.REPETITION_NOT_JOINED, sentence, (plan.target,)))
    return hints


def find_proposal_targets(plan: Plan, chains: Chains) -> frozenset[UUID]:
    """Return the memories that the plan proposes to change or that judges made it change.

    Their whole chains are included, because a person may have rejected a change of any version.
    Empty for plans that neither leave a review nor follow judges.
    """
    follows_judges = plan.decision.decided_by in (Judge.SIGNALS, Judge.LOCAL, Judge.MODEL)
    changes = plan.operation in (Operation.UPDATE, Operation.DELETE, Operation.MERGE)
    targets: Iterable[UUID] = ()
    if plan.review:
        targets = [judgment.memory_id for judgment in plan.review.judgments]
    elif follows_judges and changes:
        targets = plan.superseded
    memory_ids: set[UUID] = set()
    for target in targets:
        if chains.has_version(target):
            chain_id = chains.get_version(target).chain_id
            memory_ids.update(version.id for version in chains.find_chain(chain_id))
    return frozenset(memory_ids - {plan.target})


def _find_similar_rejection(
    plan: Plan, chains: Chains, rejections: Sequence[Rejection]
) -> Hint | None:
    """Return a hint if a person rejected the same relation about the same memories or fact.

    `rejections` begin with the latest.
    """
    about = find_proposal_targets(plan, chains)
    relation = plan.review.relation if plan.review else plan.decision.relation
    fact = plan.incoming
    slot_hash = fact.slot.digest if fact and fact.key is not None else None
    similar: list[Rejection] = []
    for rejection in rejections:
        same_text = fact is not None and rejection.fuzzy_hash == fact.fuzzy_hash
        same_slot = slot_hash is not None and rejection.slot_hash == slot_hash
        is_similar = same_text or same_slot or not rejection.about.isdisjoint(about)
        if rejection.relation is relation and is_similar:
            similar.append(rejection)
    if not about or not similar:
        return None
    decided_at = similar[0].decided_at
    on = f" on {decided_at:%Y-%m-%d}" if decided_at else ""
    sentence = f"a person rejected the like{on} ({relation.value}): ask before doing it again"
    memory_ids = tuple(r.memory_id for r in similar[:MAX_NAMED] if r.memory_id)
    return Hint(HintName.SIMILAR_REJECTED_BEFORE, sentence, memory_ids)
