"""What a write will do, as a value: pure functions from a picture to a plan. `tests/oracle.py` states the same rules as a program."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from app.domain.errors import Conflict, DoesNotHold, InvalidFact, OthersInBetween, Withdrawn
from app.domain.memory import Belief, Fact, Memory, Operation, Slot, Tier, Version
from app.domain.picture import Picture
from app.domain.relation import Decision, Judge, Judgment, Relation
from app.domain.time import holding, in_order, next_after, settle


@dataclass(frozen=True, slots=True)
class Policy:
    """The settings a plan depends on."""

    max_closures: int = 3
    core_inheritance: str = "any"


@dataclass(frozen=True, slots=True)
class Insertion:
    """A row to insert: the fact with every default filled in, and its version."""

    fact: Fact
    version: Version


@dataclass(frozen=True, slots=True)
class Change:
    """A stored version before and after; its old belief is kept with `known_until` = the plan's `now`."""

    before: Version
    after: Version

    @property
    def moved(self) -> bool:
        """Whether its interval in valid time is another."""
        old, new = self.before.belief, self.after.belief
        return (old.valid_from, old.valid_until) != (new.valid_from, new.valid_until)


@dataclass(frozen=True, slots=True)
class Plan:
    """What one operation does at known time `now`. `target` is the memory answered with, `superseded` what it ended."""

    operation: Operation
    now: datetime
    decision: Decision
    target: UUID | None = None
    superseded: tuple[UUID, ...] = ()
    inserted: tuple[Insertion, ...] = ()
    changed: tuple[Change, ...] = ()
    reinforced: UUID | None = None
    incoming: Fact | None = None
    metadata: dict[str, Any] | None = None
    judgments: tuple[Judgment, ...] = ()

    @property
    def adjusted(self) -> tuple[UUID, ...]:
        """Other versions whose interval moved."""
        named = {self.target, *self.superseded}
        return tuple(c.after.id for c in self.changed if c.moved and c.after.id not in named)

    @property
    def touched(self) -> tuple[UUID, ...]:
        """Stored versions that it read to decide or changed."""
        ids = [*self.superseded, *(c.after.id for c in self.changed), *([self.reinforced] if self.reinforced else [])]
        return tuple(dict.fromkeys(ids))

    @property
    def versions(self) -> tuple[Version, ...]:
        """Every version as it stands after the plan, for the picture to absorb."""
        return (*(i.version for i in self.inserted), *(c.after for c in self.changed))


def inserted_memories(plans: Iterable[Plan], picture: Picture) -> dict[UUID, Memory]:
    """What the plans insert, as a read after all of them answers it. The picture has absorbed them."""
    ends = sorted((v for v in picture.versions() if v.belief.superseded_by), key=lambda v: (v.belief.valid_from, v.id))
    superseded = {v.belief.superseded_by: v.id for v in ends}
    inserted = [(i.fact, picture.version(i.version.id)) for plan in plans for i in plan.inserted]
    return {version.id: _memory(fact, version, superseded.get(version.id)) for fact, version in inserted}


def _memory(fact: Fact, version: Version, supersedes_id: UUID | None) -> Memory:
    belief = version.belief
    fact = replace(fact, tier=belief.tier, valid_from=belief.valid_from, valid_until=belief.said_until)
    return Memory(version.id, version.chain_id, fact, belief, version.created_at, version.revision, supersedes_id)


# --- storing -----------------------------------------------------------------------------------------------------------


def plan_store(
    fact: Fact, picture: Picture, judgments: Sequence[Judgment], policy: Policy, *, now: datetime, new_id: UUID, classify: bool
) -> Plan:
    """Storing one fact (DESIGN §2, §3). With `classify`, a fact whose slot holds one value joins that slot's chain; otherwise
    a judged duplicate is reinforced or amended, and everything else added.

    Raises InvalidFact for an end that does not lie after the start.
    """
    start = _start(fact, now)
    chains = picture.chains_of_value(fact.slot) if classify and fact.one_value else []
    plan = _place(fact, chains, picture, policy, start=start, now=now, new_id=new_id) if chains else None
    plan = plan or _known_already(fact, picture, judgments, start=start, now=now)
    plan = plan or _add(fact, picture, new_id=new_id, chain_id=new_id, start=start, now=now)
    return replace(plan, incoming=fact, judgments=tuple(judgments))


