"""Hints: what an agent should know before it acts on a fact.

A hint warns that a slot keeps changing, or that a constraint or a person's earlier decision speaks
against the fact. Hints name memories and quote nothing of them, so that they keep no text after
its erasure. Only a hint about dates quotes: it is about words of the call that it answers.
"""

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import islice, pairwise
from operator import attrgetter
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

    @property
    def change_date(self) -> datetime:
        """Return the time since which the value counts as new, if it is another than before."""
        return min(self.created_at, self.valid_from)

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
    return find_summary_hints(summarize_line(steps, at))


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
    hints = (_find_unstable_slot(summary), _find_flip_flop(summary))
    return list(filter(None, hints))


def compute_recent_start(at: datetime) -> datetime:
    """Return the time since when changes count as recent."""
    recent = timedelta(days=UNSTABLE_DAYS)
    return max(at, _FIRST_MOMENT + recent) - recent


def summarize_line(steps: Iterable[ValueStep], at: datetime) -> LineSummary:
    """Return the summary of a line of values, as known at `at`."""
    return ValueHistory(step for step in steps if step.created_at <= at).summarize(at)


class ValueHistory:
    """The steps of a line of values in their order.

    To add a step and to sum up the line costs little, however many steps there are.
    """

    def __init__(self, steps: Iterable[ValueStep]) -> None:
        self._steps = sorted(steps, key=_get_place)
        self._change_dates = sorted(_list_change_dates(self._steps))

    def add_step(self, step: ValueStep) -> None:
        place = bisect_left(self._steps, _get_place(step), key=_get_place)
        first = max(0, place - 1)
        for date in _list_change_dates(self._steps[first : place + 1]):
            del self._change_dates[bisect_left(self._change_dates, date)]
        self._steps.insert(place, step)
        for date in _list_change_dates(self._steps[first : place + 2]):
            insort(self._change_dates, date)

    def summarize(self, at: datetime) -> LineSummary:
        """Return the summary at `at`. All steps must be known by then."""
        since = compute_recent_start(at)
        count = len(self._change_dates) - bisect_right(self._change_dates, since)
        recent = islice(self._find_recent_changes(since), min(count, MAX_NAMED))
        last_values = islice(self._find_last_values(), 3)
        return LineSummary(count, tuple(recent)[::-1], tuple(last_values)[::-1])

    def _find_recent_changes(self, since: datetime) -> Iterator[UUID]:
        """Yield the memories that changed the value since then, last first."""
        for after, before in pairwise(reversed(self._steps)):
            if before.value != after.value and after.change_date > since:
                yield after.memory_id

    def _find_last_values(self) -> Iterator[tuple[UUID, bytes]]:
        """Yield the different values in a row, each with its last memory, last first."""
        later: bytes | None = None
        for step in reversed(self._steps):
            if step.value != later:
                yield step.memory_id, step.value
            later = step.value


def _get_place(step: ValueStep) -> tuple[datetime, datetime, UUID]:
    return step.valid_from, step.asserted_at, step.memory_id


def _list_change_dates(line: Sequence[ValueStep]) -> list[datetime]:
    return [after.change_date for before, after in pairwise(line) if before.value != after.value]


def _find_unstable_slot(summary: LineSummary) -> Hint | None:
    """Return a hint if the value changed often of late."""
    count = summary.recent_changes
    if count < UNSTABLE_CHANGES:
        return None
    sentence = f"changed {count} times in {UNSTABLE_DAYS} days: ask before acting on it"
    return Hint(HintName.UNSTABLE_SLOT, sentence, summary.recent_ids)


def _find_flip_flop(summary: LineSummary) -> Hint | None:
    """Return a hint if the last value is again the one before the last change: A, B, A."""
    if len(summary.last_values) < 3:
        return None
    (before, value), (between, _), (last, last_value) = summary.last_values
    if value != last_value:
        return None
    sentence = "went back to the value before the last one: ask which of the two holds"
    return Hint(HintName.FLIP_FLOP, sentence, (before, between, last))


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
    hints = find_summary_hints(summary)
    conflict = _find_constraint_conflict(plan, chains)
    rejection = _find_similar_rejection(plan, chains, rejections)
    unknown = _find_unknown_ending(plan)
    not_joined = _find_not_joined(plan)
    return [*hints, *filter(None, (conflict, rejection, unknown, not_joined))]


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

    The chains must have absorbed the plans, and the plans come in their order.
    """

    def __init__(self, chains: Chains) -> None:
        self._chains = chains
        self._growing: dict[ValueLine | Slot, _GrowingLine] = {}

    def summarize(self, plan: Plan) -> LineSummary:
        """Return the summary of the plan's line as it was known after the plan."""
        line = find_plan_line(plan, self._chains)
        if line is None:
            return summarize_line((), plan.now)
        name = self._name_line(line)
        if name not in self._growing:
            versions = line.list_versions(self._chains)
            self._growing[name] = _GrowingLine(versions, plan.now)
        return self._growing[name].summarize(plan.now)

    def _name_line(self, line: ValueLine) -> ValueLine | Slot:
        """Return the slot if all versions of the chain are in it: many chains share its line."""
        slot = line.slot
        if slot is None:
            return line
        chain = self._chains.find_chain(line.chain_id)
        is_in_slot = all(version.one_value and version.slot == slot for version in chain)
        return slot if is_in_slot else line


