"""Changes that wait for a person: what is proposed in place of making them, and what accepting comes to."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from app.domain.errors import CannotAccept
from app.domain.judged import Merged
from app.domain.links import Link, LinkType
from app.domain.memory import Fact, Kind, Operation, Tier, Version
from app.domain.picture import Picture
from app.domain.plan import (
    Plan,
    Review,
    ReviewSource,
    ReviewStatus,
    Settlement,
    addition,
    check_end,
    rewrite,
    version_of,
)
from app.domain.relation import Decision, Judge, Judgment, Relation
from app.domain.time import next_after

# What a plan can correct of a memory without ending it.
_AMENDED = ("valid_from", "said_until")


# A fact leaves one review; a sweep finds what else it asks.
ASKED_BESIDE = "another question about it was left open"


# --- proposing ---------------------------------------------------------------------------------------------------------


def proposing(live: Plan, fact: Fact, picture: Picture, source: ReviewSource, *, new_id: UUID) -> Plan:
    """The plan that changes nothing stored: the fact stands beside, and what would have been done to others waits for a person.

    `live` is the plan that would have been carried out; one that changes nothing is carried out.
    """
    review = review_of(live, picture, source)
    if review is None:
        return live
    start = live.now if fact.valid_from is None else fact.valid_from
    check_end(start, fact.valid_until)
    beside = addition(_placed(fact, live), picture, new_id=new_id, chain_id=new_id, start=start, now=live.now)
    links = [Link(new_id, i, LinkType.CONTRADICTS) for i in live.superseded]
    decision = replace(live.decision, relation=Relation.NONE, reasoning=f"Stored beside, for review: {live.decision.reasoning}")
    return replace(
        beside,
        decision=decision,
        incoming=fact,
        judgments=live.judgments,
        links=tuple(links),
        review=review,
        asked=live.asked,
        look_again=live.look_again or (ASKED_BESIDE if live.review else None),
    )


def review_of(live: Plan, picture: Picture, source: ReviewSource) -> Review | None:
    """What a plan does to stored memories, as a review; None where it does nothing to them."""
    targets = live.superseded or _touched(live)
    if not targets:
        return None
    said = _decided(live)
    judgments = tuple(replace(said, memory_id=i) for i in targets)
    relied_on = tuple((i, picture.version(i).revision) for i in targets)
    amended = _corrections(live, picture.version(targets[0])) if live.operation is Operation.AMEND else None
    return Review(source, live.decision.relation, _sentence(live, targets), judgments, relied_on, amended)


def _touched(live: Plan) -> tuple[UUID, ...]:
    """The stored memories that a plan which ends none confirms, corrects or moves."""
    if live.operation in (Operation.NOOP, Operation.AMEND):
        return (live.target,) if live.target else ()
    return tuple(c.after.id for c in live.changed if c.moved)


def _decided(live: Plan) -> Judgment:
    decision = live.decision
    return Judgment(UUID(int=0), decision.relation, decision.confidence, decision.reasoning, decision.decided_by, decision.findings)


def _corrections(live: Plan, before: Version) -> dict[str, Any]:
    after = next((c.after for c in live.changed if c.after.id == before.id), before)
    pairs = ((name, getattr(after.belief, name), getattr(before.belief, name)) for name in _AMENDED)
    return {name: new for name, new, old in pairs if new != old} | (live.metadata or {})


def _sentence(live: Plan, targets: Sequence[UUID]) -> str:
    named = ", ".join(map(str, targets))
    match live.operation:
        case Operation.NOOP:
            return f"Accepting confirms {named} and withdraws this fact, which says the same."
        case Operation.AMEND:
            what = "dates" if live.changed else "life"
            return f"Accepting corrects the {what} of {named} and withdraws this fact, which says the same."
        case Operation.DELETE:
            return f"Accepting ends {named}."
        case Operation.MERGE:
            return f"Accepting merges {named} and this fact into one."
        case _:
            return f"Accepting ends {named} in favour of this fact."


def _placed(fact: Fact, live: Plan) -> Fact:
    """The fact with the slot and kind that the live plan would have given it."""
    taken = next((i.fact for i in live.inserted if i.fact.content == fact.content), None)
    if taken is None:
        return fact
    return replace(fact, kind=taken.kind, entity=taken.entity, category=taken.category, key=taken.key, single_valued=taken.single_valued)


# --- accepting ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Proposal:
    """A review as it is stored. `memory_id` is the fact that was stored beside, `relied_on` the revisions that were seen."""

    review_id: UUID
    relation: Relation
    sentence: str
    created_at: datetime
    memory_id: UUID | None
    judgments: tuple[Judgment, ...]
    relied_on: tuple[tuple[UUID, int], ...]
    said: dict[str, Any] | None = None

    @property
    def targets(self) -> tuple[UUID, ...]:
        return tuple(dict.fromkeys(j.memory_id for j in self.judgments))

    @property
    def ids(self) -> tuple[UUID, ...]:
        return (*self.targets, *([self.memory_id] if self.memory_id else []))

    def settled(self, status: ReviewStatus, note: str | None) -> Settlement:
        return Settlement(self.review_id, ReviewStatus.PENDING, status, note)


def moved(proposal: Proposal, picture: Picture) -> list[UUID]:
    """The memories that changed since the proposal was made."""
    return [i for i, revision in proposal.relied_on if picture.version(i).revision != revision]


def plan_accept(proposal: Proposal, picture: Picture, *, now: datetime, merged: Merged | None = None, note: str | None = None) -> Plan:
    """What the proposal comes to now. Raises CannotAccept where what it is about has gone another way."""
    best = max(proposal.judgments, key=lambda j: j.confidence, default=None)
    relation = proposal.relation if proposal.targets else Relation.NONE
    decision = Decision(
        relation, best.confidence if best else 1.0, Judge.REVIEWER, note or proposal.sentence, best.findings if best else ()
    )
    plan = plan_proposed(proposal, picture, decision, now=now, merged=merged)
    return replace(plan, settled=proposal.settled(ReviewStatus.ACCEPTED, note))


def plan_proposed(proposal: Proposal, picture: Picture, decision: Decision, *, now: datetime, merged: Merged | None) -> Plan:
    """What is proposed, done to the memories as they are now. Raises CannotAccept where they have gone another way."""
    stored = picture.version(proposal.memory_id) if proposal.memory_id else None
    olds = [picture.version(i) for i in proposal.targets]
    if gone := [v.id for v in (*olds, *((stored,) if stored else ())) if v.erased_at or v.belief.void]:
        raise CannotAccept(proposal.review_id, "what it is about was withdrawn or erased", gone)
    return _Accepting(proposal, stored, olds, picture, now, decision).plan(merged)


def plan_reject(proposal: Proposal, status: ReviewStatus, *, now: datetime, by: Judge, note: str) -> Plan:
    """Nothing changes but the review."""
    decision = Decision(Relation.NONE, 1.0, by, note)
    return Plan(Operation.NOOP, now, decision, target=proposal.memory_id, settled=proposal.settled(status, note))


@dataclass(frozen=True, slots=True)
class _Accepting:
    proposal: Proposal
    stored: Version | None
    olds: Sequence[Version]
    picture: Picture
    now: datetime
    decision: Decision

    def plan(self, merged: Merged | None) -> Plan:
        if not self.olds:
            return Plan(Operation.NOOP, self.now, self.decision, target=self.proposal.memory_id)
        match self.proposal.relation:
            case Relation.RETRACTION:
                return self._retract()
            case _ if self.proposal.said is not None:
                return self._amend(self.proposal.said)
            case Relation.DUPLICATE:
                return self._confirm()
            case Relation.COMPLEMENT if merged and self.stored:
                return self._merge(self.stored, self.olds[0], merged)
            case _ if self.stored:
                return self._succeed(self.stored)
        raise CannotAccept(self.proposal.review_id, "nothing stored could take the place", self.proposal.targets)

    def _withdrawn(self) -> list[Version]:
        """The fact stored beside says nothing of its own then."""
        return [self.stored.asserting(void=True)] if self.stored else []

    def _confirm(self) -> Plan:
        _, changed = rewrite(self.picture, self.now, self._withdrawn())
        return Plan(Operation.NOOP, self.now, self.decision, target=self.olds[0].id, changed=changed, reinforced=self.olds[0].id)

    def _amend(self, said: dict[str, Any]) -> Plan:
        claims = {name: said[name] for name in _AMENDED if name in said}
        metadata = {name: value for name, value in said.items() if name not in claims}
        asserted = {"asserted_at": self.now} if "valid_from" in said else {}
        claim = self.olds[0].asserting(**claims, **asserted)
        check_end(claim.belief.valid_from, claim.belief.said_until)
        _, changed = rewrite(self.picture, self.now, [claim, *self._withdrawn()])
        return Plan(Operation.AMEND, self.now, self.decision, target=claim.id, changed=changed, metadata=metadata or None)

    def _retract(self) -> Plan:
        start = self._end()
        claims = [old.asserting(retracted_at=start) for old in self._holding(self.olds, start)]
        _, changed = rewrite(self.picture, self.now, [*claims, *self._withdrawn()])
        return Plan(Operation.DELETE, self.now, self.decision, superseded=tuple(v.id for v in claims), changed=changed)

    def _end(self) -> datetime:
        """When what is retracted ends."""
        if self.stored:
            return self.stored.belief.valid_from
        told: datetime = (self.proposal.said or {}).get("retracted_at", self.proposal.created_at)
        return told

    def _succeed(self, stored: Version) -> Plan:
        """The fact stored beside takes the place of what it was proposed to end, from its own start on."""
        start = stored.belief.valid_from
        ahead = [old for old in self.olds if old.belief.valid_from > start]
        ended = self._holding([old for old in self.olds if old not in ahead], start, unless=ahead)
        later = [v for old in (*ended, *ahead) for v in [self._follows(old, start)] if v]
        claims = [v.asserting(retracted_at=start, ended_by=stored.id, contradicted_by=stored.id, tier=Tier.SEMANTIC) for v in ended]
        core = any(v.belief.tier is Tier.CORE for v in ended)
        successor = stored.asserting(tier=Tier.CORE if core else stored.belief.tier)
        if later and stored.kind is not Kind.CONSTRAINT:  # what it was never held against does not end it
            first = min(later, key=lambda v: v.belief.valid_from)
            if stored.belief.valid_until is None or stored.belief.valid_until > first.belief.valid_from:
                successor = successor.asserting(retracted_at=first.belief.valid_from, ended_by=first.id)
        _, changed = rewrite(self.picture, self.now, [*claims, successor])
        superseded = tuple(v.id for v in ended)
        return Plan(Operation.SUPERSEDE, self.now, self.decision, target=stored.id, superseded=superseded, changed=changed)

    def _follows(self, old: Version, start: datetime) -> Version | None:
        """What already takes the place after `start` in the old one's chain."""
        return old if old.belief.valid_from > start else next_after(self.picture.chain(old.chain_id), start)

    def _merge(self, stored: Version, old: Version, merged: Merged) -> Plan:
        start = max(stored.belief.valid_from, old.belief.valid_from)
        self._holding([old], start)
        united = version_of(merged.fact, new_id=merged.new_id, chain_id=old.chain_id, start=start, now=self.now)
        source = stored.asserting(retracted_at=start, ended_by=merged.new_id, merged=True)
        inserted, changed = rewrite(self.picture, self.now, [old.asserting(merged=True), source, united], merged.fact)
        links = tuple(Link(i, merged.new_id, LinkType.MERGED_INTO) for i in (old.id, stored.id))
        ended = (old.id, stored.id)
        return Plan(
            Operation.MERGE,
            self.now,
            self.decision,
            target=merged.new_id,
            superseded=ended,
            inserted=inserted,
            changed=changed,
            links=links,
        )

    def _holding(self, olds: Sequence[Version], at: datetime, *, unless: Sequence[Version] = ()) -> list[Version]:
        """Those that hold then: what has been ended meanwhile needs no end. Raises CannotAccept where none is left, `unless` others are."""
        holding = [old for old in olds if old.belief.holds(at)]
        if not holding and not unless:
            named = ", ".join(str(old.id) for old in olds)
            does = "does" if len(olds) == 1 else "do"
            raise CannotAccept(self.proposal.review_id, f"{named} {does} not hold at {at.isoformat()}", [old.id for old in olds])
        return holding