def plan_import(fact: Fact, picture: Picture, *, now: datetime, new_id: UUID) -> Plan:
    """One version as it is, never deduplicated; versions of one single-valued slot form a chain."""
    chains = picture.chains_of_value(fact.slot) if fact.one_value else []
    chain_id = chains[0][0].chain_id if chains else new_id
    plan = _add(fact, picture, new_id=new_id, chain_id=chain_id, start=_start(fact, now), now=now)
    return replace(plan, incoming=fact, decision=Decision(Relation.NONE, 1.0, Judge.CALLER, "Imported as given."))


def _start(fact: Fact, now: datetime) -> datetime:
    start = now if fact.valid_from is None else fact.valid_from
    _check_end(start, fact.valid_until)
    return start


def _check_end(start: datetime, end: datetime | None) -> None:
    if end is not None and end <= start:
        raise InvalidFact(f"valid_until ({end.isoformat()}) must lie after valid_from ({start.isoformat()}).")


def _place(
    fact: Fact, chains: Sequence[Sequence[Version]], picture: Picture, policy: Policy, *, start: datetime, now: datetime, new_id: UUID
) -> Plan:
    """Puts a fact at its place in the oldest chain of its slot; what holds in the slot's other chains ends there."""
    chain = chains[0]
    held, later = holding(chain, start), next_after(chain, start)
    if held and held.says(fact) and (plan := _renew(held, fact, picture, now)):
        return plan
    if later and later.says(fact) and _can_start_earlier(later, fact):
        return _start_earlier(later, fact, picture, start=start, now=now)
    ends_held = held is not None and (later is None or later.belief.valid_from > now)
    others = [v for other in chains[1:] if (v := holding(other, start))]
    closing = others[: max(0, policy.max_closures - ends_held)]
    ended = [*([held] if held and ends_held else []), *closing]
    if not ended:
        return _add(fact, picture, new_id=new_id, chain_id=chain[0].chain_id, start=start, now=now, late_for=held)
    claims = [replace(v, belief=replace(v.belief, retracted_at=start, ended_by=new_id)) for v in closing]
    return _replace(fact, picture, policy, ended=ended, claims=claims, chain_id=chain[0].chain_id, start=start, now=now, new_id=new_id)


def _renew(held: Version, fact: Fact, picture: Picture, now: datetime) -> Plan | None:
    """The same value holds already: known, unless another end is stated. A retracted one is not renewed."""
    if fact.valid_until is None or fact.valid_until == held.belief.said_until:
        return _noop(held, now)
    if held.belief.retracted_at is not None:
        return None
    decision = Decision(Relation.DUPLICATE, 1.0, Judge.RULE, "The same is stored already; its stated end is corrected.")
    return _amendment(held.asserting(said_until=fact.valid_until), picture, now, decision)


def _noop(version: Version, now: datetime) -> Plan:
    decision = Decision(Relation.DUPLICATE, 1.0, Judge.RULE, "The same is stored already and holds at that moment.")
    return Plan(Operation.NOOP, now, decision, target=version.id, reinforced=version.id)


def _can_start_earlier(later: Version, fact: Fact) -> bool:
    return not later.belief.empty and (fact.valid_until is None or fact.valid_until > later.belief.valid_from)


def _start_earlier(later: Version, fact: Fact, picture: Picture, *, start: datetime, now: datetime) -> Plan:
    until = later.belief.said_until if fact.valid_until is None else fact.valid_until
    decision = Decision(Relation.DUPLICATE, 1.0, Judge.RULE, "The same is stored with a later start, which moves back.")
    return _amendment(later.asserting(valid_from=start, asserted_at=now, said_until=until), picture, now, decision)


