"""From judgments to a plan, for facts that no slot and no equal text decides. What judges may cause is bounded here:
constraints never end, lower trust never ends higher, at most `max_closures` end; the rest becomes a review."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from app.domain.chains import Chains
from app.domain.decide import Choice, decide_operation, operation_of
from app.domain.errors import InvalidFact
from app.domain.fact import Fact, Kind, StoredFact
from app.domain.policy import Policy
from app.domain.relation import Decision, Judge, Judgment, Operation, Relation
from app.domain.relationship import LinkType, Relationship
from app.domain.text import fold
from app.domain.version import Version
from app.planning.building_blocks import (
    build_version,
    check_decision,
    check_end,
    extend_lifespan,
    plan_addition,
    plan_replacement,
    rewrite_chains,
)
from app.planning.plan import Insertion, Plan, Review, ReviewSource

MAX_LINKS = 3


@dataclass(frozen=True, slots=True)
class PreparedMerge:
    """A merge prepared before the lock: the stored memory, the united fact, and the ids of the merged one and of the incoming one."""

    stored_id: UUID
    fact: StoredFact
    new_id: UUID


@dataclass(frozen=True, slots=True)
class _Case:
    """One fact to be planned, with all that its plan depends on."""

    fact: Fact
    picture: Chains
    policy: Policy
    start: datetime
    now: datetime
    new_id: UUID


def plan_classified(
    fact: Fact,
    picture: Chains,
    judgments: Sequence[Judgment],
    policy: Policy,
    *,
    merged: PreparedMerge | None,
    start: datetime,
    now: datetime,
    new_id: UUID,
    retracts: bool,
) -> Plan:
    """What the judges' word leads to; always a plan. `retracts`: the fact says that something ended, and is flagged if it ends nothing."""
    case = _Case(fact, picture, policy, start, now, new_id)
    usable = [
        j
        for j in judgments
        if j.decided_by in (Judge.SIGNALS, Judge.MODEL) and _may_concern(fact, j.memory_id, picture)
    ]
    choice = decide_operation(usable, policy.is_sure)
    plan = _plan_choice(case, choice, merged) if policy.allows_operation(choice.operation) else None
    if plan is None:
        kept = ReviewSource.FALLBACK if choice.acts_on else ReviewSource.LOW_CONFIDENCE
        plan = _plan_separate_fact(
            case, usable, (*choice.acts_on, *choice.flagged), kept, retracts=retracts
        )
    return plan


def _may_concern(fact: Fact, memory_id: UUID, picture: Chains) -> bool:
    """Whether the memory is there and the entities allow it: one that was given meets the same only, another's its name in the text."""
    if not picture.has_version(memory_id):
        return False
    version = picture.get_version(memory_id)
    if fact.entity is not None:
        return fact.slot.entity == version.slot.entity
    return version.slot.entity == fact.slot.entity or version.slot.entity in fold(fact.content)


def _plan_choice(
    case: _Case, choice: Choice[Judgment], merged: PreparedMerge | None
) -> Plan | None:
    match choice.operation:
        case Operation.NOOP:
            return _plan_duplicate(case, choice.acts_on[0])
        case Operation.MERGE:
            return _plan_merge(case, choice.acts_on[0], merged)
        case Operation.UPDATE | Operation.DELETE:
            return _plan_ends(case, choice)
        case _:
            return None


def _plan_duplicate(case: _Case, judgment: Judgment) -> Plan | None:
    version = case.picture.get_version(judgment.memory_id)
    if not version.belief.holds_at(case.start) or _is_more_specific(case.fact, version):
        return None
    known = Plan(
        Operation.NOOP,
        case.now,
        Decision.from_judgment(judgment),
        target=version.id,
        reinforced=version.id,
    )
    return extend_lifespan(known, version, case.fact)


