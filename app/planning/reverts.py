"""Undoing an operation.

What the operation inserted is withdrawn, and stored versions get the claims that they had before.
A fact that came in with a merge is released from it, because it was told: both facts hold again.
Known time keeps all of that.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from app.domain.chains import Chains
from app.domain.errors import Erased, GroundMoved
from app.domain.fact import Fact
from app.domain.relation import Decision, Judge, Operation, Relation
from app.domain.relationship import Relationship
from app.domain.version import Version
from app.planning.building_blocks import (
    Placement,
    choose_start,
    plan_addition,
    release_from_merge,
    rewrite_chains,
)
from app.planning.plan import Plan, ReviewDecision

# The asserted fields of a belief; the others are computed from the chain.
CLAIMS = (
    "chain_id",
    "valid_from",
    "asserted_at",
    "said_until",
    "retracted_at",
    "void",
    "ended_by",
    "contradicted_by",
    "merged",
    "tier",
)


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """The claims of a stored version before and after an operation."""

    memory_id: UUID
    before: Mapping[str, Any]
    after: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MetadataChange:
    """The metadata of a memory before an operation corrected it."""

    memory_id: UUID
    before: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LoggedOperation:
    """An operation as it stands in the log.

    `reinforced` is the memory that it confirmed, `unconfirmed` the memory whose confirmation it
    took back. `links` were made and `unlinked` removed. `line` maps the operation, the operation
    that it undid, the one that this had undone, and so on, to True if it is undone now.
    """

    log_id: UUID
    operation: Operation
    relation: Relation
    at: datetime
    inserted: tuple[UUID, ...] = ()
    claimed: tuple[ClaimChange, ...] = ()
    corrected: MetadataChange | None = None
    reinforced: UUID | None = None
    links: tuple[Relationship, ...] = ()
    unlinked: tuple[Relationship, ...] = ()
    incoming: Fact | None = None
    unconfirmed: UUID | None = None
    undone_by: UUID | None = None
    settled: ReviewDecision | None = None
    line: Mapping[UUID, bool] = field(default_factory=dict)

    @property
    def ids(self) -> tuple[UUID, ...]:
        """Return the memories that undoing the operation changes."""
        ids = list(self.inserted)
        ids += [change.memory_id for change in self.claimed]
        if self.corrected:
            ids.append(self.corrected.memory_id)
        if self.reinforced:
            ids.append(self.reinforced)
        if self.unconfirmed:
            ids.append(self.unconfirmed)
        return tuple(dict.fromkeys(ids))

    @property
    def chain_ids(self) -> set[UUID]:
        """Return the chains to which undoing the operation returns versions."""
        return {change.before["chain_id"] for change in self.claimed}

    @property
    def base(self) -> UUID:
        """Return the operation at the end of the line, which is no revert."""
        return list(self.line)[-1]


@dataclass(frozen=True, slots=True)
class LaterOperation:
    """An operation after another one: what it undid, and the operation at the end of its line."""

    log_id: UUID
    base: UUID
    undid: UUID | None = None


def plan_revert(
    done: LoggedOperation,
    chains: Chains,
    *,
    now: datetime,
    store_as: UUID | None = None,
) -> Plan:
    """Plan the revert of an operation.

    `store_as` is the id under which the text of a NOOP or DELETE is stored too. If the operation
    stored it itself, it stays.

    Raise Erased if a memory concerned is gone, and GroundMoved if the claims that the operation
    made are no longer the ones that hold.
    """
    for memory_id in done.ids:
        if chains.get_version(memory_id).erased_at:
            raise Erased(memory_id)
    restored: list[Version] = []
    for change in done.claimed:
        version = chains.get_version(change.memory_id)
        if any(getattr(version.belief, name) != change.after[name] for name in CLAIMS):
            raise GroundMoved(done.log_id)
        restored.append(version.replace_claims(**change.before))
    inserted = [chains.get_version(i) for i in done.inserted] if store_as is None else []
    merged = [version for version in inserted if version.belief.ended_by in done.inserted]
    withdrawn = [version for version in inserted if version not in merged]
    undone = [version.replace_claims(void=True) for version in withdrawn]
    undone += map(release_from_merge, merged)
    _, changed = rewrite_chains(chains, now, [*undone, *restored])
    reasoning = f"Undoes the {done.operation} of {done.at.isoformat()}."
    plan = Plan(
        operation=Operation.REVERT,
        now=now,
        decision=Decision.certain(done.relation, Judge.CALLER, reasoning),
        target=_choose_target(done),
        superseded=tuple(version.id for version in withdrawn),
        changed=changed,
        metadata=dict(done.corrected.before) if done.corrected else None,
        reinforced=done.unconfirmed,
        unconfirmed=done.reinforced,
        reverts=done.log_id,
        links=done.unlinked,
        unlinked=done.links,
        settled=done.settled.to_reverted() if done.settled else None,
    )
    if store_as is None or done.incoming is None:
        return plan
    if done.inserted:
        return replace(plan, target=done.inserted[0])
    return _add_stored_text(plan, done.incoming, chains, store_as)


def refuse_second_undo(done: LoggedOperation, undone: Mapping[UUID, bool]) -> None:
    """Raise GroundMoved if the revert would undo an operation that is undone already.

    Every second operation of the line stands since this one was done, and is undone with it.
    `undone` says which operations were undone, or stand again, since the log was read.
    """
    for log_id in list(done.line)[::2]:
        if undone.get(log_id, done.line[log_id]):
            raise GroundMoved(done.log_id, undone=log_id)


def revert_line(done: LoggedOperation) -> dict[UUID, bool]:
    """Return, for each operation of the line, True if it is undone once this one is."""
    return {log_id: place % 2 == 0 for place, log_id in enumerate(done.line)}


def find_uncancelled(
    done: LoggedOperation,
    later: Sequence[LaterOperation],
    undone: Set[UUID],
) -> list[UUID]:
    """Return the operations to undo, newest first, so that all is as it was after `done`.

    `later` lists the operations since, oldest first. `undone` names what the present call has
    undone so far, of which the log does not know yet.
    """
    steps = list(later)
    for step in reversed(later):
        if step.log_id in undone:
            steps.append(replace(step, undid=step.log_id))
    left: dict[UUID, UUID] = {}
    for step in steps:
        # An operation that was undone and done again the same number of times is as it was,
        # whichever reverts did that. On the line of `done` the same reverts must stand as well,
        # so only an operation and the first revert of it cancel each other.
        on_line = step.base == done.base
        cancels = step.undid if on_line else step.base
        place = step.log_id if on_line else step.base
        if cancels in left:
            del left[cancels]
        else:
            left[place] = step.log_id
    uncancelled = set(left.values())
    return [step.log_id for step in reversed(later) if step.log_id in uncancelled]


def _choose_target(done: LoggedOperation) -> UUID | None:
    """Return the memory that the revert answers with.

    A memory with corrected metadata comes first, then one with restored claims, then the other
    memories concerned, then the source of a link.
    """
    if done.corrected:
        return done.corrected.memory_id
    if done.claimed:
        return done.claimed[0].memory_id
    if done.ids:
        return done.ids[0]
    links = (*done.links, *done.unlinked)
    return links[0].source if links else None


def _add_stored_text(plan: Plan, fact: Fact, chains: Chains, store_as: UUID) -> Plan:
    """Return the plan that also stores the text of a duplicate or a retraction as a memory."""
    start, is_temporary = choose_start(fact, plan.now), fact.valid_until is not None
    placement = Placement(store_as, store_as, start=start, now=plan.now, temporary=is_temporary)
    added = plan_addition(fact, placement, chains)
    return replace(plan, target=store_as, inserted=added.inserted, incoming=fact)