def _known_already(fact: Fact, picture: Picture, judgments: Sequence[Judgment], *, start: datetime, now: datetime) -> Plan | None:
    """The plan of the first judged duplicate that says so at the fact's start; None where none does."""
    for judgment in judgments:
        if judgment.relation is not Relation.DUPLICATE:
            continue
        stored = picture.version(judgment.memory_id)
        chain = picture.chain(stored.chain_id)
        if stored.belief.holds(start):
            plan = _renew(stored, fact, picture, now)
        elif next_after(chain, start) == stored and holding(chain, start) is None and _can_start_earlier(stored, fact):
            plan = _start_earlier(stored, fact, picture, start=start, now=now)
        else:
            plan = None
        if plan:
            return replace(plan, decision=replace(plan.decision, confidence=judgment.confidence, decided_by=judgment.decided_by))
    return None


def _add(
    fact: Fact, picture: Picture, *, new_id: UUID, chain_id: UUID, start: datetime, now: datetime, late_for: Version | None = None
) -> Plan:
    """A first version, one in a gap, or a late arrival: whatever it clips is adjusted, not superseded."""
    if late_for:
        decision = Decision(Relation.UPDATE, 1.0, Judge.RULE, "Another value in the slot, told late: it takes its place in the past.")
    else:
        decision = Decision(Relation.NONE, 1.0, Judge.RULE, "Nothing stored says the same or holds in its place.")
    stored = fact.settled()
    version = _version(stored, new_id=new_id, chain_id=chain_id, start=start, now=now)
    inserted, changed = _rewrite(picture, now, [version], stored)
    return Plan(Operation.ADD, now, decision, target=new_id, inserted=inserted, changed=changed)


def _replace(
    fact: Fact,
    picture: Picture,
    policy: Policy,
    *,
    ended: Sequence[Version],
    claims: Sequence[Version],
    chain_id: UUID,
    start: datetime,
    now: datetime,
    new_id: UUID,
) -> Plan:
    """The fact as the successor of `ended`: inherits what DESIGN §3 says, and each of them is contradicted by it and leaves core."""
    stored = _inheriting(fact.settled(), ended, policy)
    version = _version(stored, new_id=new_id, chain_id=chain_id, start=start, now=now)
    claimed = {v.id: v for v in [*ended, *claims]}
    demoted = [v.asserting(contradicted_by=new_id, tier=Tier.SEMANTIC) for v in claimed.values()]
    inserted, changed = _rewrite(picture, now, [*demoted, version], stored)
    reason = (
        "Another value for a slot that holds one at a time." if ended[0].chain_id == chain_id else "It joins the oldest chain of its slot."
    )
    return Plan(
        Operation.UPDATE,
        now,
        Decision(Relation.UPDATE, 1.0, Judge.RULE, reason),
        target=new_id,
        superseded=tuple(v.id for v in ended),
        inserted=inserted,
        changed=changed,
    )


def _inheriting(fact: Fact, ended: Sequence[Version], policy: Policy) -> Fact:
    """Importance is the maximum of both; a core predecessor makes its successor core where the policy says so (reference 002)."""
    core = policy.core_inheritance == "any" and any(v.belief.tier is Tier.CORE for v in ended)
    importance = max([fact.importance or 0.0, *(v.importance for v in ended)])
    return replace(fact, importance=importance, tier=Tier.CORE if core else fact.tier)


# --- the explicit verbs ------------------------------------------------------------------------------------------------


def plan_supersede(fact: Fact, old_ids: Sequence[UUID], picture: Picture, policy: Policy, *, now: datetime, new_id: UUID) -> Plan:
    """New content takes the place of `old_ids`: it joins the chain of the first, the others end where it starts.

    Raises UnknownMemory, Withdrawn, DoesNotHold, OthersInBetween, InvalidFact.
    """
    olds = [picture.version(i) for i in dict.fromkeys(old_ids)]
    first = olds[0]
    start = max([now, *(o.belief.valid_from for o in olds)]) if fact.valid_from is None else fact.valid_from
    _check_end(start, fact.valid_until)
    claims = [claim for old in olds if (claim := _claim_on(old, olds, picture, start=start, new_id=new_id))]
    fact = _successor_of(first, fact)
    plan = _replace(fact, picture, policy, ended=olds, claims=claims, chain_id=first.chain_id, start=start, now=now, new_id=new_id)
    return replace(plan, incoming=fact, decision=Decision(Relation.UPDATE, 1.0, Judge.CALLER, "The caller named what it supersedes."))


