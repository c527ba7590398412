"""Changes that wait for a person: what is proposed in place of making them, and what accepting comes to."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from app.domain.chains import Chains
from app.domain.errors import CannotAccept
from app.domain.fact import Fact, Kind, Tier
from app.domain.relation import Decision, Judge, Judgment, Operation, Relation
from app.domain.relationship import LinkType, Relationship
from app.domain.timeline import find_next_after
from app.domain.version import Version
from app.planning.building_blocks import build_version, check_end, plan_addition, rewrite_chains
from app.planning.classified import PreparedMerge
from app.planning.plan import Plan, Review, ReviewDecision, ReviewSource, ReviewStatus

# What a plan can correct of a memory without ending it.
_AMENDED = ("valid_from", "said_until")


# A fact leaves one review; a sweep finds what else it asks.
OTHER_QUESTION_OPEN = "another question about it was left open"


# --- proposing ---------------------------------------------------------------------------------------------------------


def plan_for_review(
    live: Plan, fact: Fact, picture: Chains, source: ReviewSource, *, new_id: UUID
) -> Plan:
    """The plan that changes nothing stored: the fact stands beside, and what would have been done to others waits for a person.

    `live` is the plan that would have been carried out; one that changes nothing is carried out.
    """
    review = review_from_plan(live, picture, source)
    if review is None:
        return live
    start = live.now if fact.valid_from is None else fact.valid_from
    check_end(start, fact.valid_until)
    beside = plan_addition(
        _adopt_planned_slot(fact, live),
        picture,
        new_id=new_id,
        chain_id=new_id,
        start=start,
        now=live.now,
    )
    links = [Relationship(new_id, i, LinkType.CONTRADICTS) for i in live.superseded]
    decision = replace(
        live.decision,
        relation=Relation.NONE,
        reasoning=f"Stored beside, for review: {live.decision.reasoning}",
    )
    return replace(
        beside,
        decision=decision,
        incoming=fact,
        judgments=live.judgments,
        links=tuple(links),
        review=review,
        model_cost=live.model_cost,
        look_again=live.look_again or (OTHER_QUESTION_OPEN if live.review else None),
    )


def review_from_plan(live: Plan, picture: Chains, source: ReviewSource) -> Review | None:
    """What a plan does to stored memories, as a review; None where it does nothing to them."""
    targets = live.superseded or _list_touched_memories(live)
    if not targets:
        return None
    said = _judgment_from_plan(live)
    judgments = tuple(replace(said, memory_id=i) for i in targets)
    relied_on = tuple((i, picture.get_version(i).revision) for i in targets)
    amended = (
        _collect_corrections(live, picture.get_version(targets[0]))
        if live.operation is Operation.AMEND
        else None
    )
    return Review(
        source,
        live.decision.relation,
        _describe_acceptance(live, targets),
        judgments,
        relied_on,
        amended,
    )


def _list_touched_memories(live: Plan) -> tuple[UUID, ...]:
    """The stored memories that a plan which ends none confirms, corrects or moves."""
    if live.operation in (Operation.NOOP, Operation.AMEND):
        return (live.target,) if live.target else ()
    return tuple(c.after.id for c in live.changed if c.has_moved)


def _judgment_from_plan(live: Plan) -> Judgment:
    decision = live.decision
    return Judgment(
        UUID(int=0),
        decision.relation,
        decision.confidence,
        decision.reasoning,
        decision.decided_by,
        decision.findings,
    )


def _collect_corrections(live: Plan, before: Version) -> dict[str, Any]:
    after = next((c.after for c in live.changed if c.after.id == before.id), before)
    pairs = ((name, getattr(after.belief, name), getattr(before.belief, name)) for name in _AMENDED)
    return {name: new for name, new, old in pairs if new != old} | (live.metadata or {})


def _describe_acceptance(live: Plan, targets: Sequence[UUID]) -> str:
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


def _adopt_planned_slot(fact: Fact, live: Plan) -> Fact:
    """The fact with the slot and kind that the live plan would have given it."""
    taken = next((i.fact for i in live.inserted if i.fact.content == fact.content), None)
    if taken is None:
        return fact
    return replace(
        fact,
        kind=taken.kind,
        entity=taken.entity,
        category=taken.category,
        key=taken.key,
        single_valued=taken.single_valued,
    )


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
    corrections: dict[str, Any] | None = None

    @property
    def targets(self) -> tuple[UUID, ...]:
        return tuple(dict.fromkeys(j.memory_id for j in self.judgments))

    @property
    def ids(self) -> tuple[UUID, ...]:
        return (*self.targets, *([self.memory_id] if self.memory_id else []))

    def to_review_decision(self, status: ReviewStatus, note: str | None) -> ReviewDecision:
        return ReviewDecision(self.review_id, ReviewStatus.PENDING, status, note)


def find_moved_memories(proposal: Proposal, picture: Chains) -> list[UUID]:
    """The memories that changed since the proposal was made."""
    return [i for i, revision in proposal.relied_on if picture.get_version(i).revision != revision]


def plan_accept(
    proposal: Proposal,
    picture: Chains,
    *,
    now: datetime,
    merged: PreparedMerge | None = None,
    note: str | None = None,
) -> Plan:
    """What the proposal comes to now. Raises CannotAccept where what it is about has gone another way."""
    best = max(proposal.judgments, key=lambda j: j.confidence, default=None)
    relation = proposal.relation if proposal.targets else Relation.NONE
    decision = Decision(
        relation,
        best.confidence if best else 1.0,
        Judge.REVIEWER,
        note or proposal.sentence,
        best.findings if best else (),
    )
    plan = plan_proposed(proposal, picture, decision, now=now, merged=merged)
    return replace(plan, settled=proposal.to_review_decision(ReviewStatus.ACCEPTED, note))


def plan_proposed(
    proposal: Proposal,
    picture: Chains,
    decision: Decision,
    *,
    now: datetime,
    merged: PreparedMerge | None,
) -> Plan:
    """What is proposed, done to the memories as they are now. Raises CannotAccept where they have gone another way."""
    stored = picture.get_version(proposal.memory_id) if proposal.memory_id else None
    olds = [picture.get_version(i) for i in proposal.targets]
    if gone := [
        v.id for v in (*olds, *((stored,) if stored else ())) if v.erased_at or v.belief.void
    ]:
        raise CannotAccept(proposal.review_id, "what it is about was withdrawn or erased", gone)
    return _AcceptancePlanner(proposal, stored, olds, picture, now, decision).make_plan(merged)


def plan_reject(
    proposal: Proposal, status: ReviewStatus, *, now: datetime, by: Judge, note: str
) -> Plan:
    """Nothing changes but the review."""
    decision = Decision(Relation.NONE, 1.0, by, note)
    return Plan(
        Operation.NOOP,
        now,
        decision,
        target=proposal.memory_id,
        settled=proposal.to_review_decision(status, note),
    )


@dataclass(frozen=True, slots=True)
class _AcceptancePlanner:
    proposal: Proposal
    stored: Version | None
    olds: Sequence[Version]
    picture: Chains
    now: datetime
    decision: Decision

    def make_plan(self, merged: PreparedMerge | None) -> Plan:
        if not self.olds:
            return Plan(Operation.NOOP, self.now, self.decision, target=self.proposal.memory_id)
        match self.proposal.relation:
            case Relation.RETRACTION:
                return self._plan_retraction()
            case _ if self.proposal.corrections is not None:
                return self._plan_correction(self.proposal.corrections)
            case Relation.DUPLICATE:
                return self._plan_confirmation()
            case Relation.COMPLEMENT if merged and self.stored:
                return self._plan_merge(self.stored, self.olds[0], merged)
            case _ if self.stored:
                return self._plan_succession(self.stored)
        raise CannotAccept(
            self.proposal.review_id, "nothing stored could take the place", self.proposal.targets
        )

    def _withdraw_stored(self) -> list[Version]:
        """The fact stored beside says nothing of its own then."""
        return [self.stored.replace_claims(void=True)] if self.stored else []

    def _plan_confirmation(self) -> Plan:
        _, changed = rewrite_chains(self.picture, self.now, self._withdraw_stored())
        return Plan(
            Operation.NOOP,
            self.now,
            self.decision,
            target=self.olds[0].id,
            changed=changed,
            reinforced=self.olds[0].id,
        )

    def _plan_correction(self, corrections: dict[str, Any]) -> Plan:
        claims = {name: corrections[name] for name in _AMENDED if name in corrections}
        metadata = {name: value for name, value in corrections.items() if name not in claims}
        asserted = {"asserted_at": self.now} if "valid_from" in corrections else {}
        claim = self.olds[0].replace_claims(**claims, **asserted)
        check_end(claim.belief.valid_from, claim.belief.said_until)
        _, changed = rewrite_chains(self.picture, self.now, [claim, *self._withdraw_stored()])
        return Plan(
            Operation.AMEND,
            self.now,
            self.decision,
            target=claim.id,
            changed=changed,
            metadata=metadata or None,
        )

    def _plan_retraction(self) -> Plan:
        start = self._choose_end()
        claims = [
            old.replace_claims(retracted_at=start)
            for old in self._require_any_holding(self.olds, start)
        ]
        _, changed = rewrite_chains(self.picture, self.now, [*claims, *self._withdraw_stored()])
        return Plan(
            Operation.DELETE,
            self.now,
            self.decision,
            superseded=tuple(v.id for v in claims),
            changed=changed,
        )

    def _choose_end(self) -> datetime:
        """When what is retracted ends."""
        if self.stored:
            return self.stored.belief.valid_from
        told: datetime = (self.proposal.corrections or {}).get(
            "retracted_at", self.proposal.created_at
        )
        return told

    def _plan_succession(self, stored: Version) -> Plan:
        """The fact stored beside takes the place of what it was proposed to end, from its own start on."""
        start = stored.belief.valid_from
        ahead = [old for old in self.olds if old.belief.valid_from > start]
        ended = self._require_any_holding(
            [old for old in self.olds if old not in ahead], start, unless=ahead
        )
        later = [v for old in (*ended, *ahead) for v in [self._find_successor(old, start)] if v]
        claims = [
            v.replace_claims(
                retracted_at=start,
                ended_by=stored.id,
                contradicted_by=stored.id,
                tier=Tier.SEMANTIC,
            )
            for v in ended
        ]
        core = any(v.belief.tier is Tier.CORE for v in ended)
        successor = stored.replace_claims(tier=Tier.CORE if core else stored.belief.tier)
        if (
            later and stored.kind is not Kind.CONSTRAINT
        ):  # what it was never held against does not end it
            first = min(later, key=lambda v: v.belief.valid_from)
            if (
                stored.belief.valid_until is None
                or stored.belief.valid_until > first.belief.valid_from
            ):
                successor = successor.replace_claims(
                    retracted_at=first.belief.valid_from, ended_by=first.id
                )
        _, changed = rewrite_chains(self.picture, self.now, [*claims, successor])
        superseded = tuple(v.id for v in ended)
        return Plan(
            Operation.SUPERSEDE,
            self.now,
            self.decision,
            target=stored.id,
            superseded=superseded,
            changed=changed,
        )

    def _find_successor(self, old: Version, start: datetime) -> Version | None:
        """What already takes the place after `start` in the old one's chain."""
        return (
            old
            if old.belief.valid_from > start
            else find_next_after(self.picture.find_chain(old.chain_id), start)
        )

    def _plan_merge(self, stored: Version, old: Version, merged: PreparedMerge) -> Plan:
        start = max(stored.belief.valid_from, old.belief.valid_from)
        self._require_any_holding([old], start)
        united = build_version(
            merged.fact, new_id=merged.new_id, chain_id=old.chain_id, start=start, now=self.now
        )
        source = stored.replace_claims(retracted_at=start, ended_by=merged.new_id, merged=True)
        inserted, changed = rewrite_chains(
            self.picture, self.now, [old.replace_claims(merged=True), source, united], merged.fact
        )
        links = tuple(
            Relationship(i, merged.new_id, LinkType.MERGED_INTO) for i in (old.id, stored.id)
        )
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

    def _require_any_holding(
        self, olds: Sequence[Version], at: datetime, *, unless: Sequence[Version] = ()
    ) -> list[Version]:
        """Those that hold then: what has been ended meanwhile needs no end. Raises CannotAccept where none is left, `unless` others are."""
        holding = [old for old in olds if old.belief.holds_at(at)]
        if not holding and not unless:
            named = ", ".join(str(old.id) for old in olds)
            does = "does" if len(olds) == 1 else "do"
            raise CannotAccept(
                self.proposal.review_id,
                f"{named} {does} not hold at {at.isoformat()}",
                [old.id for old in olds],
            )
        return holding
