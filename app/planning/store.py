"""Planning a store: where a fact takes its place.

`tests/support/oracle.py` states the same rules as a program.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from uuid import UUID

from app.domain.chains import Chains
from app.domain.fact import DEFAULT_TRUST, Fact, Kind
from app.domain.policy import Policy
from app.domain.relation import (
    Decision,
    Judge,
    Judgment,
    Operation,
    Relation,
    describe_acceptance,
)
from app.domain.relationship import LinkType, Relationship
from app.domain.timeline import begins_before
from app.domain.version import Version
from app.planning.building_blocks import (
    Placement,
    check_end,
    choose_start,
    extend_lifespan,
    inherit_from_ended,
    plan_addition,
    plan_claim_change,
    plan_replacement,
)
from app.planning.classified import StoreCase, plan_classified, plan_cover
from app.planning.dating import move_before
from app.planning.plan import IncomingFact, Plan, Review, ReviewSource


def plan_store(
    incoming: IncomingFact,
    chains: Chains,
    policy: Policy,
    *,
    now: datetime,
) -> Plan:
    """Plan the storing of one fact (DESIGN §2, §3).

    A classified fact whose slot holds one value joins that slot's chain. Otherwise an equal text is
    reinforced or amended. What is left follows the judgments, or is added.

    Raise InvalidFact if the end does not lie after the start.
    """
    fact = incoming.fact
    start = choose_start(fact, now)
    check_end(start, fact.valid_until)
    case = StoreCase(
        incoming=incoming,
        chains=chains,
        policy=policy,
        start=start,
        now=now,
    )
    plan = _plan_case(case)
    return plan.with_incoming(fact, incoming.judgments)


def _plan_case(case: StoreCase) -> Plan:
    classify, one_value = case.incoming.classify, case.fact.one_value
    if classify and one_value:
        slot_chains = case.chains.find_value_chains(case.fact.slot)
        if slot_chains:
            return _plan_in_slot(case, slot_chains)
    if plan := _plan_known_duplicate(case):
        return plan
    if classify and not one_value:
        return plan_classified(case)
    return plan_addition(case.fact, case.place_in_new_chain(), case.chains)


def plan_import(
    fact: Fact,
    chains: Chains,
    *,
    now: datetime,
    new_id: UUID,
    temporary: bool,
) -> Plan:
    """Plan one imported version as it is.

    It is never deduplicated. Versions of one single-valued slot form a chain, but lower trust never
    ends higher: such a version begins a chain of its own. A `temporary` version covers what comes
    before it until its stated end.
    """
    start = choose_start(fact, now)
    check_end(start, fact.valid_until)
    slot_chains = chains.find_value_chains(fact.slot) if fact.one_value else []
    chain_id = _find_chain_to_join(fact, chains, slot_chains, start) or new_id
    is_refused = bool(slot_chains) and chain_id == new_id
    reasoning = _IMPORTED_APART if is_refused else "Imported as given."
    decision = Decision.certain(Relation.NONE, Judge.CALLER, reasoning)
    plan = plan_addition(
        fact,
        Placement(
            new_id=new_id,
            chain_id=chain_id,
            start=start,
            now=now,
            temporary=temporary,
        ),
        chains,
    )
    return plan.with_incoming(fact).with_decision(decision)


_IMPORTED_APART = (
    "Imported as given, in a chain of its own: the slot holds a value of higher trust."
)


def _find_chain_to_join(
    fact: Fact, chains: Chains, slot_chains: Sequence[UUID], start: datetime
) -> UUID | None:
    """Return the first chain of the slot in which the version would end none of higher trust."""
    trust = DEFAULT_TRUST if fact.trust is None else fact.trust
    for chain_id in slot_chains:
        holding = chains.find_holding(chain_id, start)
        if holding is None or holding.trust <= trust:
            return chain_id
    return None


# --- facts in a slot that holds one value ------------------------------------------------------


def _plan_in_slot(case: StoreCase, slot_chains: Sequence[UUID]) -> Plan:
    """Put the fact at its place in the oldest chain of its slot.

    The versions that hold in the slot's other chains end there, unless the fact is temporary.
    """
    chain_id, *other_chains = slot_chains
    if case.is_past and not case.is_temporary:
        return _plan_past_apart(case)
    if replaceable := _find_replaceable(case, chain_id):
        return _plan_over_told(case, replaceable, other_chains)
    holding = case.chains.find_holding(chain_id, case.start)
    later = case.chains.find_next_after(chain_id, case.start)
    if holding and (plan := _plan_against_holding(case, holding, other_chains)):
        return plan
    lasting = None if case.is_temporary else case.chains.find_lasting(chain_id, case.start)
    if lasting and not lasting.has_same_value(case.fact):
        # The fact would end what resumes after the version that holds.
        protection = _find_protection(lasting, case)
        if protection:
            return _plan_protected_conflict(case, lasting, protection)
    if later and _repeats_later(case, later):
        return _plan_earlier_start(case, later)
    if case.is_temporary and holding is None:
        # Another chain of the slot may say the same: then its stated end is corrected.
        repeated = _find_repeated(case, other_chains)
        if repeated and (plan := _plan_renewal(case, repeated)):
            return plan
    # A fact that became known late ends nothing if a later lasting value has begun already.
    following = case.chains.find_next_lasting(chain_id, case.start)
    ends_holding = holding is not None and (
        following is None or following.belief.valid_from > case.now
    )
    if case.is_temporary and holding and ends_holding:
        return _plan_temporary_value(case, holding)
    ended = [holding] if holding and ends_holding else []
    may_close = 0 if case.is_temporary else max(0, case.policy.max_closures - len(ended))
    closing = list(islice(_find_closing(case, other_chains), may_close))
    placement = case.place_in(chain_id)
    if not ended and not closing:
        plan = plan_addition(case.fact, placement, case.chains)
        return plan.with_decision(_decide_late_value()) if holding else plan
    return _plan_slot_value(case, placement, [*ended, *closing], closing)


def _plan_past_apart(case: StoreCase) -> Plan:
    """Store a fact about the past, without an end, in a chain of its own: what holds goes on.

    If it is stored already, it is only confirmed.
    """
    known = _plan_known_duplicate(case)
    if known and known.operation is Operation.NOOP:
        return known
    plan = plan_addition(case.fact, case.place_in_new_chain(), case.chains)
    return plan.with_reasoning("Its words say that it is over, so it ends nothing that holds.")


def _find_replaceable(case: StoreCase, chain_id: UUID) -> Sequence[Version]:
    """Return the versions of the chain that only seem to begin after the fact, if it ends them."""
    if case.is_past:
        return ()
    later = case.find_told_later(chain_id)
    if not later or later[-1].has_same_value(case.fact):
        return ()
    before = case.chains.find_holding(chain_id, case.start)
    shortened = [*later, before] if before else later
    return () if any(_find_protection(version, case) for version in shortened) else later


def _plan_over_told(
    case: StoreCase, later: Sequence[Version], other_chains: Sequence[UUID]
) -> Plan:
    """Put the fact after versions that were told before it and count from when they were told."""
    *moved, ended = move_before(later, case.start, case.now)
    if case.is_temporary:
        return _plan_temporary_value(case, ended, moved)
    closing = list(islice(_find_closing(case, other_chains), max(0, case.policy.max_closures - 1)))
    placement = case.place_in(ended.chain_id)
    return _plan_slot_value(case, placement, [ended, *closing], closing, moved=moved)


def _plan_against_holding(
    case: StoreCase, holding: Version, other_chains: Sequence[UUID]
) -> Plan | None:
    """Plan a fact that repeats the value that holds, or that may not end this value.

    Return None if the fact is another value that may take its place.
    """
    protection = _find_protection(holding, case)
    repeats = holding.has_same_value(case.fact)
    if repeats and protection is None:
        repeats = not _is_separated(case, holding)
    if repeats and (plan := _plan_renewal(case, holding)):
        return plan
    if protection is None:
        return None
    repeated = _find_repeated(case, other_chains)
    renewal = _plan_renewal(case, repeated) if repeated else None
    return renewal or _plan_protected_conflict(case, holding, protection)


def _find_repeated(case: StoreCase, other_chains: Sequence[UUID]) -> Version | None:
    """Return the first version that holds in these chains and has the fact's value."""
    for chain_id in other_chains:
        holding = case.chains.find_holding(chain_id, case.start)
        if holding and holding.has_same_value(case.fact):
            return holding
    return None


