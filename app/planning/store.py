"""Planning a store: where a fact takes its place. `tests/oracle.py` states the same rules as a program."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from app.domain.chains import Chains
from app.domain.fact import Fact, Kind, StoredFact
from app.domain.policy import Policy
from app.domain.relation import Decision, Judge, Judgment, Operation, Relation
from app.domain.relationship import LinkType, Relationship
from app.domain.timeline import begins_before, find_holding, find_next_after
from app.domain.version import Version
from app.planning.building_blocks import (
    check_end,
    extend_lifespan,
    plan_addition,
    plan_claim_change,
    plan_replacement,
)
from app.planning.classified import PreparedMerge, plan_classified
from app.planning.plan import Plan, Review, ReviewSource


def plan_store(
    fact: Fact,
    picture: Chains,
    judgments: Sequence[Judgment],
    policy: Policy,
    *,
    now: datetime,
    new_id: UUID,
    classify: bool,
    merged: PreparedMerge | None = None,
    retracts: bool = False,
) -> Plan:
    """Storing one fact (DESIGN §2, §3). With `classify`, a fact whose slot holds one value joins that slot's chain; otherwise
    an equal text is reinforced or amended, and what is left follows the judges (`judged`), or is added.

    Raises InvalidFact for an end that does not lie after the start.
    """
    start = _resolve_start(fact, now)
    chains = picture.find_value_chains(fact.slot) if classify and fact.one_value else []
    plan = (
        _plan_in_slot(fact, chains, picture, policy, start=start, now=now, new_id=new_id)
        if chains
        else None
    )
    plan = plan or _plan_known_duplicate(fact, picture, judgments, start=start, now=now)
    if plan is None and classify and not fact.one_value:
        plan = plan_classified(
            fact,
            picture,
            judgments,
            policy,
            merged=merged,
            start=start,
            now=now,
            new_id=new_id,
            retracts=retracts,
        )
    plan = plan or plan_addition(
        fact, picture, new_id=new_id, chain_id=new_id, start=start, now=now
    )
    return replace(plan, incoming=fact, judgments=tuple(judgments))


def plan_import(fact: Fact, picture: Chains, *, now: datetime, new_id: UUID) -> Plan:
    """One version as it is, never deduplicated; versions of one single-valued slot form a chain."""
    chains = picture.find_value_chains(fact.slot) if fact.one_value else []
    chain_id = chains[0][0].chain_id if chains else new_id
    plan = plan_addition(
        fact, picture, new_id=new_id, chain_id=chain_id, start=_resolve_start(fact, now), now=now
    )
    return replace(
        plan,
        incoming=fact,
        decision=Decision(Relation.NONE, 1.0, Judge.CALLER, "Imported as given."),
    )


def _resolve_start(fact: Fact, now: datetime) -> datetime:
    start = now if fact.valid_from is None else fact.valid_from
    check_end(start, fact.valid_until)
    return start


def _plan_in_slot(
    fact: Fact,
    chains: Sequence[Sequence[Version]],
    picture: Chains,
    policy: Policy,
    *,
    start: datetime,
    now: datetime,
    new_id: UUID,
) -> Plan:
    """Puts a fact at its place in the oldest chain of its slot; what holds in the slot's other chains ends there."""
    chain = chains[0]
    held, later = find_holding(chain, start), find_next_after(chain, start)
    source = _find_protection(held, fact) if held else None
    known = (
        held is not None
        and held.has_same_value(fact)
        and (source is not None or not _is_separated(held, fact, picture, start))
    )
    if held and known and (plan := _plan_renewal(held, fact, picture, now)):
        return plan
    if held and source:
        beside = next(
            (
                v
                for other in chains[1:]
                if (v := find_holding(other, start)) and v.has_same_value(fact)
            ),
            None,
        )
        renewed = _plan_renewal(beside, fact, picture, now) if beside else None
        return renewed or _plan_protected_conflict(
            fact, held, source, picture, start=start, now=now, new_id=new_id
        )
    if (
        later
        and later.has_same_value(fact)
        and _can_start_earlier(later, fact)
        and not _is_separated(later, fact, picture, start)
    ):
        return _plan_earlier_start(later, fact, picture, start=start, now=now)
    ends_held = held is not None and (later is None or later.belief.valid_from > now)
    others = [
        v
        for other in chains[1:]
        if (v := find_holding(other, start)) and not _find_protection(v, fact)
    ]
    closing = others[: max(0, policy.max_closures - ends_held)]
    ended = [*([held] if held and ends_held else []), *closing]
    if not ended:
        return plan_addition(
            fact,
            picture,
            new_id=new_id,
            chain_id=chain[0].chain_id,
            start=start,
            now=now,
            late_for=held,
        )
    claims = [
        replace(v, belief=replace(v.belief, retracted_at=start, ended_by=new_id)) for v in closing
    ]
    reason = (
        "Another value for a slot that holds one at a time."
        if held in ended
        else "It joins the oldest chain of its slot."
    )
    return plan_replacement(
        fact,
        picture,
        policy,
        decision=Decision(Relation.UPDATE, 1.0, Judge.RULE, reason),
        ended=ended,
        claims=claims,
        chain_id=chain[0].chain_id,
        start=start,
        now=now,
        new_id=new_id,
    )


