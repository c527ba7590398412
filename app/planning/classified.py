"""From judgments to a plan, for facts that neither their slot nor an equal text decides.

What judges may cause is bounded here: they never end a constraint, lower trust never ends higher,
and at most `max_closures` memories end. Everything beyond these bounds becomes a review.
"""

from collections.abc import Sequence
from dataclasses import replace

from app.domain.fact import Fact, Kind, StoredFact
from app.domain.relation import (
    Choice,
    Decision,
    Judge,
    Judgment,
    Operation,
    Relation,
    decide_operation,
)
from app.domain.text import fold
from app.domain.version import Version
from app.planning.building_blocks import (
    build_version,
    extend_lifespan,
    inherit_from_ended,
    plan_addition,
    plan_replacement,
    rewrite_chains,
)
from app.planning.cases import StoreCase, plan_cover
from app.planning.dating import has_only_dated_end
from app.planning.merges import add_rewritings, plan_merge, plan_rewritings
from app.planning.plan import Plan, ReviewSource
from app.planning.questions import (
    OpenJudgment,
    build_follow_up_review,
    choose_open_source,
    choose_review_source,
    plan_refusal,
    plan_separate_fact,
)
from app.planning.repetitions import plan_noop


def plan_classified(case: StoreCase) -> Plan:
    """Plan what the judgments of signals and model lead to."""
    usable = [_ask_about_past(case, j) for j in case.incoming.judgments if _is_usable(case, j)]
    choice = decide_operation(usable, case.policy.is_sure)
    plan: Plan | None = None
    if case.policy.allows_operation(choice.operation):
        match choice.operation:
            case Operation.NOOP:
                plan = _plan_duplicate(case, choice.acts_on[0])
            case Operation.MERGE:
                plan = plan_merge(case, choice.acts_on[0])
            case Operation.UPDATE | Operation.DELETE:
                plan = _plan_ends(case, choice)
    if plan is not None:
        return plan
    source = ReviewSource.FALLBACK if choice.acts_on else choose_open_source(choice.flagged)
    return plan_separate_fact(case, usable, (*choice.acts_on, *choice.flagged), source)


def plan_forgetting(case: StoreCase) -> Plan:
    """Plan a command to forget: what it surely names ends, and the command is not stored.

    What a judge would let another fact replace is named by it too.
    """
    judgments: list[Judgment] = []
    for judgment in case.incoming.judgments:
        if judgment.relation.effect.ends_stored and _is_usable(case, judgment):
            judgments.append(replace(judgment, relation=Relation.RETRACTION))
    choice = decide_operation(judgments, case.policy.is_sure)
    unsure = [*choice.flagged]
    if not case.policy.allows_operation(Operation.DELETE):
        unsure += choice.acts_on
        choice = replace(choice, acts_on=())
    allowed, refused = _split_by_limits(case, choice.acts_on)
    for judgment in unsure:
        if case.holds_at_start(judgment):
            source = choose_review_source(case, judgment, ReviewSource.LOW_CONFIDENCE)
            refused.append((source, judgment))
    if allowed:
        plan = _plan_retraction(case, allowed)
    else:
        reasoning = "A command to forget is no fact, and nothing stored is surely meant."
        decision = Decision.certain(Relation.NONE, Judge.RULE, reasoning)
        plan = Plan(operation=Operation.NOOP, now=case.now, decision=decision)
    review = build_follow_up_review(case, plan, refused)
    forgets_unknown = not allowed and review is None
    return replace(plan, review=review, forgets_unknown=forgets_unknown)


def _is_usable(case: StoreCase, judgment: Judgment) -> bool:
    """Return True if a judge made it about a stored memory that may be about the same entity.

    An entity given by the caller must match exactly. Without one the stored entity must be the
    default or be named in the text.
    """
    if judgment.decided_by not in (Judge.SIGNALS, Judge.LOCAL, Judge.MODEL):
        return False
    if not case.chains.has_version(judgment.memory_id):
        return False
    if judgment.decided_by is not Judge.MODEL and _ends_present(case, judgment):
        return False
    entity = case.get_judged(judgment).slot.entity
    if entity == case.fact.slot.entity:
        return True
    return case.fact.entity is None and entity in fold(case.fact.content)


def _ask_about_past(case: StoreCase, judgment: Judgment) -> Judgment:
    """Return the judgment, flagged if a fact that reads as past would end what held meanwhile.

    A model that knows the dates may be right: "The bus was hopeless, I've been driving since" ends
    what a grammar takes for the present.
    """
    if judgment.decided_by is not Judge.MODEL or not judgment.relation.effect.ends_stored:
        return judgment
    began_later = case.is_past_stay and not case.holds_at_start(judgment)
    is_doubtful = began_later or _ends_present(case, judgment)
    return replace(judgment, flag=True) if is_doubtful else judgment


def _ends_present(case: StoreCase, judgment: Judgment) -> bool:
    """Return True if a fact about the past would end what held when it was told.

    What is over ends nothing that holds. But with both ends, it covers what held then. And if the
    words state only an end, they may say when a stored memory ended.
    """
    if not case.is_past or not judgment.relation.effect.ends_stored:
        return False
    is_retraction = judgment.relation is Relation.RETRACTION
    if has_only_dated_end(case.fact) if is_retraction else case.is_past_stay:
        return False
    return case.get_judged(judgment).belief.holds_at(case.told_at)


