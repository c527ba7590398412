"""From judgments to a plan, for facts that neither their slot nor an equal text decides.

What judges may cause is bounded here: they never end a constraint, lower trust never ends higher,
and at most `max_closures` memories end. Everything beyond these bounds becomes a review.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from app.domain.chains import Chains
from app.domain.errors import InvalidFact
from app.domain.fact import DEFAULT_TRUST, Fact, Kind, StoredFact
from app.domain.policy import Policy
from app.domain.relation import (
    Choice,
    Decision,
    Judge,
    Judgment,
    Operation,
    Relation,
    decide_operation,
    describe_acceptance,
)
from app.domain.relationship import LinkType, Relationship
from app.domain.text import fold
from app.domain.version import Version
from app.planning.building_blocks import (
    Placement,
    build_version,
    check_decision,
    check_end,
    choose_told_at,
    extend_lifespan,
    inherit_from_ended,
    plan_addition,
    plan_replacement,
    rewrite_chains,
)
from app.planning.dating import find_told_later, has_only_dated_end, is_past, move_before
from app.planning.plan import IncomingFact, Plan, PreparedMerge, Review, ReviewSource

MAX_LINKS = 3

# The local judge ends .13 % of look-alikes at this confidence (docs/classification.md).
SURE_OF_CAPTURED = 0.97

# A judgment that is not carried out, and why a person should look at it.
OpenJudgment = tuple[ReviewSource, Judgment]


@dataclass(frozen=True, slots=True)
class StoreCase:
    """One fact to be stored, with everything that its plan depends on."""

    incoming: IncomingFact
    chains: Chains
    policy: Policy
    start: datetime
    now: datetime

    @property
    def fact(self) -> Fact:
        return self.incoming.fact

    @property
    def new_id(self) -> UUID:
        return self.incoming.new_id

    @property
    def is_temporary(self) -> bool:
        """Return True if the fact has a stated end: what it covers resumes then."""
        return self.fact.valid_until is not None

    @property
    def trust(self) -> int:
        return DEFAULT_TRUST if self.fact.trust is None else self.fact.trust

    def place_in(self, chain_id: UUID) -> Placement:
        """Return the fact's place in this chain."""
        return Placement(
            new_id=self.new_id,
            chain_id=chain_id,
            start=self.start,
            now=self.now,
            temporary=self.is_temporary,
        )

    def place_in_new_chain(self) -> Placement:
        """Return the fact's place in a chain of its own."""
        return self.place_in(self.new_id)

    def get_judged(self, judgment: Judgment) -> Version:
        """Return the version that the judgment is about."""
        return self.chains.get_version(judgment.memory_id)

    @property
    def told_at(self) -> datetime:
        """Return when the words of the fact were spoken."""
        return choose_told_at(self.fact, self.now)

    @property
    def is_past(self) -> bool:
        """Return True if the words say that the fact had ended when they were spoken."""
        return self.incoming.is_episode or is_past(self.fact, self.told_at)

    def holds_at_start(self, judgment: Judgment) -> bool:
        """Return True if the judged version holds when the fact begins."""
        return self.get_judged(judgment).belief.holds_at(self.start)

    def find_told_later(self, chain_id: UUID) -> Sequence[Version]:
        """Return the versions of the chain that only seem to begin after the fact.

        Return nothing if the words of the fact do not date it.
        """
        if self.fact.dated_by is None:
            return ()
        return find_told_later(self.chains, chain_id, start=self.start, told_at=self.told_at)

    def make_room(self, judgment: Judgment) -> Sequence[Version]:
        """Return the judged version as one that holds when the fact begins, as the last item.

        The versions before it have to be moved with it. Return nothing if it does not hold then,
        and its start was stated.
        """
        version = self.get_judged(judgment)
        if self.holds_at_start(judgment):
            return (version,)
        later = self.find_told_later(version.chain_id)
        if not later or later[-1] != version:
            return ()
        return move_before(later, self.start, self.now)


def plan_classified(case: StoreCase) -> Plan:
    """Plan what the judgments of signals and model lead to."""
    usable = [j for j in case.incoming.judgments if _is_usable(case, j)]
    choice = decide_operation(usable, case.policy.is_sure)
    if case.policy.allows_operation(choice.operation):
        plan = _plan_choice(case, choice)
        if plan is not None:
            return plan
    source = ReviewSource.FALLBACK if choice.acts_on else ReviewSource.LOW_CONFIDENCE
    return _plan_separate_fact(case, usable, (*choice.acts_on, *choice.flagged), source)


