"""Changes that wait for a person: proposing them, accepting them, rejecting them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from app.domain.chains import Chains
from app.domain.errors import CannotAccept, NotCandidates
from app.domain.fact import Fact, Kind, Tier
from app.domain.relation import Decision, Judge, Judgment, Operation, Relation
from app.domain.relationship import LinkType, Relationship
from app.domain.version import Version
from app.planning.building_blocks import (
    Placement,
    build_version,
    check_end,
    choose_start,
    plan_addition,
    rewrite_chains,
)
from app.planning.dating import choose_place, find_told_later, move_before
from app.planning.merges import link_merged
from app.planning.plan import (
    Plan,
    PreparedMerge,
    Review,
    ReviewDecision,
    ReviewSource,
    ReviewStatus,
    VersionChange,
)

# The claims of a memory that a plan can correct without ending the memory.
_CORRECTABLE = ("valid_from", "said_until")


# The judges may be right about some of what these reviews name, and wrong about the rest.
_CHOICES = (ReviewSource.LOW_CONFIDENCE, ReviewSource.JUDGES_DISAGREE)

# A fact leaves one review; a sweep finds the other questions that it raises.
OTHER_QUESTION_OPEN = "another question about it was left open"


# --- proposing ---------------------------------------------------------------------------------


def plan_for_review(
    live: Plan,
    fact: Fact,
    chains: Chains,
    source: ReviewSource,
    *,
    new_id: UUID,
) -> Plan:
    """Return a plan that stores the fact apart and leaves the other changes to a person.

    `live` is the plan that would have been carried out. If it changes nothing stored, it is
    returned as it is.
    """
    review = review_from_plan(live, chains, source)
    if review is None:
        return live
    start = choose_start(fact, live.now)
    check_end(start, fact.valid_until)
    if live.operation is Operation.DELETE and not live.inserted:
        return _plan_forgetting_review(live, review, start)
    decision = replace(
        live.decision,
        relation=Relation.NONE,
        reasoning=f"Stored beside, for review: {live.decision.reasoning}",
    )
    is_temporary = fact.valid_until is not None
    placement = Placement(new_id, new_id, start=start, now=live.now, temporary=is_temporary)
    other_question = OTHER_QUESTION_OPEN if live.review else None
    return replace(
        plan_addition(_adopt_planned_slot(fact, live), placement, chains),
        incoming=fact,
        judgments=live.judgments,
        decision=decision,
        links=tuple(Relationship(new_id, i, LinkType.CONTRADICTS) for i in live.superseded),
        review=review,
        model_cost=live.model_cost,
        look_again=live.look_again or other_question,
    )


def _plan_forgetting_review(live: Plan, review: Review, end: datetime) -> Plan:
    """Return the plan of a command to forget that leaves the ends to a person and stores nothing.

    The review itself records the end time.
    """
    decision = replace(
        live.decision,
        relation=Relation.NONE,
        reasoning=f"Left for review: {live.decision.reasoning}",
    )
    return Plan(
        operation=Operation.NOOP,
        now=live.now,
        decision=decision,
        incoming=live.incoming,
        judgments=live.judgments,
        review=replace(review, corrections={"retracted_at": end}),
        model_cost=live.model_cost,
    )


def review_from_plan(live: Plan, chains: Chains, source: ReviewSource) -> Review | None:
    """Return what a plan does to stored memories as a review; None if it changes none of them."""
    targets = live.superseded
    if not targets and live.operation in (Operation.NOOP, Operation.AMEND):
        targets = (live.target,) if live.target else ()
    elif not targets:
        targets = tuple(change.after.id for change in live.changed if change.has_moved)
    if not targets:
        return None
    decision = live.decision
    judgments: list[Judgment] = []
    for memory_id in targets:
        judgments.append(
            Judgment(
                memory_id=memory_id,
                relation=decision.relation,
                confidence=decision.confidence,
                reasoning=decision.reasoning,
                decided_by=decision.decided_by,
                findings=decision.findings,
            )
        )
    relied_on = [(memory_id, chains.get_version(memory_id).revision) for memory_id in targets]
    corrections: dict[str, Any] | None = None
    if live.operation is Operation.AMEND:
        corrections = _collect_corrections(live, chains.get_version(targets[0]))
    return Review(
        source=source,
        relation=decision.relation,
        judgments=tuple(judgments),
        relied_on=tuple(relied_on),
        corrections=corrections,
    )


def hold_plan(live: Plan, fact: Fact, chains: Chains) -> Plan:
    """Return the plan of a frozen agent, which does nothing but leave a review.

    `live` is the plan that would have been carried out.
    """
    decision = Decision.certain(
        Relation.NONE, Judge.RULE, "The agent is frozen, so the fact waits in a review."
    )
    return Plan(
        operation=Operation.NOOP,
        now=live.now,
        decision=decision,
        incoming=fact,
        judgments=live.judgments,
        review=build_held_review(review_from_plan(live, chains, ReviewSource.FROZEN)),
        model_cost=live.model_cost,
    )


def build_held_review(proposed: Review | None) -> Review:
    """Return the review of a store that waits; `proposed` is what it would change, if anything."""
    if proposed is None:
        return Review(ReviewSource.FROZEN, Relation.NONE, judgments=(), relied_on=())
    return replace(proposed, corrections=None)


def _collect_corrections(live: Plan, before: Version) -> dict[str, Any]:
    corrections: dict[str, Any] = {}
    for change in live.changed:
        if change.after.id != before.id:
            continue
        for name in _CORRECTABLE:
            value = getattr(change.after.belief, name)
            if value != getattr(before.belief, name):
                corrections[name] = value
    return corrections | (live.metadata or {})


def _adopt_planned_slot(fact: Fact, live: Plan) -> Fact:
    """Return the fact with the slot and kind that the live plan would have given it."""
    for insertion in live.inserted:
        planned = insertion.fact
        if planned.content == fact.content:
            return replace(
                fact,
                kind=planned.kind,
                entity=planned.entity,
                category=planned.category,
                key=planned.key,
                single_valued=planned.single_valued,
            )
    return fact


# --- accepting ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Proposal:
    """A review as it is stored.

    `memory_id` is the fact that was stored apart for the review. `relied_on` holds the memories
    concerned with the revisions that the proposal was made from. `corrections` are the values that
    accepting writes to the one memory concerned. Of a choice, accepting ends only what is chosen.
    """

    review_id: UUID
    relation: Relation
    created_at: datetime
    memory_id: UUID | None
    judgments: tuple[Judgment, ...]
    relied_on: tuple[tuple[UUID, int], ...]
    corrections: dict[str, Any] | None = None
    source: ReviewSource | None = None

    @property
    def new_text(self) -> str | None:
        """What the one memory concerned is to read if it is accepted, if that is known."""
        is_about_one = len(self.targets) == len(self.judgments) == 1
        return self.judgments[0].new_text if is_about_one else None

    @property
    def is_choice(self) -> bool:
        """Return True if the review names several memories and may be right about some of them."""
        return self.source in _CHOICES and len(self.targets) > 1

    @property
    def targets(self) -> tuple[UUID, ...]:
        """Return the memories that the proposal would change."""
        return tuple(dict.fromkeys(j.memory_id for j in self.judgments))

    @property
    def ids(self) -> tuple[UUID, ...]:
        """Return the targets and the fact that was stored for the review."""
        return (*self.targets, self.memory_id) if self.memory_id else self.targets

    def narrow_to(self, chosen: Sequence[UUID]) -> "Proposal":
        """Return the proposal about these of its targets alone. Raise NotCandidates for others."""
        foreign = [memory_id for memory_id in chosen if memory_id not in self.targets]
        if foreign:
            raise NotCandidates(self.review_id, foreign)
        if set(chosen) == set(self.targets) and not self.is_choice:
            return self
        judgments = tuple(j for j in self.judgments if j.memory_id in chosen)
        named = {*chosen, self.memory_id}
        # If the relations differ, take one by which each memory ends. Memories end in favour of the
        # fact that was stored for the review, if it was.
        relations = {judgment.relation for judgment in judgments}
        relation = relations.pop() if len(relations) == 1 else Relation.UPDATE
        if relation.effect.ends_stored and self.memory_id is None:
            relation = Relation.RETRACTION
        return replace(
            self,
            relation=relation,
            judgments=judgments,
            relied_on=tuple(relied for relied in self.relied_on if relied[0] in named),
        )

    def to_review_decision(
        self,
        status: ReviewStatus,
        note: str | None,
        chosen: Sequence[UUID] | None = None,
    ) -> ReviewDecision:
        """Return the decision that gives the pending review this status."""
        picked = None if chosen is None else tuple(i for i in self.targets if i in chosen)
        return ReviewDecision(self.review_id, ReviewStatus.PENDING, status, note, picked)


def find_moved_memories(proposal: Proposal, chains: Chains) -> list[UUID]:
    """Return the memories that changed since the proposal was made."""
    moved: list[UUID] = []
    for memory_id, revision in proposal.relied_on:
        if chains.get_version(memory_id).revision != revision:
            moved.append(memory_id)
    return moved


def plan_accept(
    proposal: Proposal,
    chains: Chains,
    *,
    now: datetime,
    merged: PreparedMerge | None = None,
    note: str | None = None,
    chosen: Sequence[UUID] | None = None,
    by: Judge = Judge.REVIEWER,
) -> Plan:
    """Plan what the proposal comes to now, for the chosen memories or all that it names.

    Raise NotCandidates, and CannotAccept if the memories concerned have changed too much.
    """
    settled = proposal.to_review_decision(ReviewStatus.ACCEPTED, note, chosen)
    if chosen is None:
        # Leave out targets that were withdrawn or erased, unless all of them were.
        versions = [chains.get_version(i) for i in proposal.targets]
        left = [v.id for v in versions if not v.belief.void and v.erased_at is None]
        chosen = left or proposal.targets
    proposal = proposal.narrow_to(chosen)
    surest = max(proposal.judgments, key=lambda judgment: judgment.confidence, default=None)
    decision = Decision(
        relation=proposal.relation if proposal.targets else Relation.NONE,
        confidence=surest.confidence if surest else 1.0,
        decided_by=by,
        reasoning=note or (f"Accepted: {surest.reasoning}" if surest else "Accepted."),
        findings=surest.findings if surest else (),
    )
    plan = plan_proposed(proposal, chains, decision, now=now, merged=merged)
    return plan.with_settled_review(settled)


def plan_proposed(
    proposal: Proposal,
    chains: Chains,
    decision: Decision,
    *,
    now: datetime,
    merged: PreparedMerge | None,
) -> Plan:
    """Plan the proposed change for the memories as they are now.

    Raise CannotAccept if the memories concerned have changed too much.
    """
    stored = chains.get_version(proposal.memory_id) if proposal.memory_id else None
    targets = [chains.get_version(i) for i in proposal.targets]
    concerned = [*targets, stored] if stored else targets
    gone = [version.id for version in concerned if version.erased_at or version.belief.void]
    if gone:
        raise CannotAccept(proposal.review_id, "what it is about was withdrawn or erased", gone)
    acceptance = _Acceptance(
        proposal=proposal,
        stored=stored,
        targets=targets,
        chains=chains,
        now=now,
        decision=decision,
    )
    return acceptance.make_plan(merged)


def plan_reject(
    proposal: Proposal,
    status: ReviewStatus,
    *,
    now: datetime,
    by: Judge,
    note: str,
) -> Plan:
    """Plan the rejection or expiry of a review, which changes no memory."""
    plan = Plan(
        operation=Operation.NOOP,
        now=now,
        decision=Decision.certain(Relation.NONE, by, note),
        target=proposal.memory_id,
    )
    return plan.with_settled_review(proposal.to_review_decision(status, note))


@dataclass(frozen=True, slots=True)
class _Acceptance:
    """An accepted proposal; `stored` is the fact stored for it, `targets` what it would change."""

    proposal: Proposal
    stored: Version | None
    targets: Sequence[Version]
    chains: Chains
    now: datetime
    decision: Decision

    def make_plan(self, merged: PreparedMerge | None) -> Plan:
        """Plan the proposed change. Raise CannotAccept if it needs a fact that is not stored."""
        if not self.targets:
            return self._build_plan(Operation.NOOP, target=self.proposal.memory_id)
        operation = self.proposal.relation.effect.operation
        if operation is Operation.DELETE:
            return self._plan_retraction()
        if self.proposal.corrections is not None:
            return self._plan_correction(self.proposal.corrections)
        if operation is Operation.NOOP:
            confirmed = self.targets[0].id
            _, changed = rewrite_chains(self.chains, self.now, self._withdraw_stored())
            plan = self._build_plan(Operation.NOOP, target=confirmed, changed=changed)
            return replace(plan, reinforced=confirmed)
        if self.stored is None:
            raise CannotAccept(
                self.proposal.review_id,
                "nothing stored could take the place",
                self.proposal.targets,
            )
        if operation is Operation.MERGE and merged:
            return self._plan_merge(self.stored, self.targets[0], merged)
        if merged:
            return self._plan_rewriting(self.stored, self.targets[0], merged)
        return (
            self._plan_cover(self.stored)
            or self._plan_late_arrival(self.stored)
            or self._plan_succession(self.stored)
        )

    def _build_plan(
        self,
        operation: Operation,
        *,
        target: UUID | None,
        superseded: tuple[UUID, ...] = (),
        changed: tuple[VersionChange, ...] = (),
    ) -> Plan:
        return Plan(
            operation=operation,
            now=self.now,
            decision=self.decision,
            target=target,
            superseded=superseded,
            changed=changed,
        )

    def _withdraw_stored(self) -> list[Version]:
        """Return the stored fact withdrawn, because it says nothing of its own any more."""
        return [self.stored.replace_claims(void=True)] if self.stored else []

    def _plan_correction(self, corrections: dict[str, Any]) -> Plan:
        claims: dict[str, Any] = {}
        metadata: dict[str, Any] = {}
        for name, value in corrections.items():
            part = claims if name in _CORRECTABLE else metadata
            part[name] = value
        if "valid_from" in claims:
            claims["asserted_at"] = self.now
        claim = self.targets[0].replace_claims(**claims)
        check_end(claim.belief.valid_from, claim.belief.said_until)
        _, changed = rewrite_chains(self.chains, self.now, [claim, *self._withdraw_stored()])
        plan = self._build_plan(Operation.AMEND, target=claim.id, changed=changed)
        return plan.with_metadata(metadata)

    def _plan_retraction(self) -> Plan:
        if self.stored:
            belief = self.stored.belief
            end = choose_place(belief.valid_from, belief.said_until)
        else:
            corrections = self.proposal.corrections or {}
            end = corrections.get("retracted_at", self.proposal.created_at)
        holding = self._require_any_holding(self.targets, end)
        ended_by = self.stored.id if self.stored else None
        claims = [v.replace_claims(retracted_at=end, ended_by=ended_by) for v in holding]
        _, changed = rewrite_chains(self.chains, self.now, claims)
        superseded = tuple(claim.id for claim in claims)
        return self._build_plan(
            Operation.DELETE, target=ended_by, superseded=superseded, changed=changed
        )

    def _plan_cover(self, stored: Version) -> Plan | None:
        """Plan that the stored temporary fact joins the chain of a target, which resumes after it.

        Nothing ends in other chains, as in a store of a temporary fact. Return None if the fact is
        lasting, if its own chain has other versions, or if no target holds or resumes when it
        begins.
        """
        is_alone = len(self.chains.find_chain(stored.chain_id)) == 1
        is_free = is_alone and stored.kind is not Kind.CONSTRAINT
        room = self._make_room(stored) if is_free and stored.belief.temporary else ()
        if not room:
            return None
        *moved, covered = room
        covering = stored.replace_claims(chain_id=covered.chain_id)
        _, changed = rewrite_chains(self.chains, self.now, [*moved, covered, covering])
        # The covered version resumes unless its end is where the fact begins.
        after = {change.after.id: change.after.belief.valid_until for change in changed}
        until = after.get(covered.id)
        if until is None or until > stored.belief.valid_from:
            return self._build_plan(Operation.AMEND, target=stored.id, changed=changed)
        ended = covered.replace_claims(contradicted_by=stored.id, tier=Tier.SEMANTIC)
        _, changed = rewrite_chains(self.chains, self.now, [*moved, ended, covering])
        return self._build_plan(
            Operation.SUPERSEDE, target=stored.id, superseded=(ended.id,), changed=changed
        )

    def _plan_late_arrival(self, stored: Version) -> Plan | None:
        """Plan that the stored fact takes its place before the only target, in the chain of that.

        Return None if the target does not begin later, or if the fact has a reason to stay apart.
        """
        [target, *others] = self.targets
        if others or target.belief.valid_from <= stored.belief.valid_from:
            return None
        chain = self.chains.find_chain(target.chain_id)
        is_alone = len(self.chains.find_chain(stored.chain_id)) == 1
        if not is_alone or any(each.kind is Kind.CONSTRAINT for each in (stored, *chain)):
            return None
        if self._find_told_later(target, stored):
            return None
        late = stored.replace_claims(chain_id=target.chain_id)
        _, changed = rewrite_chains(self.chains, self.now, [late])
        return self._build_plan(Operation.AMEND, target=stored.id, changed=changed)

    def _make_room(self, stored: Version) -> Sequence[Version]:
        """Return the first target that holds or resumes when the stored fact begins, as last item.

        The versions before it have to be moved with it. Return nothing if there is no such target.
        """
        start = stored.belief.valid_from
        for target in self.targets:
            if target.kind is Kind.CONSTRAINT:
                continue
            if later := self._find_told_later(target, stored):
                return move_before(later, start, self.now)
            if target.stands_at(start):
                return (target,)
        return ()

    def _plan_succession(self, stored: Version) -> Plan:
        """Plan that the stored fact takes the place of the targets, from its own start on."""
        start = stored.belief.valid_from
        if not stored.stands_at(start):
            # Something else took its place: one of the targets, perhaps, which would make a ring.
            raise CannotAccept(
                self.proposal.review_id,
                f"{stored.id} does not hold at {start.isoformat()}",
                [stored.id],
            )
        begun: list[Version] = []
        scheduled: list[Version] = []
        replaced: list[Version] = []
        moved: list[Version] = []
        for target in self.targets:
            if later := self._find_told_later(target, stored):
                *others, version = move_before(later, start, self.now)
                moved += others
                replaced.append(version)
            elif target.belief.valid_from > start:
                scheduled.append(target)
            else:
                begun.append(target)
        holding = self._require_any_holding(begun, start, unless=[*scheduled, *replaced])
        ended = [*holding, *replaced]
        # A lasting fact also ends what would resume after the ended versions.
        resuming: list[Version] = []
        if not stored.belief.temporary:
            for version in holding:
                resuming += self.chains.find_resuming(version, start)
        claims = [
            version.replace_claims(
                retracted_at=start,
                ended_by=stored.id,
                contradicted_by=stored.id,
                tier=Tier.SEMANTIC,
            )
            for version in (*ended, *resuming)
        ]
        core = any(version.belief.tier is Tier.CORE for version in ended)
        successor = stored.replace_claims(tier=Tier.CORE if core else stored.belief.tier)
        successor = self._end_before_followers(successor, holding, scheduled)
        _, changed = rewrite_chains(self.chains, self.now, [*moved, *claims, successor])
        superseded = tuple(version.id for version in ended)
        return self._build_plan(
            Operation.SUPERSEDE, target=stored.id, superseded=superseded, changed=changed
        )

    def _end_before_followers(
        self, successor: Version, ended: Sequence[Version], scheduled: Sequence[Version]
    ) -> Version:
        """Return the successor with its end at the first lasting version that follows it.

        The next versions in the chains of the ended ones follow, and the scheduled targets. A
        constraint keeps its end, because nobody compared it with the versions that follow.
        """
        followers: list[Version] = []
        for version in ended:
            start = successor.belief.valid_from
            if follower := self.chains.find_next_lasting(version.chain_id, start):
                followers.append(follower)
        followers += [version for version in scheduled if not version.belief.temporary]
        if not followers or successor.kind is Kind.CONSTRAINT:
            return successor
        first = min(followers, key=lambda version: version.belief.valid_from)
        end = first.belief.valid_from
        if successor.belief.valid_until is not None and successor.belief.valid_until <= end:
            return successor
        return successor.replace_claims(retracted_at=end, ended_by=first.id)

    def _find_told_later(self, target: Version, stored: Version) -> Sequence[Version]:
        """Return the versions up to the target that only seem to begin after the stored fact.

        Return nothing unless the stored fact begins when its words say.
        """
        is_as_stored = stored.belief.asserted_at == stored.created_at
        if not stored.has_dated_start or not is_as_stored:
            return ()
        later = find_told_later(
            self.chains,
            target.chain_id,
            start=stored.belief.valid_from,
            told_at=stored.told_at,
        )
        return later if later and later[-1] == target else ()

    def _plan_merge(self, stored: Version, target: Version, merged: PreparedMerge) -> Plan:
        start = max(stored.belief.valid_from, target.belief.valid_from)
        self._require_any_holding([target], start)
        placement = Placement(merged.new_id, target.chain_id, start=start, now=self.now)
        merged_version = build_version(merged.fact, placement)
        source = stored.replace_claims(retracted_at=start, ended_by=merged.new_id, merged=True)
        asserted = [target.replace_claims(merged=True), source, merged_version]
        inserted, changed = rewrite_chains(self.chains, self.now, asserted, merged.fact)
        return Plan(
            operation=Operation.MERGE,
            now=self.now,
            decision=self.decision,
            target=merged.new_id,
            superseded=(target.id, stored.id),
            inserted=inserted,
            changed=changed,
            links=link_merged(merged, target.id, stored.id),
        )

    def _plan_rewriting(self, stored: Version, target: Version, rewritten: PreparedMerge) -> Plan:
        """Plan the new text of a memory that changes in part (`plan_rewritings`)."""
        start = max(stored.belief.valid_from, target.belief.valid_from)
        self._require_any_holding([target], start)
        placement = Placement(rewritten.new_id, target.chain_id, start=start, now=self.now)
        asserted = [target, build_version(rewritten.fact, placement)]
        links: tuple[Relationship, ...] = ()
        if rewritten.tells_all:
            asserted.append(
                stored.replace_claims(retracted_at=start, ended_by=rewritten.new_id, merged=True)
            )
            links = link_merged(rewritten, stored.id)
        inserted, changed = rewrite_chains(self.chains, self.now, asserted, rewritten.fact)
        return Plan(
            operation=Operation.UPDATE,
            now=self.now,
            decision=self.decision,
            target=rewritten.new_id if rewritten.tells_all else stored.id,
            superseded=(target.id,),
            inserted=inserted,
            changed=changed,
            links=links,
        )

    def _require_any_holding(
        self, targets: Sequence[Version], at: datetime, *, unless: Sequence[Version] = ()
    ) -> list[Version]:
        """Return the versions that hold at `at`.

        Raise CannotAccept if there are none and `unless` is empty.
        """
        holding = [target for target in targets if target.belief.holds_at(at)]
        if not holding and not unless:
            ids = [target.id for target in targets]
            named = ", ".join(map(str, ids))
            does = "does" if len(ids) == 1 else "do"
            reason = f"{named} {does} not hold at {at.isoformat()}"
            raise CannotAccept(self.proposal.review_id, reason, ids)
        return holding
