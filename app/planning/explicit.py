"""Planning the explicit verbs: supersede, succeed, retract, amend. What they contradict is a Conflict that names what holds instead."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from app.domain.chains import Chains
from app.domain.errors import Conflict, DoesNotHold, Erased, InvalidFact, OthersInBetween, Withdrawn
from app.domain.fact import Fact, Kind, Slot, Tier
from app.domain.policy import Policy
from app.domain.relation import Decision, Judge, Operation, Relation
from app.domain.relationship import Relationship
from app.domain.timeline import find_holding, order_versions
from app.domain.version import Version
from app.planning.building_blocks import (
    check_decision,
    check_end,
    plan_claim_change,
    plan_replacement,
    rewrite_chains,
)
from app.planning.plan import Plan


def plan_supersede(
    fact: Fact,
    old_ids: Sequence[UUID],
    picture: Chains,
    policy: Policy,
    *,
    now: datetime,
    new_id: UUID,
) -> Plan:
    """New content takes the place of `old_ids`: it joins the chain of the first, the others end where it starts.

    Raises UnknownMemory, Erased, Withdrawn, DoesNotHold, OthersInBetween, InvalidFact.
    """
    olds = [picture.get_version(i) for i in dict.fromkeys(old_ids)]
    first = olds[0]
    if first.erased_at:
        raise Erased(first.id)
    start = (
        max([now, *(o.belief.valid_from for o in olds)])
        if fact.valid_from is None
        else fact.valid_from
    )
    check_end(start, fact.valid_until)
    claims = [
        claim
        for old in olds
        if (claim := _claim_on(old, olds, picture, start=start, new_id=new_id))
    ]
    claims += [
        v
        for claim in claims
        if claim.belief.void
        for v in _release_merged(claim.id, picture)
        if v.id not in old_ids
    ]
    fact = _successor_of(first, fact)
    decision = Decision(Relation.UPDATE, 1.0, Judge.CALLER, "The caller named what it supersedes.")
    plan = plan_replacement(
        fact,
        picture,
        policy,
        decision=decision,
        ended=olds,
        claims=claims,
        chain_id=first.chain_id,
        start=start,
        now=now,
        new_id=new_id,
    )
    return replace(plan, incoming=fact)


def _claim_on(
    old: Version, olds: Sequence[Version], picture: Chains, *, start: datetime, new_id: UUID
) -> Version | None:
    """What is asserted of an old version that a successor from `start` replaces; None where the chain's order says it all."""
    if old.belief.void:
        raise Withdrawn(old.id)
    chain, in_first = picture.find_chain(old.chain_id), old.chain_id == olds[0].chain_id
    if start > old.belief.valid_from:
        _require_holding(old, chain, start)
    elif in_first:
        _require_nothing_between(old, chain, start, {o.id for o in olds})
        return old.replace_claims(void=True, ended_by=new_id)
    return None if in_first else old.replace_claims(retracted_at=start, ended_by=new_id)


def _require_holding(version: Version, chain: Sequence[Version], at: datetime) -> None:
    held = find_holding(chain, at)
    if held is None or held.id != version.id:
        raise DoesNotHold(version.id, at, held.id if held else None)


def _require_nothing_between(
    old: Version, chain: Sequence[Version], start: datetime, named: set[UUID]
) -> None:
    def in_between(v: Version) -> bool:
        belief = v.belief
        empty_at_start = belief.valid_from == belief.valid_until == start
        return (
            start <= belief.valid_from <= old.belief.valid_from
            and v.id not in named
            and not empty_at_start
        )

    if between := [v.id for v in order_versions(chain) if in_between(v)]:
        raise OthersInBetween(between)


def _successor_of(first: Version, fact: Fact) -> Fact:
    """A successor takes the first one's entity, category and key, and its kind unless another is said."""
    category = first.category if fact.category is None else fact.category
    if Slot.from_words(fact.entity or first.entity, category, fact.key or first.key) != first.slot:
        raise InvalidFact(
            "A successor takes the entity, category and key of the memory it supersedes; leave them out or repeat them."
        )
    single_valued = first.single_valued if fact.single_valued is None else fact.single_valued
    return replace(
        fact,
        kind=fact.kind or first.kind,
        entity=first.entity,
        category=first.category,
        key=first.key,
        single_valued=single_valued,
    )


def _require_actionable(memory_id: UUID, picture: Chains) -> Version:
    """The version, where a call may act on it. Raises UnknownMemory, Erased, Withdrawn."""
    version = picture.get_version(memory_id)
    if version.erased_at:
        raise Erased(memory_id)
    if version.belief.void:
        raise Withdrawn(memory_id)
    return version