def _is_more_specific(fact: Fact, version: Version) -> bool:
    """Whether the fact says something beside its text that the stored one does not: then it is no duplicate."""
    said_kind = fact.kind not in (None, Kind.FACT, version.kind)
    said_slot = fact.key is not None and fact.slot.key != version.slot.key
    said_end = fact.valid_until is not None and fact.valid_until != version.belief.said_until
    return said_kind or said_slot or said_end


def _plan_ends(case: _Case, choice: Choice[Judgment]) -> Plan | None:
    """Ends what may be ended; what may not becomes a review. None where nothing may."""
    plan: Plan | None = None
    allowed, refused = _split_by_limits(case, choice.acts_on)
    late = [j for j in choice.acts_on if _begins_later(case, j)]
    if allowed:
        plan = (
            _plan_retraction(case, allowed)
            if choice.operation is Operation.DELETE
            else _plan_update(case, allowed)
        )
    elif late and choice.operation is Operation.UPDATE and not refused:
        plan = _plan_late_arrival(case, late[0])
    asking = [*refused, *_list_unsure_ends(case, choice)]
    if plan is None:
        return _plan_refusal(case, choice, asking) if refused else None
    return replace(plan, review=_build_follow_up_review(case, plan, asking))


def _split_by_limits(
    case: _Case, judgments: Sequence[Judgment]
) -> tuple[list[Judgment], list[tuple[ReviewSource, Judgment]]]:
    """Which judgments may be acted on, surest first, and which may not, with the reason. What does not hold then is in neither."""
    allowed: list[Judgment] = []
    refused: list[tuple[ReviewSource, Judgment]] = []
    for judgment in judgments:
        version = case.picture.get_version(judgment.memory_id)
        if not version.belief.holds_at(case.start):
            continue
        if version.kind is Kind.CONSTRAINT:
            refused.append((ReviewSource.CONSTRAINT, judgment))
        elif _resolve_trust(case.fact) < version.trust:
            refused.append((ReviewSource.TRUST, judgment))
        elif len(allowed) >= case.policy.max_closures:
            refused.append((ReviewSource.CAP, judgment))
        else:
            allowed.append(judgment)
    return allowed, refused


def _list_unsure_ends(case: _Case, choice: Choice[Judgment]) -> list[tuple[ReviewSource, Judgment]]:
    """What would end too, were its judge surer: what leads to another operation cannot be accepted together with this one."""
    alike = (j for j in choice.flagged if operation_of(j.relation) is choice.operation)
    holding = (
        j for j in alike if case.picture.get_version(j.memory_id).belief.holds_at(case.start)
    )
    return [(_choose_review_source(case, j, ReviewSource.LOW_CONFIDENCE), j) for j in holding]


def _resolve_trust(fact: Fact) -> int:
    return StoredFact.from_fact(fact).trust


def _begins_later(case: _Case, judgment: Judgment) -> bool:
    belief = case.picture.get_version(judgment.memory_id).belief
    return not belief.void and belief.valid_from > case.start


def _plan_update(case: _Case, allowed: Sequence[Judgment]) -> Plan:
    """The fact joins the chain of the surest; the others end where it starts."""
    ended = [case.picture.get_version(j.memory_id) for j in allowed]
    first = ended[0]
    apart = (
        case.fact.kind is Kind.CONSTRAINT
    )  # a constraint keeps a chain of its own, or the slot's next value would end it
    chain_id = case.new_id if apart else first.chain_id
    others = [
        v.replace_claims(retracted_at=case.start, ended_by=case.new_id)
        for v in ended
        if v.chain_id != chain_id
    ]
    return plan_replacement(
        case.fact if apart else _inherit_place(first, case.fact),
        case.picture,
        case.policy,
        decision=Decision.from_judgment(allowed[0]),
        ended=ended,
        claims=others,
        chain_id=chain_id,
        start=case.start,
        now=case.now,
        new_id=case.new_id,
    )


def _inherit_place(first: Version, fact: Fact) -> Fact:
    """A successor takes the place of what it replaces: its slot and kind, where no other ones are said."""
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


