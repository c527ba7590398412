"""The pieces that every kind of plan is made of."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from app.domain.chains import Chains
from app.domain.errors import InvalidFact
from app.domain.fact import Fact, Kind, StoredFact, Tier
from app.domain.policy import Policy
from app.domain.relation import Decision, Judge, Operation, Relation
from app.domain.version import Belief, Version, choose_told_time
from app.planning.plan import Insertion, Plan, VersionChange

# A fact that says of itself that it corrects another is believed more (reference 004).
CORRECTION_BOOST = 0.1

# The clock of a caller may be ahead by so much, a wrong zone included.
CLOCK_TOLERANCE = timedelta(days=1)


# A version notes when each of the temporary versions that cover it begins and ends.
MOST_TEMPORARY = 1_000


@dataclass(frozen=True, slots=True)
class Placement:
    """The place that a fact takes as a new version: its ids, its start and its known time.

    A `temporary` version covers what comes before it in the chain until its stated end.
    """

    new_id: UUID
    chain_id: UUID
    start: datetime
    now: datetime
    temporary: bool = False


def choose_start(fact: Fact, now: datetime) -> datetime:
    """Return the start that was stated, or the time at which the words were spoken.

    Raise InvalidFact if they were spoken in the future.
    """
    told_at = choose_told_at(fact, now)
    return told_at if fact.valid_from is None else fact.valid_from


def choose_told_at(fact: Fact, now: datetime) -> datetime:
    """Return when the words were spoken: the known time, if nobody said when.

    Raise InvalidFact if that lies in the future. The clocks of callers may differ a little.
    """
    if fact.said_at is not None and fact.said_at > now + CLOCK_TOLERANCE:
        raise InvalidFact(
            f"said_at ({fact.said_at.isoformat()}) lies in the future: give the moment at which "
            "the words were spoken. For what will hold later, give valid_from."
        )
    return choose_told_time(fact.said_at, now)


def check_end(start: datetime, end: datetime | None) -> None:
    """Raise InvalidFact if the end does not lie after the start."""
    if end is not None and end <= start:
        raise InvalidFact(
            f"valid_until ({end.isoformat()}) must lie after valid_from ({start.isoformat()})."
        )


def check_decision(details: dict[str, Any]) -> None:
    """Raise InvalidFact if the details of a decision have another type (reference 004)."""
    for name in ("alternatives", "related_files"):
        texts = details.get(name, [])
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise InvalidFact(f"details.{name} of a decision must be a list of texts.")
    if not isinstance(details.get("rationale", ""), str):
        raise InvalidFact("details.rationale of a decision must be a text.")


def plan_addition(
    fact: Fact, placement: Placement, chains: Chains, *, moved: Sequence[Version] = ()
) -> Plan:
    """Plan a version that supersedes nothing; versions that it clips are adjusted.

    `moved` are versions with other starts.
    """
    decision = Decision.certain(
        Relation.NONE, Judge.RULE, "Nothing stored says the same or holds in its place."
    )
    stored = StoredFact.from_fact(fact)
    version = build_version(stored, placement)
    inserted, changed = rewrite_chains(chains, placement.now, [*moved, version], stored)
    return Plan(
        operation=Operation.ADD,
        now=placement.now,
        decision=decision,
        target=placement.new_id,
        inserted=inserted,
        changed=changed,
    )


def plan_replacement(
    fact: StoredFact,
    placement: Placement,
    chains: Chains,
    decision: Decision,
    *,
    ended: Sequence[Version],
    claims: Sequence[Version],
    moved: Sequence[Version] = (),
) -> Plan:
    """Plan the fact as the successor of `ended`: it contradicts them, and they leave core.

    `claims` are versions with changed assertions; they take the place of the same ones in `ended`.
    `moved` are versions with other starts, which the fact does not end.
    """
    version = build_version(fact, placement)
    contradicted: dict[UUID, Version] = {}
    for claim in (*ended, *claims):
        contradicted[claim.id] = claim.replace_claims(
            contradicted_by=placement.new_id, tier=Tier.SEMANTIC
        )
    asserted = [*moved, *contradicted.values(), version]
    inserted, changed = rewrite_chains(chains, placement.now, asserted, fact)
    return Plan(
        operation=Operation.UPDATE,
        now=placement.now,
        decision=decision,
        target=placement.new_id,
        superseded=tuple(v.id for v in ended),
        inserted=inserted,
        changed=changed,
    )


def inherit_from_ended(
    fact: Fact,
    ended: Sequence[Version],
    relation: Relation,
    policy: Policy,
    *,
    corrects: bool,
) -> StoredFact:
    """Return the fact to store in place of `ended` (DESIGN §3).

    Its importance is the maximum of all. It becomes core if one of the ended versions is core and
    the policy or the relation says so (reference 002).
    """
    stored = StoredFact.from_fact(fact)
    inherits = policy.core_inheritance == "any" or relation.effect.always_inherits_core
    core = inherits and any(v.belief.tier is Tier.CORE for v in ended)
    boost = CORRECTION_BOOST if corrects else 0.0
    return replace(
        stored,
        importance=max([stored.importance, *(v.importance for v in ended)]),
        confidence=min(1.0, stored.confidence + boost),
        tier=Tier.CORE if core else stored.tier,
    )


def plan_claim_change(
    claim: Version,
    chains: Chains,
    now: datetime,
    decision: Decision,
) -> Plan:
    """Plan the correction of what is asserted about one version."""
    _, changed = rewrite_chains(chains, now, [claim])
    return Plan(
        operation=Operation.AMEND,
        now=now,
        decision=decision,
        target=claim.id,
        changed=changed,
    )


def extend_lifespan(plan: Plan, version: Version, fact: Fact) -> Plan:
    """Return the plan of a fact that repeats the version, with the lifespan said last.

    If the fact lives longer, or in another session or project, the version takes its lifespan.
    Without that the version would end with the first session while the second goes on.
    """
    lifespan = StoredFact.from_fact(fact).lifespan
    named_by = lifespan.named_by
    name = getattr(fact, named_by) if named_by else None
    lives_elsewhere = (
        fact.lifespan is version.lifespan
        and named_by is not None
        and name not in (None, getattr(version, named_by))
    )
    if not lifespan.outlasts(version.lifespan) and not lives_elsewhere:
        return plan
    metadata: dict[str, Any] = {"lifespan": lifespan}
    if named_by and name:
        metadata[named_by] = name
    reasoning = f"{plan.decision.reasoning} It lives on as was said last."
    return plan.to_correction(metadata, reasoning)


def build_version(fact: StoredFact, placement: Placement) -> Version:
    """Return the first revision of the version that a fact becomes."""
    if fact.kind is Kind.DECISION:
        check_decision(fact.details)
    belief = Belief(
        chain_id=placement.chain_id,
        valid_from=placement.start,
        asserted_at=placement.now,
        said_until=fact.valid_until,
        temporary=placement.temporary,
        tier=fact.tier,
        known_from=placement.now,
    )
    return Version(
        id=placement.new_id,
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
        created_at=placement.now,
        revision=1,
        belief=belief,
        said_at=fact.said_at,
        has_dated_start=fact.dated_by is not None and fact.dated_by.holds_from is not None,
    )


def release_from_merge(source: Version) -> Version:
    """Return the source of a merge, of another chain than the merged version, as it was told."""
    return source.replace_claims(merged=False, retracted_at=None, ended_by=None)


def rewrite_chains(
    chains: Chains,
    now: datetime,
    asserted: Iterable[Version],
    fact: StoredFact | None = None,
) -> tuple[tuple[Insertion, ...], tuple[VersionChange, ...]]:
    """Recompute the ends in every chain that `asserted` touches, or leaves.

    Return the insertion of the one new version, which stores `fact`, and the stored versions whose
    belief changes at `now`. Raise InvalidFact if there is no room for a temporary version at its
    new place.
    """
    claims_by_chain: dict[UUID, list[Version]] = defaultdict(list)
    for claim in asserted:
        _check_room(claim, chains)
        claims_by_chain[claim.chain_id].append(claim)
        if chains.has_version(claim.id):
            left_chain = chains.get_version(claim.id).chain_id
            if left_chain != claim.chain_id:
                claims_by_chain[left_chain].append(claim)
    inserted: list[Insertion] = []
    changed: list[VersionChange] = []
    for chain_id, claims in claims_by_chain.items():
        for version in chains.settle_claims(chain_id, claims, now):
            if not chains.has_version(version.id):
                if fact is not None:
                    inserted.append(Insertion(fact, version))
                continue
            before = chains.get_version(version.id)
            if version.belief != before.belief:
                after = version.replace_claims(known_from=now)
                after = replace(after, revision=before.revision + 1)
                changed.append(VersionChange(before, after))
    return tuple(inserted), tuple(changed)


def _check_room(claim: Version, chains: Chains) -> None:
    """Raise InvalidFact if too many temporary versions would cover the same version.

    Only a version that comes to another place is counted: what stands may always be ended.
    """
    if not claim.belief.temporary or claim.belief.void:
        return
    if chains.has_version(claim.id):
        before = chains.get_version(claim.id).belief
        is_same_place = (
            before.chain_id == claim.chain_id and before.valid_from == claim.belief.valid_from
        )
        if is_same_place and not before.void:
            return
    if chains.count_others_temporary(claim) >= MOST_TEMPORARY:
        raise InvalidFact(
            f"{MOST_TEMPORARY} facts with a stated end cover the same fact of this slot already. "
            "Leave valid_until out, or give each of them a key of its own."
        )
