"""Planning a memory whose text is made of two."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from app.domain.errors import InvalidFact
from app.domain.fact import Kind, StoredFact
from app.domain.relation import Decision, Judgment, Operation
from app.domain.relationship import LinkType, Relationship
from app.domain.version import Version
from app.planning.building_blocks import (
    Placement,
    build_version,
    check_decision,
    check_end,
    rewrite_chains,
)
from app.planning.cases import StoreCase
from app.planning.plan import Plan, PreparedMerge


def plan_merge(case: StoreCase, judgment: Judgment) -> Plan | None:
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
    placement = Placement(merged.new_id, version.chain_id, start=start, now=case.now)
    merged_version = build_version(merged.fact, placement)
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


def plan_rewritings(case: StoreCase, judgments: Sequence[Judgment]) -> Plan | None:
    """Plan new texts in the places of the memories that the incoming fact changes in part.

    The incoming fact is stored too. If it changes one memory, whose text tells all that the fact
    says, the fact ends at once. Return None if no prepared text fits what is stored now.
    """
    fitting = [each for each in judgments if _find_rewritten(case, each)]
    if not fitting:
        return None
    first = fitting[0]
    rewritten, version = _find_rewritten(case, first), case.get_judged(first)
    fact = StoredFact.from_fact(case.fact)
    source = build_version(fact, case.place_in_new_chain())
    target = case.new_id
    links: tuple[Relationship, ...] = ()
    if rewritten and rewritten.tells_all and len(fitting) == 1:
        target, links = rewritten.new_id, link_merged(rewritten, case.new_id)
        start = max(case.start, version.belief.valid_from)
        source = source.replace_claims(retracted_at=start, ended_by=target, merged=True)
    inserted, _ = rewrite_chains(case.chains, case.now, [source], fact)
    plan = Plan(
        operation=Operation.UPDATE,
        now=case.now,
        decision=Decision.from_judgment(first),
        target=target,
        inserted=inserted,
        links=links,
    )
    plan = add_rewritings(case, plan, fitting)
    return plan.with_reasoning(f"Only a part changes: {first.reasoning}")


def add_rewritings(case: StoreCase, plan: Plan, judgments: Sequence[Judgment]) -> Plan:
    """Return the plan with the new texts that fit what is stored now, and chains that it leaves."""
    changed_chains = {change.after.chain_id for change in plan.changed}
    for judgment in judgments:
        rewritten, version = _find_rewritten(case, judgment), case.get_judged(judgment)
        if rewritten is None or version.chain_id in changed_chains:
            continue
        changed_chains.add(version.chain_id)
        start = max(case.start, version.belief.valid_from)
        placement = Placement(rewritten.new_id, version.chain_id, start=start, now=case.now)
        successor = build_version(rewritten.fact, placement)
        inserted, changed = rewrite_chains(
            case.chains, case.now, [version, successor], rewritten.fact
        )
        plan = replace(
            plan,
            superseded=(*plan.superseded, version.id),
            inserted=(*plan.inserted, *inserted),
            changed=(*plan.changed, *changed),
        )
    return plan


def _find_rewritten(case: StoreCase, judgment: Judgment) -> PreparedMerge | None:
    """Return the prepared text of the judged memory, if it fits what is stored now."""
    version = case.get_judged(judgment)
    for each in case.incoming.rewritten:
        if _can_merge(case, each, version):
            return each
    return None


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