def _plan_duplicate(case: StoreCase, judgment: Judgment) -> Plan | None:
    fact, version = case.fact, case.get_judged(judgment)
    said_until = version.belief.said_until
    # The fact may state a kind, a slot or an end that the version does not have.
    has_other_kind = fact.kind not in (None, Kind.FACT, version.kind)
    has_other_key = fact.key is not None and fact.slot.key != version.slot.key
    has_other_end = fact.valid_until is not None and fact.valid_until != said_until
    if said_until is None and version.id in case.incoming.same_dates:
        # The version names the end in words that nobody read for dates.
        has_other_end = False
    is_more_specific = has_other_kind or has_other_key or has_other_end
    if is_more_specific or not version.belief.holds_at(case.start):
        return None
    plan = plan_noop(version, case.now).with_decision(Decision.from_judgment(judgment))
    return extend_lifespan(plan, version, fact)


# --- ends --------------------------------------------------------------------------------------


def _plan_ends(case: StoreCase, choice: Choice) -> Plan | None:
    """End the memories that may be ended and leave a review for the others.

    Return None if there is neither. Memories that end in part read otherwise from now on. Somebody
    is asked about those whose new text does not fit.
    """
    allowed, refused = _split_by_limits(case, choice.acts_on)
    ending = [judgment for judgment in allowed if judgment.ends_whole]
    in_part = [judgment for judgment in allowed if not judgment.ends_whole]
    if not ending:
        plan = plan_rewritings(case, in_part)
    elif choice.operation is Operation.DELETE:
        plan = _plan_retraction(case, ending)
    else:
        plan = add_rewritings(case, _plan_update(case, ending), in_part)
    if plan is None and not refused:
        plan = _plan_late_arrival(case, choice)
    changed = plan.superseded if plan else ()
    unchanged = [each for each in allowed if each.new_text and each.memory_id not in changed]
    open_judgments = [*refused, *_list_unsure_ends(case, (*unchanged, *choice.flagged), choice)]
    if plan is not None:
        return plan.with_review(build_follow_up_review(case, plan, open_judgments))
    if refused:
        return plan_refusal(case, choice, refused[0][0], open_judgments)
    return None


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
        if protection := _find_protection(case, judgment, room):
            refused.append((protection, judgment))
        elif len(allowed) >= case.policy.max_closures:
            refused.append((ReviewSource.CAP, judgment))
        else:
            allowed.append(judgment)
    return allowed, refused


def _find_protection(
    case: StoreCase, judgment: Judgment, room: Sequence[Version]
) -> ReviewSource | None:
    """Return why the fact may not end the judged version, the last of `room`.

    It moves the others, and if it is lasting, it also ends what would resume after the judged one.
    """
    ended = [*room]
    if not case.is_temporary:
        lasting = case.chains.find_lasting(room[-1].chain_id, case.start)
        ended += [lasting] if lasting else []
        ended += case.chains.find_resuming(room[-1], case.start)
    protections = (case.find_protection(version, judgment) for version in ended)
    return next(filter(None, protections), None)


def _list_unsure_ends(
    case: StoreCase, unsure: Sequence[Judgment], choice: Choice
) -> list[OpenJudgment]:
    """Return the judgments that propose the same operation without being sure; they go to review.

    Judgments that propose another operation could not be accepted together with this plan.
    """
    open_judgments: list[OpenJudgment] = []
    ends = choice.acts_on[0].relation.effect.ends_stored
    for judgment in unsure:
        effect = judgment.relation.effect
        proposes_same = effect.operation is choice.operation or (ends and effect.ends_stored)
        if proposes_same and case.make_room(judgment):
            source = choose_review_source(case, judgment, choose_open_source([judgment]))
            open_judgments.append((source, judgment))
    return open_judgments


def _plan_update(case: StoreCase, allowed: Sequence[Judgment]) -> Plan:
    """Plan the fact as the next version in the chain of the surest judgment.

    The memories in other chains end where the fact starts, unless the fact is temporary.
    """
    ended, moved = _make_room_for_all(case, allowed)
    first, decision = ended[0], Decision.from_judgment(allowed[0])
    fact, placement = _inherit_place(first, case.fact), case.place_in(first.chain_id)
    if case.fact.kind is Kind.CONSTRAINT:
        # In the slot's chain, the slot's next value would end the constraint.
        fact, placement = case.fact, case.place_in_new_chain()
    elif case.is_temporary:
        if plan := plan_cover(case, fact, first, decision, moved=moved):
            return plan
        ended = [first]
    claims: list[Version] = []
    for version in ended:
        if version.chain_id != placement.chain_id:
            claims += case.end_in_other_chain(version)
    stored = inherit_from_ended(
        fact, ended, decision.relation, case.policy, corrects=case.incoming.corrects
    )
    return plan_replacement(
        stored, placement, case.chains, decision, ended=ended, claims=claims, moved=moved
    )


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
        if judgment.ends_whole and not belief.void and belief.valid_from > case.start:
            return judgment
    return None


def _plan_retraction(case: StoreCase, allowed: Sequence[Judgment]) -> Plan:
    """Plan that the judged memories end. The fact that ended them gets a chain of its own.

    A command to forget is no fact, so it is not stored.
    """
    judged, moved = _make_room_for_all(case, allowed)
    stored = None if case.incoming.forgets else StoredFact.from_fact(case.fact)
    asserted = [*moved]
    for version in judged:
        ended_by = case.new_id if stored else None
        asserted.append(version.replace_claims(retracted_at=case.start, ended_by=ended_by))
    if stored:
        asserted.append(build_version(stored, case.place_in_new_chain()))
    inserted, changed = rewrite_chains(case.chains, case.now, asserted, stored)
    return Plan(
        operation=Operation.DELETE,
        now=case.now,
        decision=Decision.from_judgment(allowed[0]),
        target=case.new_id if stored else None,
        superseded=tuple(version.id for version in judged),
        inserted=inserted,
        changed=changed,
    )
