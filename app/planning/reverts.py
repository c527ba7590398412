"""Undoing an operation: what it inserted is withdrawn, what it claimed of stored versions is claimed as before. Known time keeps both."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from app.domain.chains import Chains
from app.domain.errors import Erased, GroundMoved
from app.domain.fact import Fact
from app.domain.relation import Decision, Judge, Operation, Relation
from app.domain.relationship import Relationship
from app.planning.building_blocks import Placement, plan_addition, rewrite_chains
from app.planning.plan import Plan, ReviewDecision

# What a belief asserts; the rest of it is computed from the chain.
CLAIMS = (
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
    """What an operation made of a stored version's claims."""

    memory_id: UUID
    before: Mapping[str, Any]
    after: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MetadataChange:
    """What an operation made of a memory's metadata."""

    memory_id: UUID
    before: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LoggedOperation:
    """An operation as the log tells it. It reinforced a memory, or took that back (`unconfirmed`); it tied `links` and untied `unlinked`.

    `undone_again`: of the revert of a revert, the operation that undoing it would undo once more though something else, also named, has
    undone it since.
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
    undone_again: tuple[UUID, UUID] | None = None
    settled: ReviewDecision | None = None

    @property
    def ids(self) -> tuple[UUID, ...]:
        """The memories that undoing it changes."""
        beside = [
            i
            for i in (
                self.corrected and self.corrected.memory_id,
                self.reinforced,
                self.unconfirmed,
            )
            if i
        ]
        return tuple(dict.fromkeys([*self.inserted, *(c.memory_id for c in self.claimed), *beside]))


def plan_revert(
    done: LoggedOperation,
    picture: Chains,
    *,
    now: datetime,
    store_as: UUID | None = None,
) -> Plan:
    """What undoing does. `store_as` is the id under which the text of a NOOP or DELETE is stored too.

    Raises Erased where what it speaks of is gone, GroundMoved where its claims are no longer the ones that hold.
    """
    for memory_id in done.ids:
        if picture.get_version(memory_id).erased_at:
            raise Erased(memory_id)
    if any(_has_other_claims(picture, claimed) for claimed in done.claimed):
        raise GroundMoved(done.log_id)
    withdrawn = [picture.get_version(i).replace_claims(void=True) for i in done.inserted]
    restored = [picture.get_version(c.memory_id).replace_claims(**c.before) for c in done.claimed]
    _, changed = rewrite_chains(picture, now, [*withdrawn, *restored])
    plan = Plan(
        Operation.REVERT,
        now,
        Decision(
            done.relation,
            1.0,
            Judge.CALLER,
            f"Undoes the {done.operation} of {done.at.isoformat()}.",
        ),
        target=_choose_target(done),
        superseded=done.inserted,
        changed=changed,
        metadata=dict(done.corrected.before) if done.corrected else None,
        reinforced=done.unconfirmed,
        unconfirmed=done.reinforced,
        reverts=done.log_id,
        links=done.unlinked,
        unlinked=done.links,
        settled=done.settled and done.settled.to_reverted(),
    )
    return (
        _add_stored_text(
            plan,
            done.incoming,
            picture,
            store_as,
        )
        if store_as and done.incoming
        else plan
    )


def _has_other_claims(picture: Chains, claimed: ClaimChange) -> bool:
    belief = picture.get_version(claimed.memory_id).belief
    return any(getattr(belief, name) != claimed.after[name] for name in CLAIMS)


def _choose_target(done: LoggedOperation) -> UUID | None:
    """The memory whose metadata is as before, else one that stands again, else the one that was withdrawn, else the source of the link."""
    corrected = [done.corrected.memory_id] if done.corrected else []
    tied = [link.source for link in (*done.links, *done.unlinked)]
    return next(iter([*corrected, *(c.memory_id for c in done.claimed), *done.ids, *tied]), None)


def _add_stored_text(
    plan: Plan,
    fact: Fact,
    picture: Chains,
    store_as: UUID,
) -> Plan:
    """The text that was a duplicate or a retraction becomes a memory of its own."""
    start = plan.now if fact.valid_from is None else fact.valid_from
    added = plan_addition(
        fact,
        Placement(
            store_as,
            store_as,
            start,
            plan.now,
        ),
        picture,
    )
    return replace(
        plan,
        target=store_as,
        inserted=added.inserted,
        incoming=fact,
    )
