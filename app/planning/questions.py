"""What a plan leaves to a person: facts that are stored apart, and their reviews."""

from collections.abc import Sequence
from dataclasses import replace

from app.domain.fact import Kind
from app.domain.policy import Policy
from app.domain.relation import (
    Choice,
    Decision,
    Judge,
    Judgment,
    Operation,
    Relation,
)
from app.domain.relationship import LinkType, Relationship
from app.domain.version import Version
from app.planning.building_blocks import plan_addition
from app.planning.cases import StoreCase
from app.planning.plan import Plan, Review, ReviewSource

MAX_LINKS = 3

# A question names so many memories at most.
MAX_NAMED = 8

# A judgment that is not carried out, and why a person should look at it.
OpenJudgment = tuple[ReviewSource, Judgment]


# --- judgments that are not carried out --------------------------------------------------------


def mark_for_another_look(plan: Plan, look_again: str | None, policy: Policy) -> Plan:
    """Mark the plan of a fact whose judges failed or whose candidates moved.

    A sweep looks at the fact again. The plan also leaves a review if the policy says so.
    """
    if look_again is None or not plan.inserted:
        return plan
    if plan.review is None and policy.fallback == "review":
        review = Review(ReviewSource.FALLBACK, Relation.NONE, judgments=(), relied_on=())
        plan = plan.with_review(review)
    return replace(plan, look_again=look_again)


def plan_separate_fact(
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
        if _may_be_asked(case, judgment):
            open_judgments.append((choose_review_source(case, judgment, source), judgment))
    # Link the fact to what it may end, and to the nearest that it overlaps.
    overlaps = [j for j in judgments if j.relation is Relation.OVERLAP]
    links: list[Relationship] = []
    for judgment in (*(end for _, end in open_judgments), *overlaps[:MAX_LINKS]):
        if link := judgment.relation.effect.link:
            links.append(Relationship(case.new_id, judgment.memory_id, link))
    review = _build_review(case, open_judgments)
    if review is not None:
        return plan.with_links(links).with_review(review).with_decision(_decide_to_ask(review))
    if overlaps:
        plan = plan.with_decision(Decision.from_judgment(overlaps[0]))
        plan = plan.with_reasoning("Related, but nothing changes.")
    is_known = any(j.findings or j.relation is not Relation.NONE for j in judgments)
    ends_unknown = case.incoming.retracts and not case.is_past and not is_known
    return replace(plan.with_links(links), ends_unknown=ends_unknown)


def _may_be_asked(case: StoreCase, judgment: Judgment) -> bool:
    """Return True if accepting the judgment would end or complete something that stands."""
    began_later = case.is_past_stay and not case.holds_at_start(judgment)
    if began_later and judgment.decided_by is not Judge.MODEL:
        return False
    operation = judgment.relation.effect.operation
    if operation is Operation.MERGE and not case.policy.may_merge:
        return False
    is_withdrawn = case.get_judged(judgment).belief.void
    return operation not in (Operation.ADD, Operation.NOOP) and not is_withdrawn


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


def choose_review_source(
    case: StoreCase, judgment: Judgment, otherwise: ReviewSource
) -> ReviewSource:
    is_constraint = case.get_judged(judgment).kind is Kind.CONSTRAINT
    return ReviewSource.CONSTRAINT if is_constraint else otherwise


def choose_open_source(flagged: Sequence[Judgment]) -> ReviewSource:
    """Return whether judges disagree about the likeliest of these, or are merely unsure."""
    likeliest = max(flagged, key=lambda judgment: judgment.confidence, default=None)
    if likeliest is not None and likeliest.disagree:
        return ReviewSource.JUDGES_DISAGREE
    return ReviewSource.LOW_CONFIDENCE


def plan_refusal(
    case: StoreCase,
    choice: Choice,
    source: ReviewSource,
    open_judgments: Sequence[OpenJudgment],
) -> Plan:
    """Store the fact apart because nothing may be ended; the review names every open judgment."""
    plan = plan_separate_fact(case, (), choice.acts_on, source)
    return plan.with_review(_build_review(case, open_judgments))


def build_follow_up_review(
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
    source = open_judgments[0][0]
    likeliest_first = sorted(open_judgments, key=lambda each: -each[1].confidence)
    judgments = tuple(judgment for _, judgment in likeliest_first[:MAX_NAMED])
    return Review(
        source=source,
        relation=judgments[0].relation,
        judgments=judgments,
        relied_on=tuple((j.memory_id, case.get_judged(j).revision) for j in judgments),
    )


# --- versions that may not end -----------------------------------------------------------------


def plan_protected_conflict(case: StoreCase, holding: Version, protection: ReviewSource) -> Plan:
    """Store the fact in a chain of its own; a person decides about the protected version."""
    reasoning = "Another value in the slot of a constraint or of a source trusted more."
    review = build_end_review(holding, protection, reasoning=reasoning)
    link = Relationship(case.new_id, holding.id, LinkType.CONTRADICTS)
    plan = plan_addition(case.fact, case.place_in_new_chain(), case.chains)
    plan = plan.with_review(review).with_links([link])
    return plan.with_decision(_decide_to_ask(review))


def build_end_review(version: Version, source: ReviewSource, *, reasoning: str) -> Review:
    """Return the review that asks whether the incoming fact ends the version."""
    judgment = Judgment(
        memory_id=version.id,
        relation=Relation.UPDATE,
        confidence=1.0,
        reasoning=reasoning,
        decided_by=Judge.RULE,
    )
    return Review(
        source=source,
        relation=Relation.UPDATE,
        judgments=(judgment,),
        relied_on=((version.id, version.revision),),
    )
