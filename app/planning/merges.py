"""Planning a memory whose text is made of two."""

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


def plan_rewriting(case: StoreCase, judgment: Judgment) -> Plan | None:
    """Plan a new text in the place of the memory that the incoming fact changes in part.

    The incoming fact is stored beside it, and ends at once if the text tells all that it says.
    Return None if the prepared text does not fit what is stored now.
    """
    rewritten, version = case.incoming.merged, case.get_judged(judgment)
    if rewritten is None or not _can_merge(case, rewritten, version):
        return None
    start = max(case.start, version.belief.valid_from)
    fact = StoredFact.from_fact(case.fact)
    source = build_version(fact, case.place_in_new_chain())
    links: tuple[Relationship, ...] = ()
    if rewritten.tells_all:
        source = source.replace_claims(retracted_at=start, ended_by=rewritten.new_id, merged=True)
        links = link_merged(rewritten, case.new_id)
    placement = Placement(rewritten.new_id, version.chain_id, start=start, now=case.now)
    successor = build_version(rewritten.fact, placement)
    inserted, _ = rewrite_chains(case.chains, case.now, [source], fact)
    inserted_text, changed = rewrite_chains(
        case.chains, case.now, [version, successor], rewritten.fact
    )
    plan = Plan(
        operation=Operation.UPDATE,
        now=case.now,
        decision=Decision.from_judgment(judgment),
        target=rewritten.new_id if rewritten.tells_all else case.new_id,
        superseded=(version.id,),
        inserted=(*inserted, *inserted_text),
        changed=changed,
        links=links,
    )
    return plan.with_reasoning(f"Only a part changes: {judgment.reasoning}")


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