def _repeats_later(case: StoreCase, later: Version) -> bool:
    """Return True if the fact says what a later version says, whose start may move back."""
    return (
        later.has_same_value(case.fact)
        and _can_start_earlier(later, case.fact)
        and not _is_separated(case, later)
    )


def _find_closing(case: StoreCase, other_chains: Sequence[UUID]) -> Iterator[Version]:
    """Yield the versions that hold in these chains and may be ended by the fact."""
    for chain_id in other_chains:
        holding = case.chains.find_holding(chain_id, case.start)
        if holding and not _find_protection(holding, case):
            yield holding


def _plan_slot_value(
    case: StoreCase,
    placement: Placement,
    ended: Sequence[Version],
    closing: Sequence[Version],
    *,
    moved: Sequence[Version] = (),
) -> Plan:
    """Plan the fact as the new value of its slot.

    `closing` are those of the ended versions that are in other chains. `moved` are versions with
    other starts, which the fact does not end.
    """
    reasoning = "Another value for a slot that holds one at a time."
    if len(ended) == len(closing):
        reasoning = "It joins the oldest chain of its slot."
    decision = Decision.certain(Relation.UPDATE, Judge.RULE, reasoning)
    stored = inherit_from_ended(
        case.fact,
        ended,
        decision.relation,
        case.policy,
        corrects=case.incoming.corrects,
    )
    claims = [v.replace_claims(retracted_at=case.start, ended_by=case.new_id) for v in closing]
    return plan_replacement(
        stored,
        placement,
        case.chains,
        decision,
        ended=ended,
        claims=claims,
        moved=moved,
    )