def _is_usable(case: StoreCase, judgment: Judgment) -> bool:
    """Return True if a judge made it about a stored memory that may be about the same entity.

    An entity given by the caller must match exactly. Without one the stored entity must be the
    default or be named in the text.
    """
    if judgment.decided_by not in (Judge.SIGNALS, Judge.LOCAL, Judge.MODEL):
        return False
    if not case.chains.has_version(judgment.memory_id) or _ends_present(case, judgment):
        return False
    entity = case.get_judged(judgment).slot.entity
    if entity == case.fact.slot.entity:
        return True
    return case.fact.entity is None and entity in fold(case.fact.content)


def _ends_present(case: StoreCase, judgment: Judgment) -> bool:
    """Return True if a fact about the past would end what held when it was told.

    What is over ends nothing that holds. But if the words state only an end, they may say when a
    stored memory ended.
    """
    effect = judgment.relation.effect
    if not case.is_past or not effect.ends_stored:
        return False
    if judgment.relation is Relation.RETRACTION and has_only_dated_end(case.fact):
        return False
    return case.get_judged(judgment).belief.holds_at(case.told_at)


def _plan_choice(case: StoreCase, choice: Choice) -> Plan | None:
    match choice.operation:
        case Operation.NOOP:
            return _plan_duplicate(case, choice.acts_on[0])
        case Operation.MERGE:
            return _plan_merge(case, choice.acts_on[0])
        case Operation.UPDATE | Operation.DELETE:
            return _plan_ends(case, choice)
        case _:
            return None


def _plan_duplicate(case: StoreCase, judgment: Judgment) -> Plan | None:
    version = case.get_judged(judgment)
    if not version.belief.holds_at(case.start) or _is_more_specific(case, version):
        return None
    known = Plan(
        operation=Operation.NOOP,
        now=case.now,
        decision=Decision.from_judgment(judgment),
        target=version.id,
        reinforced=version.id,
    )
    return extend_lifespan(known, version, case.fact)


def _is_more_specific(case: StoreCase, version: Version) -> bool:
    """Return True if the fact states a kind, a slot or an end that the version does not have.

    The version may name the end in words that nobody read for dates.
    """
    fact, said_until = case.fact, version.belief.said_until
    has_other_kind = fact.kind not in (None, Kind.FACT, version.kind)
    has_other_key = fact.key is not None and fact.slot.key != version.slot.key
    has_other_end = fact.valid_until is not None and fact.valid_until != said_until
    if said_until is None and version.id in case.incoming.same_dates:
        has_other_end = False
    return has_other_kind or has_other_key or has_other_end


# --- ends --------------------------------------------------------------------------------------


def _plan_ends(case: StoreCase, choice: Choice) -> Plan | None:
    """End the memories that may be ended and leave a review for the others.

    Return None if there is neither.
    """
    allowed, refused = _split_by_limits(case, choice.acts_on)
    plan = _plan_allowed_ends(case, choice, allowed)
    if plan is None and not refused:
        plan = _plan_late_arrival(case, choice)
    open_judgments = [*refused, *_list_unsure_ends(case, choice)]
    if plan is not None:
        return plan.with_review(_build_follow_up_review(case, plan, open_judgments))
    if refused:
        return _plan_refusal(case, choice, refused[0][0], open_judgments)
    return None


def _plan_allowed_ends(case: StoreCase, choice: Choice, allowed: Sequence[Judgment]) -> Plan | None:
    if not allowed:
        return None
    if choice.operation is Operation.DELETE:
        return _plan_retraction(case, allowed)
    return _plan_update(case, allowed)


def _split_by_limits(
    case: StoreCase, judgments: Sequence[Judgment]
) -> tuple[list[Judgment], list[OpenJudgment]]:
    """Return the judgments that may be acted on, surest first, and the ones that may not.

    Judgments about versions that do not hold when the fact begins, and that cannot be moved there,
    are in neither list.
    """
    allowed: list[Judgment] = []
    refused: list[OpenJudgment] = []
    for judgment in judgments:
        room = case.make_room(judgment)
        if not room:
            continue
        ended = _list_ended_with(case, room)
        if any(version.kind is Kind.CONSTRAINT for version in ended):
            refused.append((ReviewSource.CONSTRAINT, judgment))
        elif not all(_is_trusted_enough(case, judgment, version) for version in ended):
            refused.append((ReviewSource.TRUST, judgment))
        elif len(allowed) >= case.policy.max_closures:
            refused.append((ReviewSource.CAP, judgment))
        else:
            allowed.append(judgment)
    return allowed, refused


