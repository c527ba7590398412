"""Planning the explicit verbs: supersede, succeed, retract, amend, link.

A call that contradicts what is stored raises a Conflict that names what holds instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from app.domain.chains import Chains
from app.domain.errors import (
    Conflict,
    DoesNotHold,
    Erased,
    InvalidFact,
    OthersInBetween,
    SuccessorDoesNotHold,
    SupersessionRing,
    Withdrawn,
)
from app.domain.fact import Fact, Kind, Slot, Tier
from app.domain.policy import Policy
from app.domain.relation import Decision, Judge, Operation, Relation
from app.domain.relationship import Relationship
from app.domain.timeline import begins_before, order_versions
from app.domain.version import Version
from app.planning.building_blocks import (
    Placement,
    check_decision,
    check_end,
    choose_told_at,
    inherit_from_ended,
    plan_claim_change,
    plan_replacement,
    release_from_merge,
    rewrite_chains,
)
from app.planning.dating import has_dated_start, move_before
from app.planning.plan import IncomingFact, Plan

# --- supersede by content ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Supersession:
    """New content that takes the place of `olds`, and stands in the chain of the first of them."""

    olds: Sequence[Version]
    chains: Chains
    fact: Fact
    placement: Placement

    @property
    def old_ids(self) -> set[UUID]:
        return {old.id for old in self.olds}

    def list_claims(self) -> list[Version]:
        """Return the old versions, and those merged into them, that need another assertion."""
        claims: list[Version] = []
        released: list[Version] = []
        for old in self.olds:
            claim = self._claim_old(old)
            if claim is None:
                continue
            claims.append(claim)
            if claim.belief.void:
                merged = _release_merged(claim.id, self.chains)
                released += [version for version in merged if version.id not in self.old_ids]
        return [*claims, *released]

    def _claim_old(self, old: Version) -> Version | None:
        """Return the old version with what is asserted about it from now on.

        Return None if its end follows from the order of its chain.
        """
        if old.belief.void:
            raise Withdrawn(old.id)
        start, new_id = self.placement.start, self.placement.new_id
        in_first_chain = old.chain_id == self.placement.chain_id
        if start > old.belief.valid_from:
            _require_holding(old, self.chains, start)
        elif in_first_chain:
            self._require_nothing_between(old)
            if has_dated_start(self.fact) and old.begins_when_told:
                [moved] = move_before([old], start, self.placement.now)
                return moved
            return old.replace_claims(void=True, ended_by=new_id)
        if in_first_chain:
            return None
        return old.replace_claims(retracted_at=start, ended_by=new_id)

    def _require_nothing_between(self, old: Version) -> None:
        """Raise OthersInBetween if an unnamed version starts between the start and the old one."""
        start = self.placement.start
        between: list[UUID] = []
        for version in order_versions(self.chains.find_chain(old.chain_id)):
            belief = version.belief
            is_empty_at_start = belief.valid_from == belief.valid_until == start
            starts_between = start <= belief.valid_from <= old.belief.valid_from
            if starts_between and version.id not in self.old_ids and not is_empty_at_start:
                between.append(version.id)
        if between:
            raise OthersInBetween(between)


def plan_supersede(
    incoming: IncomingFact,
    old_ids: Sequence[UUID],
    chains: Chains,
    policy: Policy,
    *,
    now: datetime,
) -> Plan:
    """Plan new content in the place of `old_ids`.

    It joins the chain of the first one; the others end where it starts.

    Raise UnknownMemory, Erased, Withdrawn, DoesNotHold, OthersInBetween or InvalidFact.
    """
    olds = [chains.get_version(i) for i in dict.fromkeys(old_ids)]
    first = olds[0]
    if first.erased_at:
        raise Erased(first.id)
    start = incoming.fact.valid_from
    if start is None:
        told_at = choose_told_at(incoming.fact, now)
        start = max([told_at, *(old.belief.valid_from for old in olds)])
    check_end(start, incoming.fact.valid_until)
    placement = Placement(incoming.new_id, first.chain_id, start=start, now=now)
    claims = _Supersession(olds, chains, incoming.fact, placement).list_claims()
    fact = _inherit_slot(first, incoming.fact)
    decision = Decision.certain(
        Relation.UPDATE, Judge.CALLER, "The caller named what it supersedes."
    )
    stored = inherit_from_ended(fact, olds, decision.relation, policy, corrects=incoming.corrects)
    plan = plan_replacement(stored, placement, chains, decision, ended=olds, claims=claims)
    return plan.with_incoming(fact)


def _inherit_slot(first: Version, fact: Fact) -> Fact:
    """Return the fact with the first one's entity, category and key, and its kind by default.

    Raise InvalidFact if the fact states others.
    """
    category = first.category if fact.category is None else fact.category
    slot = Slot.from_words(fact.entity or first.entity, category, fact.key or first.key)
    if slot != first.slot:
        raise InvalidFact(
            "A successor takes the entity, category and key of the memory it supersedes; "
            "leave them out or repeat them."
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


# --- the other verbs ---------------------------------------------------------------------------


def _require_actionable(memory_id: UUID, chains: Chains) -> Version:
    """Return the version that a call acts on. Raise UnknownMemory, Erased or Withdrawn."""
    version = chains.get_version(memory_id)
    if version.erased_at:
        raise Erased(memory_id)
    if version.belief.void:
        raise Withdrawn(memory_id)
    return version


def _require_holding(version: Version, chains: Chains, at: datetime) -> None:
    """Raise DoesNotHold if another version of the chain holds at `at`, or none."""
    holding = chains.find_holding(version.chain_id, at)
    if holding is None or holding.id != version.id:
        raise DoesNotHold(version.id, at, holding.id if holding else None)


def plan_succeed(
    old_id: UUID,
    by_id: UUID,
    chains: Chains,
    *,
    now: datetime,
) -> Plan:
    """Plan that a stored memory becomes the successor of another, which ends where it starts.

    Both keep their chains. `chains` holds what superseded the successor in turn, too. Raise
    UnknownMemory, Erased, Withdrawn, DoesNotHold, SuccessorDoesNotHold, SupersessionRing or
    Conflict.
    """
    if old_id == by_id:
        raise Conflict("A memory cannot be its own successor; give the id of another.", [by_id])
    old, successor = _require_actionable(old_id, chains), _require_actionable(by_id, chains)
    decision = Decision.certain(Relation.UPDATE, Judge.CALLER, "The caller named the successor.")
    is_same_chain = old.chain_id == successor.chain_id
    if old.belief.ended_by == by_id or (is_same_chain and begins_before(old, successor)):
        decision = replace(decision, reasoning="It is the successor already.")
        return Plan(operation=Operation.NOOP, now=now, decision=decision, target=by_id)
    start = successor.belief.valid_from
    if is_same_chain:
        raise DoesNotHold(old_id, start, by_id)
    moment = max(start, old.belief.valid_from)
    _require_holding(old, chains, moment)
    _require_successor_holding(successor, chains, moment)
    _refuse_ring(old, successor, chains)
    claim = old.replace_claims(
        retracted_at=start,
        ended_by=by_id,
        contradicted_by=by_id,
        tier=Tier.SEMANTIC,
    )
    _, changed = rewrite_chains(chains, now, [claim])
    return Plan(
        operation=Operation.SUPERSEDE,
        now=now,
        decision=decision,
        target=by_id,
        superseded=(old_id,),
        changed=changed,
    )


def _require_successor_holding(successor: Version, chains: Chains, at: datetime) -> None:
    """Raise SuccessorDoesNotHold unless it holds at `at`: else two could name each other."""
    holding = chains.find_holding(successor.chain_id, at)
    if holding is None or holding.id != successor.id:
        raise SuccessorDoesNotHold(
            successor.id,
            at,
            superseded_by=successor.belief.superseded_by,
            holds=holding.id if holding else None,
        )


def _refuse_ring(old: Version, successor: Version, chains: Chains) -> None:
    """Raise SupersessionRing if the successor was superseded, through others, by the old one.

    It may hold nevertheless, if the one that ended it was ended in favour of an earlier one.
    """
    path: list[UUID] = []
    following = successor.belief.ended_by
    while following is not None and following not in path:
        path.append(following)
        if following == old.id:
            raise SupersessionRing(successor.id, path)
        following = chains.get_version(following).belief.ended_by


def plan_retract(
    memory_id: UUID,
    chains: Chains,
    *,
    now: datetime,
    at: datetime | None = None,
    never_true: bool = False,
) -> Plan:
    """Plan that a version ends at `at` (default now), which leaves a gap.

    A version that is `never_true`, or that is scheduled if no date is given, is withdrawn.

    Raise UnknownMemory, Erased, Withdrawn or DoesNotHold.
    """
    version = _require_actionable(memory_id, chains)
    if never_true or (at is None and version.belief.valid_from > now):
        released = _release_merged(memory_id, chains)
        claims = [version.replace_claims(void=True), *released]
        reasoning = "Withdrawn by the caller."
    else:
        end = now if at is None else at
        _require_holding(version, chains, end)
        claims = [version.replace_claims(retracted_at=end)]
        reasoning = "Retracted by the caller."
    _, changed = rewrite_chains(chains, now, claims)
    return Plan(
        operation=Operation.DELETE,
        now=now,
        decision=Decision.certain(Relation.RETRACTION, Judge.CALLER, reasoning),
        superseded=(memory_id,),
        changed=changed,
    )


def _release_merged(memory_id: UUID, chains: Chains) -> list[Version]:
    """Return what had been merged into a withdrawn version, which holds by itself again."""
    released: list[Version] = []
    for version in chains.list_versions():
        belief = version.belief
        if not belief.merged or memory_id not in (belief.ended_by, belief.superseded_by):
            continue
        if belief.ended_by == memory_id:
            released.append(release_from_merge(version))
        else:
            released.append(version.replace_claims(merged=False))
    return released


def plan_amend(
    memory_id: UUID,
    chains: Chains,
    *,
    now: datetime,
    claims: dict[str, Any],
    metadata: dict[str, Any],
) -> Plan:
    """Plan the correction of claims (valid_from, said_until, tier) and metadata.

    A new valid_from counts as asserted now. Raise UnknownMemory, Erased, Withdrawn or InvalidFact.
    """
    version = _require_actionable(memory_id, chains)
    if version.kind is Kind.DECISION:
        check_decision(metadata.get("details", {}))
    asserted = {"asserted_at": now} if "valid_from" in claims else {}
    claim = version.replace_claims(**claims, **asserted)
    check_end(claim.belief.valid_from, claim.belief.said_until)
    decision = Decision.certain(Relation.NONE, Judge.CALLER, "Corrected by the caller.")
    return plan_claim_change(claim, chains, now, decision).with_metadata(metadata)


def plan_relationship(link: Relationship, chains: Chains, *, now: datetime) -> Plan:
    """Plan a link between two memories; nothing ends by it, whatever its type.

    Raise UnknownMemory, Erased, Withdrawn or InvalidFact.
    """
    if link.source == link.target:
        raise InvalidFact("target_id: a memory cannot be tied to itself; give the id of another.")
    for end in (link.source, link.target):
        _require_actionable(end, chains)
    plan = Plan(
        operation=Operation.AMEND,
        now=now,
        decision=Decision.certain(Relation.NONE, Judge.CALLER, "Linked by the caller."),
        target=link.source,
    )
    return plan.with_links([link])