def _plan_temporary_value(case: StoreCase, holding: Version, moved: Sequence[Version] = ()) -> Plan:
    """Plan a value with a stated end: the version that holds when it begins resumes afterwards."""
    reasoning = "Another value for a slot that holds one at a time."
    decision = Decision.certain(Relation.UPDATE, Judge.RULE, reasoning)
    cover = plan_cover(case, case.fact, holding, decision, moved=moved)
    if cover is not None:
        return cover
    placement = case.place_in(holding.chain_id)
    return _plan_slot_value(case, placement, [holding], closing=(), moved=moved)


def _decide_late_value() -> Decision:
    return Decision.certain(
        Relation.UPDATE,
        Judge.RULE,
        "Another value in the slot, told late: it takes its place in the past.",
    )


def _find_protection(version: Version, case: StoreCase) -> ReviewSource | None:
    """Return the reason why the fact may not shorten the version, if there is one.

    Constraints end by explicit calls only, and lower trust never ends higher.
    """
    if version.kind is Kind.CONSTRAINT:
        return ReviewSource.CONSTRAINT
    return ReviewSource.TRUST if version.trust > case.trust else None


def _is_separated(case: StoreCase, stored: Version) -> bool:
    """Return True if another value of the slot begins between the stored version and the fact.

    The other value is in a chain of its own. Then the stored version and the fact, which say the
    same, are two, as they would be in one chain: a sweep ends the earlier of them where the other
    value begins.
    """
    if not case.fact.one_value:
        return False
    in_slot = case.chains.find_in_slot(case.fact.slot)
    return any(
        other.chain_id != stored.chain_id
        and _begins_between(case, stored, other)
        and _has_other_value(case.fact, other)
        for other in in_slot
    )


def _begins_between(case: StoreCase, stored: Version, other: Version) -> bool:
    """Return True if the other version begins between the stored version and the fact."""
    if stored.belief.valid_from <= case.start:
        return other.belief.valid_from <= case.start and begins_before(stored, other)
    return other.belief.valid_from > case.start and begins_before(other, stored)


def _has_other_value(fact: Fact, version: Version) -> bool:
    holds_ever = not version.belief.is_empty and not version.belief.void
    return version.one_value and holds_ever and not version.has_same_value(fact)


def _plan_protected_conflict(case: StoreCase, holding: Version, protection: ReviewSource) -> Plan:
    """Store the fact in a chain of its own; a person decides about the protected version."""
    review = _build_end_review(
        holding,
        protection,
        reasoning="Another value in the slot of a constraint or of a source trusted more.",
        sentence=describe_acceptance(Relation.UPDATE, [holding.id]),
    )
    link = Relationship(case.new_id, holding.id, LinkType.CONTRADICTS)
    plan = plan_addition(case.fact, case.place_in_new_chain(), case.chains)
    return plan.with_review(review).with_links([link])


def _build_end_review(
    version: Version,
    source: ReviewSource,
    *,
    reasoning: str,
    sentence: str,
) -> Review:
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
        sentence=sentence,
        judgments=(judgment,),
        relied_on=((version.id, version.revision),),
    )