def _list_ended_with(case: StoreCase, room: Sequence[Version]) -> list[Version]:
    """Return what has to move and to end, and what would resume after it.

    A lasting fact ends that too.
    """
    lasting = case.chains.find_lasting(room[-1].chain_id, case.start)
    if case.is_temporary or lasting is None:
        return [*room]
    return [*room, lasting]


def _is_trusted_enough(case: StoreCase, judgment: Judgment, version: Version) -> bool:
    """Return True if the fact may end the version: lower trust never ends higher.

    A fact from a message has a lower trust because nobody asked for it to be stored, but it is the
    user's own word. So it may end what was stated with ordinary trust if the judgment is very sure.
    """
    if case.trust >= version.trust:
        return True
    is_sure = case.incoming.may_end_stated and judgment.confidence >= SURE_OF_CAPTURED
    return is_sure and version.trust <= DEFAULT_TRUST


def _list_unsure_ends(case: StoreCase, choice: Choice) -> list[OpenJudgment]:
    """Return the flagged judgments that propose the same operation; they go to review.

    Judgments that propose another operation could not be accepted together with this plan.
    """
    unsure: list[OpenJudgment] = []
    for judgment in choice.flagged:
        proposes_same = judgment.relation.effect.operation is choice.operation
        if proposes_same and case.holds_at_start(judgment):
            source = _choose_review_source(case, judgment, ReviewSource.LOW_CONFIDENCE)
            unsure.append((source, judgment))
    return unsure


def _plan_update(case: StoreCase, allowed: Sequence[Judgment]) -> Plan:
    """Plan the fact as the next version in the chain of the surest judgment.

    The memories in other chains end where the fact starts, unless the fact is temporary.
    """
    ended, moved = _make_room_for_all(case, allowed)
    first = ended[0]
    fact, placement = _inherit_place(first, case.fact), case.place_in(first.chain_id)
    if case.fact.kind is Kind.CONSTRAINT:
        # In the slot's chain, the slot's next value would end the constraint.
        fact, placement = case.fact, case.place_in_new_chain()
    elif case.is_temporary:
        decision = Decision.from_judgment(allowed[0])
        if plan := plan_cover(case, fact, first, decision, moved=moved):
            return plan
        ended = [first]
    claims: list[Version] = []
    for version in ended:
        if version.chain_id != placement.chain_id:
            claim = version.replace_claims(retracted_at=case.start, ended_by=case.new_id)
            claims.append(claim)
    decision = Decision.from_judgment(allowed[0])
    stored = inherit_from_ended(
        fact,
        ended,
        decision.relation,
        case.policy,
        corrects=case.incoming.corrects,
    )
    return plan_replacement(
        stored,
        placement,
        case.chains,
        decision,
        ended=ended,
        claims=claims,
        moved=moved,
    )


def plan_cover(
    case: StoreCase,
    fact: Fact,
    holding: Version,
    decision: Decision,
    *,
    moved: Sequence[Version],
) -> Plan | None:
    """Plan a temporary fact over the version that holds when it begins, in the chain of that.

    Nothing ends, and the decision says when the covered version resumes. `holding` and the `moved`
    versions may have other starts than the stored ones. Return None if the version does not resume,
    because it has an end of its own by then.
    """
    placement = case.place_in(holding.chain_id)
    plan = plan_addition(fact, placement, case.chains, moved=(*moved, holding))
    for change in plan.changed:
        until = change.after.belief.valid_until
        if change.after.id == holding.id and until is not None and until <= case.start:
            return None
    reasoning = f"{decision.reasoning} It holds until its stated end; then the other one resumes."
    return plan.with_decision(replace(decision, reasoning=reasoning))


def _make_room_for_all(
    case: StoreCase, judgments: Sequence[Judgment]
) -> tuple[list[Version], list[Version]]:
    """Return the judged versions as they hold when the fact begins, and others that were moved."""
    judged: list[Version] = []
    moved: list[Version] = []
    for judgment in judgments:
        *others, version = case.make_room(judgment)
        judged.append(version)
        moved += others
    return judged, moved


def _inherit_place(first: Version, fact: Fact) -> Fact:
    """Return the fact with the slot and kind of the version that it replaces.

    A fact that states another category or a key keeps its own.
    """
    if fact.key is not None or (fact.category and fact.slot.category != first.slot.category):
        return fact
    return replace(
        fact,
        kind=fact.kind or first.kind,
        entity=first.entity,
        category=first.category,
        key=first.key,
        single_valued=first.single_valued,
    )