def plan_succeed(old_id: UUID, by_id: UUID, picture: Chains, *, now: datetime) -> Plan:
    """A stored memory is declared the successor of another, which ends where it starts; both keep their chains.

    Raises UnknownMemory, Erased, Withdrawn, DoesNotHold, Conflict.
    """
    if old_id == by_id:
        raise Conflict("A memory cannot be its own successor; give the id of another.", [by_id])
    old, by = _require_actionable(old_id, picture), _require_actionable(by_id, picture)
    decision = Decision(Relation.UPDATE, 1.0, Judge.CALLER, "The caller named the successor.")
    if _succeeds_already(old, by):
        return Plan(
            Operation.NOOP,
            now,
            replace(decision, reasoning="It is the successor already."),
            target=by_id,
        )
    chain, start = picture.find_chain(old.chain_id), by.belief.valid_from
    if old.chain_id == by.chain_id:
        raise DoesNotHold(old_id, start, by_id)
    _require_holding(old, chain, max(start, old.belief.valid_from))
    claim = old.replace_claims(
        retracted_at=start, ended_by=by_id, contradicted_by=by_id, tier=Tier.SEMANTIC
    )
    _, changed = rewrite_chains(picture, now, [claim])
    return Plan(
        Operation.SUPERSEDE, now, decision, target=by_id, superseded=(old_id,), changed=changed
    )


def _succeeds_already(old: Version, by: Version) -> bool:
    def sort_key(v: Version) -> tuple[datetime, datetime]:
        return v.belief.valid_from, v.belief.asserted_at

    return old.belief.ended_by == by.id or (
        old.chain_id == by.chain_id and sort_key(old) < sort_key(by)
    )


def plan_retract(
    memory_id: UUID,
    picture: Chains,
    *,
    now: datetime,
    at: datetime | None = None,
    never_true: bool = False,
) -> Plan:
    """Ends a version at `at` (default now) and leaves a gap; `never_true`, or calling off a scheduled one, withdraws it.

    Raises UnknownMemory, Erased, Withdrawn, DoesNotHold.
    """
    version = _require_actionable(memory_id, picture)
    freed: list[Version] = []
    if never_true or (at is None and version.belief.valid_from > now):
        claim, reason = version.replace_claims(void=True), "Withdrawn by the caller."
        freed = _release_merged(memory_id, picture)
    else:
        moment = now if at is None else at
        _require_holding(version, picture.find_chain(version.chain_id), moment)
        claim, reason = version.replace_claims(retracted_at=moment), "Retracted by the caller."
    _, changed = rewrite_chains(picture, now, [claim, *freed])
    decision = Decision(Relation.RETRACTION, 1.0, Judge.CALLER, reason)
    return Plan(Operation.DELETE, now, decision, superseded=(memory_id,), changed=changed)


def _release_merged(memory_id: UUID, picture: Chains) -> list[Version]:
    """What had been merged into a version that is withdrawn stands for itself again."""
    merged = [
        v
        for v in picture.list_versions()
        if v.belief.merged and memory_id in (v.belief.ended_by, v.belief.superseded_by)
    ]
    return [
        v.replace_claims(
            merged=False,
            **({"retracted_at": None, "ended_by": None} if v.belief.ended_by == memory_id else {}),
        )
        for v in merged
    ]


def plan_amend(
    memory_id: UUID,
    picture: Chains,
    *,
    now: datetime,
    claims: dict[str, Any],
    metadata: dict[str, Any],
) -> Plan:
    """Corrects validity (`said`: valid_from, said_until, tier) and metadata. A new valid_from counts as asserted now.

    Raises UnknownMemory, Erased, Withdrawn, InvalidFact.
    """
    version = _require_actionable(memory_id, picture)
    if version.kind is Kind.DECISION:
        check_decision(metadata.get("details", {}))
    asserted = {"asserted_at": now} if "valid_from" in claims else {}
    claim = version.replace_claims(**claims, **asserted)
    check_end(claim.belief.valid_from, claim.belief.said_until)
    plan = plan_claim_change(
        claim, picture, now, Decision(Relation.NONE, 1.0, Judge.CALLER, "Corrected by the caller.")
    )
    return replace(plan, metadata=metadata or None)


def plan_relationship(link: Relationship, picture: Chains, *, now: datetime) -> Plan:
    """Ties two memories. Nothing ends by it, whatever the type. Raises UnknownMemory, Erased, Withdrawn, InvalidFact."""
    if link.source == link.target:
        raise InvalidFact("target_id: a memory cannot be tied to itself; give the id of another.")
    for end in (link.source, link.target):
        _require_actionable(end, picture)
    decision = Decision(Relation.NONE, 1.0, Judge.CALLER, "Linked by the caller.")
    return Plan(Operation.AMEND, now, decision, target=link.source, links=(link,))