# --- facts that repeat a stored one ------------------------------------------------------------


def _plan_known_duplicate(case: StoreCase) -> Plan | None:
    """Plan the first judged duplicate that says the same at the fact's start.

    Return None if no judged duplicate does.
    """
    for judgment in case.incoming.judgments:
        if judgment.relation is not Relation.DUPLICATE or judgment.decided_by is not Judge.RULE:
            continue
        plan = _plan_duplicate(case, case.get_judged(judgment))
        if plan:
            decision = replace(
                plan.decision, confidence=judgment.confidence, decided_by=judgment.decided_by
            )
            return plan.with_decision(decision)
    return None


def _plan_duplicate(case: StoreCase, stored: Version) -> Plan | None:
    if _is_separated(case, stored):
        return None
    if stored.belief.holds_at(case.start):
        return _plan_renewal(case, stored)
    is_next = case.chains.find_next_after(stored.chain_id, case.start) == stored
    is_gap = case.chains.find_holding(stored.chain_id, case.start) is None
    if is_next and is_gap and _can_start_earlier(stored, case.fact):
        return _plan_earlier_start(case, stored)
    return None


def _plan_renewal(case: StoreCase, current: Version) -> Plan | None:
    """Plan a fact whose value holds already.

    It is known, unless it states another end or a longer lifespan. Return None for a retracted
    version, which is not renewed.
    """
    fact, belief = case.fact, current.belief
    if fact.valid_until is None or fact.valid_until == belief.said_until:
        return extend_lifespan(_plan_noop(current, case.now), current, fact)
    # What the fact says of the past does not end what held when it was told.
    if case.is_past and belief.holds_at(case.told_at):
        return extend_lifespan(_plan_noop(current, case.now), current, fact)
    if belief.retracted_at is not None:
        return None
    is_sooner = belief.valid_until is None or fact.valid_until < belief.valid_until
    if is_sooner and (protection := _find_protection(current, case)):
        return _plan_protected_end(case, current, protection, fact.valid_until)
    decision = Decision.certain(
        Relation.DUPLICATE, Judge.RULE, "The same is stored already; its stated end is corrected."
    )
    claim = current.replace_claims(said_until=fact.valid_until)
    plan = plan_claim_change(claim, case.chains, case.now, decision)
    return extend_lifespan(plan, current, fact)


def _plan_protected_end(
    case: StoreCase,
    current: Version,
    protection: ReviewSource,
    end: datetime,
) -> Plan:
    """Confirm the version; a person decides whether it ends earlier."""
    review = _build_end_review(
        current,
        protection,
        reasoning="The same with an earlier end.",
        sentence=f"Accepting ends {current.id} at {end.isoformat()}.",
    )
    return _plan_noop(current, case.now).with_review(
        replace(review, corrections={"said_until": end})
    )


def _plan_noop(version: Version, now: datetime) -> Plan:
    decision = Decision.certain(
        Relation.DUPLICATE, Judge.RULE, "The same is stored already and holds at that moment."
    )
    return Plan(
        operation=Operation.NOOP,
        now=now,
        decision=decision,
        target=version.id,
        reinforced=version.id,
    )


def _can_start_earlier(later: Version, fact: Fact) -> bool:
    """Return True if the fact's stated end leaves no gap before the later version."""
    reaches = fact.valid_until is None or fact.valid_until > later.belief.valid_from
    return reaches and not later.belief.is_empty


def _plan_earlier_start(case: StoreCase, later: Version) -> Plan:
    """Move the start of a later version with the same value back to the fact's start."""
    decision = Decision.certain(
        Relation.DUPLICATE, Judge.RULE, "The same is stored with a later start, which moves back."
    )
    claim = later.replace_claims(
        valid_from=case.start, asserted_at=case.now, said_until=_choose_stated_end(case, later)
    )
    plan = plan_claim_change(claim, case.chains, case.now, decision)
    return extend_lifespan(plan, later, case.fact)


def _choose_stated_end(case: StoreCase, later: Version) -> datetime | None:
    """Return the fact's stated end, unless it would shorten a protected version."""
    end, stored_until = case.fact.valid_until, later.belief.valid_until
    if end is None:
        return later.belief.said_until
    is_sooner = stored_until is None or end < stored_until
    if is_sooner and _find_protection(later, case):
        return later.belief.said_until
    return end