def _plan_late_arrival(case: StoreCase, choice: Choice) -> Plan | None:
    """Plan a fact that became known late: what it would replace begins after it.

    The fact takes its place before that version in the chain. Return None if there is no such
    version, or if its chain holds a constraint or a version of higher trust.
    """
    judgment = _find_late_end(case, choice)
    if judgment is None or case.fact.kind is Kind.CONSTRAINT:
        return None
    version = case.get_judged(judgment)
    for other in case.chains.find_chain(version.chain_id):
        if other.kind is Kind.CONSTRAINT or other.trust > case.trust:
            return None
    fact = _inherit_place(version, case.fact)
    plan = plan_addition(fact, case.place_in(version.chain_id), case.chains)
    reasoning = f"Told late, before what it would replace: {judgment.reasoning}"
    return plan.with_decision(Decision.from_judgment(judgment)).with_reasoning(reasoning)


def _find_late_end(case: StoreCase, choice: Choice) -> Judgment | None:
    """Return the surest judgment that would replace a version that begins after the fact."""
    if choice.operation is not Operation.UPDATE:
        return None
    for judgment in choice.acts_on:
        belief = case.get_judged(judgment).belief
        if not belief.void and belief.valid_from > case.start:
            return judgment
    return None


def _plan_retraction(case: StoreCase, allowed: Sequence[Judgment]) -> Plan:
    judged, moved = _make_room_for_all(case, allowed)
    claims = [version.replace_claims(retracted_at=case.start) for version in judged]
    _, changed = rewrite_chains(case.chains, case.now, [*moved, *claims])
    return Plan(
        operation=Operation.DELETE,
        now=case.now,
        decision=Decision.from_judgment(allowed[0]),
        superseded=tuple(claim.id for claim in claims),
        changed=changed,
    )


# --- merges ------------------------------------------------------------------------------------


def _plan_merge(case: StoreCase, judgment: Judgment) -> Plan | None:
    """Plan one memory out of two (DESIGN §2).

    The incoming fact is stored too, and both end where the merged memory starts. Return None if
    the prepared merge does not fit what is stored now.
    """
    merged, version = case.incoming.merged, case.get_judged(judgment)
    if merged is None or not _can_merge(case, merged, version):
        return None
    check_end(case.start, case.fact.valid_until)
    start = max(case.start, version.belief.valid_from)
    source = StoredFact.from_fact(case.fact)
    source_version = build_version(source, case.place_in_new_chain()).replace_claims(
        retracted_at=start, ended_by=merged.new_id, merged=True
    )
    merged_placement = Placement(
        new_id=merged.new_id,
        chain_id=version.chain_id,
        start=start,
        now=case.now,
    )
    merged_version = build_version(merged.fact, merged_placement)
    inserted_source, _ = rewrite_chains(case.chains, case.now, [source_version], source)
    inserted, changed = rewrite_chains(
        case.chains, case.now, [version.replace_claims(merged=True), merged_version], merged.fact
    )
    return Plan(
        operation=Operation.MERGE,
        now=case.now,
        decision=Decision.from_judgment(judgment),
        target=merged.new_id,
        superseded=(version.id,),
        inserted=(*inserted, *inserted_source),
        changed=changed,
        links=link_merged(merged, version.id, case.new_id),
    )


def _can_merge(case: StoreCase, merged: PreparedMerge, version: Version) -> bool:
    """Return True if both hold without a stated end and the union of both is allowed.

    A constraint is never merged, and lower trust never changes higher.
    """
    start = max(case.start, version.belief.valid_from)
    fits = merged.stored_id == version.id and version.belief.holds_at(start)
    has_end = case.fact.valid_until is not None or version.belief.said_until is not None
    is_protected = Kind.CONSTRAINT in (version.kind, case.fact.kind) or case.trust < version.trust
    return fits and not has_end and not is_protected and _has_valid_details(merged.fact)


def _has_valid_details(merged: StoredFact) -> bool:
    """Return True if the united details fit the kind: a decision wants certain types."""
    try:
        if merged.kind is Kind.DECISION:
            check_decision(merged.details)
    except InvalidFact:
        return False
    return True


def link_merged(merged: PreparedMerge, *source_ids: UUID) -> tuple[Relationship, ...]:
    """Return the links from the sources of a merge to the merged memory."""
    return tuple(
        Relationship(source_id, merged.new_id, LinkType.MERGED_INTO) for source_id in source_ids
    )


# --- separate facts and reviews ----------------------------------------------------------------