def _claim_on(old: Version, olds: Sequence[Version], picture: Picture, *, start: datetime, new_id: UUID) -> Version | None:
    """What is asserted of an old version that a successor from `start` replaces; None where the chain's order says it all."""
    if old.belief.void:
        raise Withdrawn(old.id)
    chain, in_first = picture.chain(old.chain_id), old.chain_id == olds[0].chain_id
    if start > old.belief.valid_from:
        _require_holding(old, chain, start)
    elif in_first:
        _require_nothing_between(old, chain, start, {o.id for o in olds})
        return old.asserting(void=True, ended_by=new_id)
    return None if in_first else old.asserting(retracted_at=start, ended_by=new_id)


def _require_holding(version: Version, chain: Sequence[Version], at: datetime) -> None:
    held = holding(chain, at)
    if held is None or held.id != version.id:
        raise DoesNotHold(version.id, at, held.id if held else None)


def _require_nothing_between(old: Version, chain: Sequence[Version], start: datetime, named: set[UUID]) -> None:
    def in_between(v: Version) -> bool:
        belief = v.belief
        empty_at_start = belief.valid_from == belief.valid_until == start
        return start <= belief.valid_from <= old.belief.valid_from and v.id not in named and not empty_at_start

    if between := [v.id for v in in_order(chain) if in_between(v)]:
        raise OthersInBetween(between)


def _successor_of(first: Version, fact: Fact) -> Fact:
    """A successor takes the first one's entity, category and key, and its kind unless another is said."""
    category = first.category if fact.category is None else fact.category
    if Slot.of(fact.entity or first.entity, category, fact.key or first.key) != first.slot:
        raise InvalidFact("A successor takes the entity, category and key of the memory it supersedes; leave them out or repeat them.")
    single_valued = first.single_valued if fact.single_valued is None else fact.single_valued
    return replace(
        fact, kind=fact.kind or first.kind, entity=first.entity, category=first.category, key=first.key, single_valued=single_valued
    )


def plan_succeed(old_id: UUID, by_id: UUID, picture: Picture, *, now: datetime) -> Plan:
    """A stored memory is declared the successor of another, which ends where it starts; both keep their chains.

    Raises UnknownMemory, Withdrawn, DoesNotHold, Conflict.
    """
    if old_id == by_id:
        raise Conflict("A memory cannot be its own successor; give the id of another.", [by_id])
    old, by = picture.version(old_id), picture.version(by_id)
    for version in (old, by):
        if version.belief.void:
            raise Withdrawn(version.id)
    decision = Decision(Relation.UPDATE, 1.0, Judge.CALLER, "The caller named the successor.")
    if _succeeds_already(old, by):
        return Plan(Operation.NOOP, now, replace(decision, reasoning="It is the successor already."), target=by_id)
    chain, start = picture.chain(old.chain_id), by.belief.valid_from
    if old.chain_id == by.chain_id:
        raise DoesNotHold(old_id, start, by_id)
    _require_holding(old, chain, max(start, old.belief.valid_from))
    claim = old.asserting(retracted_at=start, ended_by=by_id, contradicted_by=by_id, tier=Tier.SEMANTIC)
    _, changed = _rewrite(picture, now, [claim])
    return Plan(Operation.SUPERSEDE, now, decision, target=by_id, superseded=(old_id,), changed=changed)


def _succeeds_already(old: Version, by: Version) -> bool:
    def place(v: Version) -> tuple[datetime, datetime]:
        return v.belief.valid_from, v.belief.asserted_at

    return old.belief.ended_by == by.id or (old.chain_id == by.chain_id and place(old) < place(by))


