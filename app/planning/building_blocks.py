"""The pieces that every kind of plan is made of. Pure: no clock, no I/O."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from app.classification.signals.correction import is_correction
from app.domain.chains import Chains
from app.domain.errors import InvalidFact
from app.domain.fact import Fact, Kind, StoredFact, Tier
from app.domain.policy import Policy
from app.domain.relation import Decision, Judge, Operation, Relation
from app.domain.timeline import settle_chain
from app.domain.version import Belief, Version
from app.planning.plan import (
    Insertion,
    Plan,
    VersionChange,
)

# A fact that says of itself that it corrects another is believed more (reference 004).
CORRECTION_BOOST = 0.1


def check_end(start: datetime, end: datetime | None) -> None:
    if end is not None and end <= start:
        raise InvalidFact(
            f"valid_until ({end.isoformat()}) must lie after valid_from ({start.isoformat()})."
        )


def check_decision(details: dict[str, Any]) -> None:
    """Raises InvalidFact where a decision's own details are of another type (reference 004)."""
    for name in ("alternatives", "related_files"):
        listed = details.get(name, [])
        if not isinstance(listed, list) or not all(isinstance(word, str) for word in listed):
            raise InvalidFact(f"details.{name} of a decision must be a list of texts.")
    if not isinstance(details.get("rationale", ""), str):
        raise InvalidFact("details.rationale of a decision must be a text.")


def plan_addition(
    fact: Fact,
    picture: Chains,
    *,
    new_id: UUID,
    chain_id: UUID,
    start: datetime,
    now: datetime,
    late_for: Version | None = None,
) -> Plan:
    """A first version, one in a gap, or a late arrival: whatever it clips is adjusted, not superseded."""
    if late_for:
        decision = Decision(
            Relation.UPDATE,
            1.0,
            Judge.RULE,
            "Another value in the slot, told late: it takes its place in the past.",
        )
    else:
        decision = Decision(
            Relation.NONE, 1.0, Judge.RULE, "Nothing stored says the same or holds in its place."
        )
    stored = StoredFact.from_fact(fact)
    version = build_version(stored, new_id=new_id, chain_id=chain_id, start=start, now=now)
    inserted, changed = rewrite_chains(picture, now, [version], stored)
    return Plan(Operation.ADD, now, decision, target=new_id, inserted=inserted, changed=changed)


def plan_replacement(
    fact: Fact,
    picture: Chains,
    policy: Policy,
    *,
    decision: Decision,
    ended: Sequence[Version],
    claims: Sequence[Version],
    chain_id: UUID,
    start: datetime,
    now: datetime,
    new_id: UUID,
) -> Plan:
    """The fact as the successor of `ended`: it inherits what DESIGN §3 says; each of them is contradicted by it and leaves core."""
    stored = _inherit_from_ended(StoredFact.from_fact(fact), ended, policy, decision.relation)
    version = build_version(stored, new_id=new_id, chain_id=chain_id, start=start, now=now)
    claimed = {v.id: v for v in [*ended, *claims]}
    demoted = [
        v.replace_claims(contradicted_by=new_id, tier=Tier.SEMANTIC) for v in claimed.values()
    ]
    inserted, changed = rewrite_chains(picture, now, [*demoted, version], stored)
    superseded = tuple(v.id for v in ended)
    return Plan(
        Operation.UPDATE,
        now,
        decision,
        target=new_id,
        superseded=superseded,
        inserted=inserted,
        changed=changed,
    )


def _inherit_from_ended(
    fact: StoredFact, ended: Sequence[Version], policy: Policy, relation: Relation
) -> StoredFact:
    """Importance is the maximum of both; a core predecessor makes its successor core where the policy says so (reference 002)."""
    inherits = policy.core_inheritance == "any" or relation is Relation.CONTRADICTION
    core = inherits and any(v.belief.tier is Tier.CORE for v in ended)
    importance = max([fact.importance, *(v.importance for v in ended)])
    boost = CORRECTION_BOOST if is_correction(fact.content) else 0.0
    confidence = min(1.0, fact.confidence + boost)
    return replace(
        fact, importance=importance, confidence=confidence, tier=Tier.CORE if core else fact.tier
    )


def plan_claim_change(claim: Version, picture: Chains, now: datetime, decision: Decision) -> Plan:
    _, changed = rewrite_chains(picture, now, [claim])
    return Plan(Operation.AMEND, now, decision, target=claim.id, changed=changed)


def extend_lifespan(plan: Plan, version: Version, fact: Fact) -> Plan:
    """The plan of a fact that repeats the version; where the fact lives longer, or in another session or project, the version does from
    now on: else it would end with the first one, while the second goes on."""
    lifespan = StoredFact.from_fact(fact).lifespan
    if not lifespan.outlasts(version.lifespan) and not _lives_elsewhere(fact, version):
        return plan
    metadata: dict[str, Any] = {"lifespan": lifespan}
    if (named_by := lifespan.named_by) and (name := getattr(fact, named_by)):
        metadata[named_by] = name
    decision = replace(
        plan.decision, reasoning=f"{plan.decision.reasoning} It lives on as was said last."
    )
    return replace(
        plan, operation=Operation.AMEND, decision=decision, metadata=metadata, reinforced=None
    )


def _lives_elsewhere(fact: Fact, version: Version) -> bool:
    """Whether the fact lives as long, in another session or project."""
    named_by = version.lifespan.named_by
    if fact.lifespan is not version.lifespan or named_by is None:
        return False
    name = getattr(fact, named_by)
    return name is not None and name != getattr(version, named_by)


def build_version(
    fact: StoredFact, *, new_id: UUID, chain_id: UUID, start: datetime, now: datetime
) -> Version:
    """Return the first revision of the version that a fact becomes."""
    if fact.kind is Kind.DECISION:
        check_decision(fact.details)
    return Version(
        id=new_id,
        chain_id=chain_id,
        kind=fact.kind,
        entity=fact.entity,
        category=fact.category,
        key=fact.key,
        single_valued=fact.single_valued,
        slot=fact.slot,
        content_hash=fact.content_hash,
        fuzzy_hash=fact.fuzzy_hash,
        folded_hash=fact.folded_hash,
        value_hash=fact.value_hash,
        importance=fact.importance,
        trust=fact.trust,
        lifespan=fact.lifespan,
        session_id=fact.session_id,
        project=fact.project,
        created_at=now,
        revision=1,
        belief=Belief(
            valid_from=start,
            asserted_at=now,
            said_until=fact.valid_until,
            tier=fact.tier,
            known_from=now,
        ),
    )


def rewrite_chains(
    picture: Chains, now: datetime, asserted: Iterable[Version], fact: StoredFact | None = None
) -> tuple[tuple[Insertion, ...], tuple[VersionChange, ...]]:
    """Recomputes every chain that `asserted` touches: what is new there, and what is believed otherwise from `now` on."""
    claims = {v.id: v for v in asserted}
    inserted, changed = [], []
    for chain_id in dict.fromkeys(v.chain_id for v in claims.values()):
        stored = {v.id: v for v in picture.find_chain(chain_id)}
        claimed = {i: v for i, v in claims.items() if v.chain_id == chain_id}
        for version in settle_chain((stored | claimed).values(), now):
            before = stored.get(version.id)
            if before is None:
                assert fact is not None
                inserted.append(Insertion(fact, version))
            elif version.belief != before.belief:
                changed.append(
                    VersionChange(
                        before,
                        replace(
                            version.replace_claims(known_from=now), revision=before.revision + 1
                        ),
                    )
                )
    return tuple(inserted), tuple(changed)
