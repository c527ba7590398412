"""Planning facts that repeat a stored one: they confirm it, or correct its dates."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from app.domain.fact import Fact, Kind, StoredFact
from app.domain.relation import Decision, Judge, Operation, Relation
from app.domain.text import fold
from app.domain.timeline import begins_before
from app.domain.version import Version
from app.planning.building_blocks import extend_lifespan, plan_claim_change
from app.planning.cases import StoreCase
from app.planning.plan import Plan
from app.planning.questions import build_end_review


def plan_known_duplicate(case: StoreCase) -> Plan | None:
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
    if is_separated(case, stored):
        return None
    if stored.belief.holds_at(case.start):
        return plan_renewal(case, stored)
    is_next = case.chains.find_next_after(stored.chain_id, case.start) == stored
    is_gap = case.chains.find_holding(stored.chain_id, case.start) is None
    if is_next and is_gap and can_start_earlier(stored, case.fact):
        return plan_earlier_start(case, stored)
    return None


def plan_renewal(case: StoreCase, current: Version) -> Plan | None:
    """Plan a fact whose value holds already.

    It is known, unless it states another end or a longer lifespan. Return None for a retracted
    version, which is not renewed.
    """
    fact, belief = case.fact, current.belief
    # What the fact says of the past does not end what held when it was told.
    is_about_past = case.is_past and belief.holds_at(case.told_at)
    if fact.valid_until is None or fact.valid_until == belief.said_until or is_about_past:
        return extend_lifespan(plan_noop(current, case.now), current, fact)
    if belief.retracted_at is not None:
        return None
    is_sooner = belief.valid_until is None or fact.valid_until < belief.valid_until
    if is_sooner and (protection := case.find_protection(current)):
        # The version is confirmed; a person decides whether it ends earlier.
        review = build_end_review(current, protection, reasoning="The same with an earlier end.")
        review = replace(review, corrections={"said_until": fact.valid_until})
        return plan_noop(current, case.now).with_review(review)
    decision = Decision.certain(
        Relation.DUPLICATE, Judge.RULE, "The same is stored already; its stated end is corrected."
    )
    claim = current.replace_claims(said_until=fact.valid_until)
    plan = plan_claim_change(claim, case.chains, case.now, decision)
    return extend_lifespan(plan, current, fact)


def plan_noop(version: Version, now: datetime) -> Plan:
    """Plan that nothing changes but the count of the version's confirmations."""
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


def can_start_earlier(later: Version, fact: Fact) -> bool:
    """Return True if the fact's stated end leaves no gap before the later version."""
    reaches = fact.valid_until is None or fact.valid_until > later.belief.valid_from
    return reaches and not later.belief.is_empty


def plan_earlier_start(case: StoreCase, later: Version) -> Plan:
    """Move the start of a later version with the same value back to the fact's start."""
    decision = Decision.certain(
        Relation.DUPLICATE, Judge.RULE, "The same is stored with a later start, which moves back."
    )
    end, stored_until = case.fact.valid_until, later.belief.valid_until
    is_sooner = end is not None and (stored_until is None or end < stored_until)
    # The stated end counts, unless it would shorten a protected version.
    if end is None or (is_sooner and case.find_protection(later)):
        end = later.belief.said_until
    claim = later.replace_claims(valid_from=case.start, asserted_at=case.now, said_until=end)
    plan = plan_claim_change(claim, case.chains, case.now, decision)
    return extend_lifespan(plan, later, case.fact)


def is_separated(case: StoreCase, stored: Version) -> bool:
    """Return True if another value of the slot begins between the stored version and the fact.

    The other value is in a chain of its own. Then the stored version and the fact, which say the
    same, are two, as they would be in one chain: a sweep ends the earlier of them where the other
    value begins.
    """
    if not case.fact.one_value:
        return False
    for other in case.chains.find_in_slot(case.fact.slot):
        if other.chain_id == stored.chain_id or not _begins_between(stored, other, case.start):
            continue
        holds_ever = not other.belief.is_empty and not other.belief.void
        if other.one_value and holds_ever and not other.has_same_value(case.fact):
            return True
    return False


def _begins_between(stored: Version, other: Version, start: datetime) -> bool:
    """Return True if the other version begins between the stored one and the start of a fact."""
    if stored.belief.valid_from <= start:
        return other.belief.valid_from <= start and begins_before(stored, other)
    return other.belief.valid_from > start and begins_before(other, stored)


# --- what a repetition says besides its text ----------------------------------------------------


def is_repetition(plan: Plan) -> bool:
    """Return True if the plan stores nothing because its target says the same."""
    is_duplicate = plan.decision.relation is Relation.DUPLICATE
    return is_duplicate and plan.target is not None and not plan.inserted


def join_repetition(plan: Plan, repeated: StoredFact, fact: Fact) -> Plan:
    """Return the plan of a repetition that also leaves what else the fact says on its target.

    Tags, entities and sources are united. Details, session and project are taken if the target has
    none; the plan names what was not taken. What the plan corrects already is not touched. The
    details of a decision have types of their own, so only another decision adds to them.
    """
    sources = fact.sources
    if fact.source is not None and repeated.source not in (None, fact.source):
        sources = (*sources, fact.source)
    takes_details = repeated.kind is not Kind.DECISION or fact.kind is Kind.DECISION
    joined: dict[str, Any] = {
        "tags": _unite(repeated.tags, fact.tags),
        "entities": _unite(repeated.entities, fact.entities),
        "sources": _unite(repeated.sources, sources),
        "details": (fact.details if takes_details else {}) | repeated.details,
    }
    not_taken: list[str] = []
    for name, detail in fact.details.items():
        if joined["details"].get(name) != detail:
            not_taken.append(f"details.{name}")
    corrected = plan.metadata or {}
    for name in ("source", "session_id", "project"):
        old, new = getattr(repeated, name), getattr(fact, name)
        joined[name] = old or new
        if name != "source" and name not in corrected and new not in (None, joined[name]):
            not_taken.append(name)
    changed = {name: value for name, value in joined.items() if value != getattr(repeated, name)}
    return replace(plan.with_metadata(changed | corrected), not_taken=tuple(not_taken))


def _unite(old: Iterable[str], new: Iterable[str]) -> tuple[str, ...]:
    """Return the old words, and the new ones that are not among them."""
    words = {fold(word): word for word in (*new, *old)}
    added = [word for word in words.values() if word not in old]
    return (*old, *added)