def plan_retract(memory_id: UUID, picture: Picture, *, now: datetime, at: datetime | None = None, never_true: bool = False) -> Plan:
    """Ends a version at `at` (default now) and leaves a gap; `never_true`, or calling off a scheduled one, withdraws it.

    Raises UnknownMemory, Withdrawn, DoesNotHold.
    """
    version = picture.version(memory_id)
    if version.belief.void:
        raise Withdrawn(memory_id)
    if never_true or (at is None and version.belief.valid_from > now):
        claim, reason = version.asserting(void=True), "Withdrawn by the caller."
    else:
        moment = now if at is None else at
        _require_holding(version, picture.chain(version.chain_id), moment)
        claim, reason = version.asserting(retracted_at=moment), "Retracted by the caller."
    _, changed = _rewrite(picture, now, [claim])
    decision = Decision(Relation.RETRACTION, 1.0, Judge.CALLER, reason)
    return Plan(Operation.DELETE, now, decision, superseded=(memory_id,), changed=changed)


def plan_amend(memory_id: UUID, picture: Picture, *, now: datetime, said: dict[str, Any], metadata: dict[str, Any]) -> Plan:
    """Corrects validity (`said`: valid_from, said_until, tier) and metadata. A new valid_from counts as asserted now.

    Raises UnknownMemory, Withdrawn, InvalidFact.
    """
    version = picture.version(memory_id)
    if version.belief.void:
        raise Withdrawn(memory_id)
    asserted = {"asserted_at": now} if "valid_from" in said else {}
    claim = version.asserting(**said, **asserted)
    _check_end(claim.belief.valid_from, claim.belief.said_until)
    plan = _amendment(claim, picture, now, Decision(Relation.NONE, 1.0, Judge.CALLER, "Corrected by the caller."))
    return replace(plan, metadata=metadata or None)


def _amendment(claim: Version, picture: Picture, now: datetime, decision: Decision) -> Plan:
    _, changed = _rewrite(picture, now, [claim])
    return Plan(Operation.AMEND, now, decision, target=claim.id, changed=changed)


# --- inside ------------------------------------------------------------------------------------------------------------


def _version(fact: Fact, *, new_id: UUID, chain_id: UUID, start: datetime, now: datetime) -> Version:
    """The version that a fact with its defaults filled in becomes."""
    assert fact.kind is not None
    assert fact.entity is not None
    assert fact.tier is not None
    assert fact.importance is not None
    return Version(
        id=new_id,
        chain_id=chain_id,
        kind=fact.kind,
        entity=fact.entity,
        category=fact.category or "",
        key=fact.key,
        single_valued=fact.single_valued,
        slot=fact.slot,
        content_hash=fact.content_hash,
        fuzzy_hash=fact.fuzzy_hash,
        folded_hash=fact.folded_hash,
        value_hash=fact.value_hash,
        importance=fact.importance,
        created_at=now,
        revision=1,
        belief=Belief(valid_from=start, asserted_at=now, said_until=fact.valid_until, tier=fact.tier),
    )


def _rewrite(
    picture: Picture, now: datetime, asserted: Iterable[Version], fact: Fact | None = None
) -> tuple[tuple[Insertion, ...], tuple[Change, ...]]:
    """Recomputes every chain that `asserted` touches: what is new there, and what is believed otherwise from `now` on."""
    claims = {v.id: v for v in asserted}
    inserted, changed = [], []
    for chain_id in dict.fromkeys(v.chain_id for v in claims.values()):
        stored = {v.id: v for v in picture.chain(chain_id)}
        claimed = {i: v for i, v in claims.items() if v.chain_id == chain_id}
        for version in settle((stored | claimed).values(), now):
            before = stored.get(version.id)
            if before is None:
                assert fact is not None
                inserted.append(Insertion(fact, version.asserting(known_from=now)))
            elif version.belief != before.belief:
                changed.append(Change(before, replace(version.asserting(known_from=now), revision=before.revision + 1)))
    return tuple(inserted), tuple(changed)