def mark_for_another_look(plan: Plan, look_again: str | None, policy: Policy) -> Plan:
    """Mark the plan of a fact whose judges failed or whose candidates moved.

    A sweep looks at the fact again. The plan also leaves a review if the policy says so.
    """
    if look_again is None or not plan.inserted:
        return plan
    if plan.review is None and policy.fallback == "review":
        review = Review(
            source=ReviewSource.FALLBACK,
            relation=Relation.NONE,
            sentence=f"Its judges gave no answer ({look_again}); accepting keeps it as it is.",
            judgments=(),
            relied_on=(),
        )
        plan = plan.with_review(review)
    return plan.with_look_again(look_again)


def _plan_separate_fact(
    case: StoreCase,
    judgments: Sequence[Judgment],
    proposed: Sequence[Judgment],
    source: ReviewSource,
) -> Plan:
    """Store the fact in a chain of its own and link it to what it overlaps.

    The proposed ends wait for a person.
    """
    plan = plan_addition(case.fact, case.place_in_new_chain(), case.chains)
    open_judgments: list[OpenJudgment] = []
    for judgment in proposed:
        if _is_possible_end(case, judgment):
            open_judgments.append((_choose_review_source(case, judgment, source), judgment))
    links = _build_relationships(case, open_judgments, judgments)
    review = _build_review(case, open_judgments)
    if review is not None:
        return plan.with_links(links).with_review(review).with_decision(_decide_to_ask(review))
    overlap = next((j for j in judgments if j.relation is Relation.OVERLAP), None)
    if overlap:
        plan = plan.with_decision(Decision.from_judgment(overlap))
        plan = plan.with_reasoning("Related, but nothing changes.")
    ends_unknown = case.incoming.retracts and not case.is_past
    return replace(plan.with_links(links), ends_unknown=ends_unknown)


def _is_possible_end(case: StoreCase, judgment: Judgment) -> bool:
    is_withdrawn = case.get_judged(judgment).belief.void
    return judgment.relation.effect.ends_stored and not is_withdrawn


def _decide_to_ask(review: Review) -> Decision:
    """Return the decision to store a fact apart because a person should look at the review."""
    surest = max(review.judgments, key=lambda judgment: judgment.confidence)
    return Decision(
        relation=Relation.NONE,
        confidence=surest.confidence,
        decided_by=Judge.FALLBACK,
        reasoning=f"Stored beside, for review: {surest.reasoning}",
        findings=surest.findings,
    )


def _choose_review_source(
    case: StoreCase, judgment: Judgment, otherwise: ReviewSource
) -> ReviewSource:
    is_constraint = case.get_judged(judgment).kind is Kind.CONSTRAINT
    return ReviewSource.CONSTRAINT if is_constraint else otherwise


def _build_relationships(
    case: StoreCase, ends: Sequence[OpenJudgment], judgments: Sequence[Judgment]
) -> list[Relationship]:
    """Return the links of a separate fact: to what it may end, and to the nearest it overlaps."""
    overlaps = [j for j in judgments if j.relation is Relation.OVERLAP]
    links: list[Relationship] = []
    for judgment in (*(end for _, end in ends), *overlaps[:MAX_LINKS]):
        if link := judgment.relation.effect.link:
            links.append(Relationship(case.new_id, judgment.memory_id, link))
    return links


def _plan_refusal(
    case: StoreCase,
    choice: Choice,
    source: ReviewSource,
    open_judgments: Sequence[OpenJudgment],
) -> Plan:
    """Store the fact apart because nothing may be ended; the review names every open judgment."""
    plan = _plan_separate_fact(case, (), choice.acts_on, source)
    return plan.with_review(_build_review(case, open_judgments))


def _build_follow_up_review(
    case: StoreCase, plan: Plan, open_judgments: Sequence[OpenJudgment]
) -> Review | None:
    """Build the review for what this plan leaves undone.

    If the plan stores no fact, the review itself records the end time.
    """
    review = _build_review(case, open_judgments)
    if review is None or plan.inserted:
        return review
    return replace(review, corrections={"retracted_at": case.start})


def _build_review(case: StoreCase, open_judgments: Sequence[OpenJudgment]) -> Review | None:
    """Build the review of these ends; None if there are none."""
    if not open_judgments:
        return None
    source, first = open_judgments[0]
    memory_ids: list[UUID] = []
    relied_on: list[tuple[UUID, int]] = []
    for _, judgment in open_judgments:
        memory_ids.append(judgment.memory_id)
        relied_on.append((judgment.memory_id, case.get_judged(judgment).revision))
    return Review(
        source=source,
        relation=first.relation,
        sentence=describe_acceptance(first.relation, memory_ids),
        judgments=tuple(judgment for _, judgment in open_judgments),
        relied_on=tuple(relied_on),
    )