def _find_protection(version: Version, fact: Fact) -> ReviewSource | None:
    """Why the fact may not shorten the version: constraints end by explicit calls only, and lower trust never ends higher."""
    if version.kind is Kind.CONSTRAINT:
        return ReviewSource.CONSTRAINT
    return ReviewSource.TRUST if version.trust > StoredFact.from_fact(fact).trust else None


def _is_separated(stored: Version, fact: Fact, picture: Chains, start: datetime) -> bool:
    """Whether another value of the slot, in a chain of its own, begins between the stored one and the fact that says the same at `start`.
    Then they are two, as they would be in one chain: a sweep ends the earlier of them where the other value begins."""
    if not fact.one_value:
        return False
    others = [
        v
        for v in picture.find_in_slot(fact.slot)
        if v.one_value and not v.has_same_value(fact) and not (v.belief.is_empty or v.belief.void)
    ]
    if stored.belief.valid_from <= start:
        return any(begins_before(stored, v) and v.belief.valid_from <= start for v in others)
    return any(begins_before(v, stored) and v.belief.valid_from > start for v in others)


def _plan_protected_conflict(
    fact: Fact,
    current: Version,
    source: ReviewSource,
    picture: Chains,
    *,
    start: datetime,
    now: datetime,
    new_id: UUID,
) -> Plan:
    """What may not be shortened stays: the fact gets a chain of its own in the slot, and a person should look."""
    plan = plan_addition(fact, picture, new_id=new_id, chain_id=new_id, start=start, now=now)
    judgment = Judgment(
        current.id,
        Relation.UPDATE,
        1.0,
        "Another value in the slot of a constraint or of a source trusted more.",
        Judge.RULE,
    )
    sentence = f"Accepting ends {current.id} in favour of this fact."
    review = Review(
        source, Relation.UPDATE, sentence, (judgment,), ((current.id, current.revision),)
    )
    return replace(
        plan, review=review, links=(Relationship(new_id, current.id, LinkType.CONTRADICTS),)
    )


def _plan_renewal(current: Version, fact: Fact, picture: Chains, now: datetime) -> Plan | None:
    """The same value holds already: known, unless another end or a longer life is stated. A retracted one is not renewed."""
    if fact.valid_until is None or fact.valid_until == current.belief.said_until:
        return extend_lifespan(_plan_noop(current, now), current, fact)
    if current.belief.retracted_at is not None:
        return None
    sooner = current.belief.valid_until is None or fact.valid_until < current.belief.valid_until
    if sooner and (source := _find_protection(current, fact)):
        judgment = Judgment(
            current.id, Relation.UPDATE, 1.0, "The same with an earlier end.", Judge.RULE
        )
        sentence = f"Accepting ends {current.id} at {fact.valid_until.isoformat()}."
        said = {"said_until": fact.valid_until}
        review = Review(
            source, Relation.UPDATE, sentence, (judgment,), ((current.id, current.revision),), said
        )
        return replace(_plan_noop(current, now), review=review)
    decision = Decision(
        Relation.DUPLICATE,
        1.0,
        Judge.RULE,
        "The same is stored already; its stated end is corrected.",
    )
    return extend_lifespan(
        plan_claim_change(
            current.replace_claims(said_until=fact.valid_until), picture, now, decision
        ),
        current,
        fact,
    )


def _plan_noop(version: Version, now: datetime) -> Plan:
    decision = Decision(
        Relation.DUPLICATE, 1.0, Judge.RULE, "The same is stored already and holds at that moment."
    )
    return Plan(Operation.NOOP, now, decision, target=version.id, reinforced=version.id)


def _can_start_earlier(later: Version, fact: Fact) -> bool:
    return not later.belief.is_empty and (
        fact.valid_until is None or fact.valid_until > later.belief.valid_from
    )


def _plan_earlier_start(
    later: Version, fact: Fact, picture: Chains, *, start: datetime, now: datetime
) -> Plan:
    sooner = fact.valid_until is not None and (
        later.belief.valid_until is None or fact.valid_until < later.belief.valid_until
    )
    keeps = fact.valid_until is None or (sooner and _find_protection(later, fact) is not None)
    until = later.belief.said_until if keeps else fact.valid_until
    decision = Decision(
        Relation.DUPLICATE,
        1.0,
        Judge.RULE,
        "The same is stored with a later start, which moves back.",
    )
    moved_back = plan_claim_change(
        later.replace_claims(valid_from=start, asserted_at=now, said_until=until),
        picture,
        now,
        decision,
    )
    return extend_lifespan(moved_back, later, fact)


def _plan_known_duplicate(
    fact: Fact, picture: Chains, judgments: Sequence[Judgment], *, start: datetime, now: datetime
) -> Plan | None:
    """The plan of the first judged duplicate that says so at the fact's start; None where none does."""
    for judgment in judgments:
        if judgment.relation is not Relation.DUPLICATE or judgment.decided_by is not Judge.RULE:
            continue
        stored = picture.get_version(judgment.memory_id)
        if _is_separated(stored, fact, picture, start):
            continue
        chain = picture.find_chain(stored.chain_id)
        if stored.belief.holds_at(start):
            plan = _plan_renewal(stored, fact, picture, now)
        elif (
            find_next_after(chain, start) == stored
            and find_holding(chain, start) is None
            and _can_start_earlier(stored, fact)
        ):
            plan = _plan_earlier_start(stored, fact, picture, start=start, now=now)
        else:
            plan = None
        if plan:
            return replace(
                plan,
                decision=replace(
                    plan.decision, confidence=judgment.confidence, decided_by=judgment.decided_by
                ),
            )
    return None