def _plan_late_arrival(case: _Case, judgment: Judgment) -> Plan | None:
    """Told late: what it would replace began after it, so it takes its place before that in the chain."""
    later = case.picture.get_version(judgment.memory_id)
    chain = case.picture.find_chain(later.chain_id)
    if case.fact.kind is Kind.CONSTRAINT or any(
        v.kind is Kind.CONSTRAINT or v.trust > _resolve_trust(case.fact) for v in chain
    ):
        return None
    fact = _inherit_place(later, case.fact)
    plan = plan_addition(
        fact,
        case.picture,
        new_id=case.new_id,
        chain_id=later.chain_id,
        start=case.start,
        now=case.now,
    )
    reason = f"Told late, before what it would replace: {judgment.reasoning}"
    return replace(plan, decision=replace(Decision.from_judgment(judgment), reasoning=reason))


def _plan_retraction(case: _Case, allowed: Sequence[Judgment]) -> Plan:
    claims = [
        case.picture.get_version(j.memory_id).replace_claims(retracted_at=case.start)
        for j in allowed
    ]
    _, changed = rewrite_chains(case.picture, case.now, claims)
    ended = tuple(v.id for v in claims)
    return Plan(
        Operation.DELETE,
        case.now,
        Decision.from_judgment(allowed[0]),
        superseded=ended,
        changed=changed,
    )


def _plan_merge(case: _Case, judgment: Judgment, merged: PreparedMerge | None) -> Plan | None:
    """One memory out of two (DESIGN §2): the incoming one is stored too, and both end where the merged one starts."""
    version = case.picture.get_version(judgment.memory_id)
    start = max(case.start, version.belief.valid_from)
    fits = merged is not None and merged.stored_id == version.id and version.belief.holds_at(start)
    ends = case.fact.valid_until is not None or version.belief.said_until is not None
    bound = Kind.CONSTRAINT in (version.kind, case.fact.kind)
    if (
        merged is None
        or not fits
        or ends
        or bound
        or _resolve_trust(case.fact) < version.trust
        or not _is_sound(merged.fact)
    ):
        return None
    check_end(case.start, case.fact.valid_until)
    source = StoredFact.from_fact(case.fact)
    kept = build_version(
        source, new_id=case.new_id, chain_id=case.new_id, start=case.start, now=case.now
    )
    kept = kept.replace_claims(retracted_at=start, ended_by=merged.new_id, merged=True)
    united = build_version(
        merged.fact, new_id=merged.new_id, chain_id=version.chain_id, start=start, now=case.now
    )
    inserted_source, _ = rewrite_chains(case.picture, case.now, [kept], source)
    inserted, changed = rewrite_chains(
        case.picture, case.now, [version.replace_claims(merged=True), united], merged.fact
    )
    return Plan(
        Operation.MERGE,
        case.now,
        Decision.from_judgment(judgment),
        target=merged.new_id,
        superseded=(version.id,),
        inserted=(*inserted, *(Insertion(source, i.version) for i in inserted_source)),
        changed=changed,
        links=tuple(
            Relationship(i, merged.new_id, LinkType.MERGED_INTO) for i in (version.id, case.new_id)
        ),
    )


def _is_sound(united: StoredFact) -> bool:
    """Whether the details of both make sense in the kind of one: a decision wants its own to be of certain types."""
    try:
        if united.kind is Kind.DECISION:
            check_decision(united.details)
    except InvalidFact:
        return False
    return True


def mark_for_another_look(plan: Plan, look_again: str | None, policy: Policy) -> Plan:
    """The plan of a fact whose judges failed or whose candidates moved: marked for another look, and reviewed where the policy says so."""
    if look_again is None or not plan.inserted:
        return plan
    review = plan.review
    if review is None and policy.fallback == "review":
        sentence = f"Its judges gave no answer ({look_again}); accepting keeps it as it is."
        review = Review(ReviewSource.FALLBACK, Relation.NONE, sentence, (), ())
    return replace(plan, look_again=look_again, review=review)