class _GrowingLine:
    """A line of values to which one plan after the other adds its steps."""

    def __init__(self, versions: Iterable[Version], at: datetime) -> None:
        steps = [ValueStep.from_version(v) for v in versions if not v.belief.void]
        later = [step for step in steps if step.created_at > at]
        self._later = deque(sorted(later, key=attrgetter("created_at")))
        self._history = ValueHistory(step for step in steps if step.created_at <= at)

    def summarize(self, at: datetime) -> LineSummary:
        while self._later and self._later[0].created_at <= at:
            self._history.add_step(self._later.popleft())
        return self._history.summarize(at)


def _find_constraint_conflict(plan: Plan, chains: Chains) -> Hint | None:
    """Return a hint if the fact would end a constraint, which stays."""
    constraints: dict[UUID, None] = {}
    for judgment in plan.judgments:
        memory_id = judgment.memory_id
        if not judgment.relation.effect.ends_stored or memory_id == plan.target:
            continue
        if chains.has_version(memory_id) and _is_constraint(chains.get_version(memory_id)):
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


def _find_unknown_ending(plan: Plan) -> Hint | None:
    """Return a hint if the text ends or forgets something, and nothing stored matches."""
    if plan.forgets_unknown:
        sentence = (
            "commands to forget, and nothing stored is surely meant, so nothing was stored or "
            "ended: search for it, then retract or delete it by its id, or erase it with all traces"
        )
        return Hint(HintName.FORGETS_NOTHING_STORED, sentence, ())
    if not plan.ends_unknown:
        return None
    sentence = "says that something ended, but nothing stored matches: name what ended"
    return Hint(HintName.ENDS_NOTHING_STORED, sentence, ())


def _find_not_joined(plan: Plan) -> Hint | None:
    """Return a hint if a repetition says something of itself that the stored memory has not."""
    if not plan.not_taken or plan.target is None:
        return None
    fields = ", ".join(plan.not_taken[:MAX_NAMED])
    sentence = (
        f"repeats memory {plan.target}, which keeps its own {fields}: correct that memory if the "
        "new ones should count"
    )
    return Hint(HintName.REPETITION_NOT_JOINED, sentence, (plan.target,))


def _is_constraint(version: Version) -> bool:
    return version.kind is Kind.CONSTRAINT and not version.belief.void


def find_proposal_targets(plan: Plan, chains: Chains) -> frozenset[UUID]:
    """Return the memories that the plan proposes to change or that judges made it change.

    Their whole chains are included, because a person may have rejected a change of any version.
    Empty for plans that neither leave a review nor follow judges.
    """
    follows_judges = plan.decision.decided_by in (Judge.SIGNALS, Judge.LOCAL, Judge.MODEL)
    targets: Iterable[UUID] = ()
    if plan.review:
        targets = [judgment.memory_id for judgment in plan.review.judgments]
    elif follows_judges and plan.operation in _CHANGING:
        targets = plan.superseded
    memory_ids: set[UUID] = set()
    for target in targets:
        if chains.has_version(target):
            chain_id = chains.get_version(target).chain_id
            memory_ids.update(version.id for version in chains.find_chain(chain_id))
    return frozenset(memory_ids - {plan.target})


_CHANGING = (Operation.UPDATE, Operation.DELETE, Operation.MERGE)


def _find_similar_rejection(
    plan: Plan, chains: Chains, rejections: Sequence[Rejection]
) -> Hint | None:
    """Return a hint if a person rejected the same relation about the same memories or fact.

    `rejections` begin with the latest.
    """
    about = find_proposal_targets(plan, chains)
    relation = plan.review.relation if plan.review else plan.decision.relation
    similar: list[Rejection] = []
    for rejection in rejections:
        if rejection.relation is relation and _is_similar_rejection(rejection, plan, about):
            similar.append(rejection)
    if not about or not similar:
        return None
    decided_at = similar[0].decided_at
    on = f" on {decided_at:%Y-%m-%d}" if decided_at else ""
    sentence = f"a person rejected the like{on} ({relation.value}): ask before doing it again"
    memory_ids = tuple(r.memory_id for r in similar[:MAX_NAMED] if r.memory_id)
    return Hint(HintName.SIMILAR_REJECTED_BEFORE, sentence, memory_ids)


def _is_similar_rejection(rejection: Rejection, plan: Plan, about: frozenset[UUID]) -> bool:
    """Return True if the rejected proposal had the same text, slot or a memory in common."""
    if rejection.about & about:
        return True
    fact = plan.incoming
    if fact is None:
        return False
    same_text = rejection.fuzzy_hash == fact.fuzzy_hash
    same_slot = fact.key is not None and rejection.slot_hash == fact.slot.digest
    return same_text or same_slot