# --- stored beside -----------------------------------------------------------------------------------------------------


def _plan_separate_fact(
    case: _Case,
    judgments: Sequence[Judgment],
    proposed: Sequence[Judgment],
    source: ReviewSource,
    *,
    retracts: bool,
) -> Plan:
    """Stored as a fact of its own, linked to what it overlaps; what was proposed and not done waits for a person."""
    plan = plan_addition(
        case.fact,
        case.picture,
        new_id=case.new_id,
        chain_id=case.new_id,
        start=case.start,
        now=case.now,
    )
    retiring = [
        j
        for j in proposed
        if j.relation.retires and not case.picture.get_version(j.memory_id).belief.void
    ]
    review = _build_review(case, [(_choose_review_source(case, j, source), j) for j in retiring])
    if review is None and retracts:
        review = Review(
            ReviewSource.LOW_CONFIDENCE,
            Relation.RETRACTION,
            "It says that something ended, but nothing stored matches.",
            (),
            (),
        )
    decision = plan.decision
    if review is not None and review.judgments:
        sure = max(review.judgments, key=lambda j: j.confidence)
        decision = Decision(
            Relation.NONE,
            sure.confidence,
            Judge.FALLBACK,
            f"Stored beside, for review: {sure.reasoning}",
            sure.findings,
        )
    elif overlaps := [j for j in judgments if j.relation is Relation.OVERLAP]:
        decision = replace(
            Decision.from_judgment(overlaps[0]), reasoning="Related, but nothing changes."
        )
    return replace(
        plan,
        decision=decision,
        review=review,
        links=_build_relationships(case, judgments, retiring),
    )


def _choose_review_source(case: _Case, judgment: Judgment, otherwise: ReviewSource) -> ReviewSource:
    return (
        ReviewSource.CONSTRAINT
        if case.picture.get_version(judgment.memory_id).kind is Kind.CONSTRAINT
        else otherwise
    )


def _build_relationships(
    case: _Case, judgments: Sequence[Judgment], retiring: Sequence[Judgment]
) -> tuple[Relationship, ...]:
    overlapping = [j for j in judgments if j.relation is Relation.OVERLAP][:MAX_LINKS]
    against = [Relationship(case.new_id, j.memory_id, LinkType.CONTRADICTS) for j in retiring]
    return (
        *against,
        *(Relationship(case.new_id, j.memory_id, LinkType.RELATED_TO) for j in overlapping),
    )


def _plan_refusal(
    case: _Case, choice: Choice[Judgment], refused: Sequence[tuple[ReviewSource, Judgment]]
) -> Plan:
    plan = _plan_separate_fact(case, (), choice.acts_on, refused[0][0], retracts=False)
    return replace(plan, review=_build_review(case, refused))


def _build_follow_up_review(
    case: _Case, plan: Plan, asking: Sequence[tuple[ReviewSource, Judgment]]
) -> Review | None:
    """The review of what the plan leaves undone. Where it stores no fact, nothing else would tell when that is to end."""
    review = _build_review(case, asking)
    return (
        replace(review, said={"retracted_at": case.start})
        if review and not plan.inserted
        else review
    )


def _build_review(case: _Case, refused: Sequence[tuple[ReviewSource, Judgment]]) -> Review | None:
    if not refused:
        return None
    judgments = tuple(j for _, j in refused)
    relied_on = tuple(
        (j.memory_id, case.picture.get_version(j.memory_id).revision) for j in judgments
    )
    named = ", ".join(str(j.memory_id) for j in judgments)
    ends = f"Accepting ends {named}" + (
        "." if judgments[0].relation is Relation.RETRACTION else " in favour of this fact."
    )
    return Review(refused[0][0], judgments[0].relation, ends, judgments, relied_on)
