"""Reviews that name several memories: what is chosen ends, and what is not stays as it is."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from app.domain.chains import Chains
from app.domain.errors import CannotAccept, NotCandidates
from app.domain.fact import Fact
from app.domain.policy import Policy
from app.domain.relation import Judge, Judgment, Operation, Relation
from app.planning.plan import IncomingFact, Plan, ReviewSource
from app.planning.reviews import Proposal, plan_accept
from app.planning.store import plan_store

KNOWN = datetime(2026, 3, 1, tzinfo=UTC)
NOW = KNOWN + timedelta(days=9)
TEXTS = ("The MRI is on 18 November", "Surgery is on 2 December", "The surgery date is 2 December")
NEW = UUID(int=9)


def id_of(place: int) -> UUID:
    return UUID(int=place + 1)


def store_all() -> Chains:
    """Store the candidates a day apart, and the fact that asks about them after them."""
    chains = Chains(())
    for place, content in enumerate((*TEXTS, "Surgery is brought forward to 25 November")):
        memory_id = NEW if place == len(TEXTS) else id_of(place)
        fact = Fact(content)
        incoming = IncomingFact(fact, memory_id, classify=False)
        plan = plan_store(incoming, chains, Policy(), now=KNOWN + timedelta(days=place))
        chains.absorb_versions(plan.versions)
    return chains


def ask(
    *relations: Relation,
    source: ReviewSource = ReviewSource.LOW_CONFIDENCE,
    memory_id: UUID | None = NEW,
) -> Proposal:
    judgments = tuple(
        Judgment(id_of(place), relation, 0.6, "because", Judge.LOCAL)
        for place, relation in enumerate(relations)
    )
    return Proposal(UUID(int=20), relations[0], KNOWN, memory_id, judgments, (), source=source)


def accept(proposal: Proposal, chains: Chains, chosen: Sequence[UUID] | None) -> Plan:
    plan = plan_accept(proposal, chains, now=NOW, chosen=chosen)
    chains.absorb_versions(plan.versions)
    return plan


def list_held(chains: Chains) -> set[UUID]:
    return {v.id for v in chains.list_versions() if v.belief.holds_at(NOW) and not v.belief.void}


@pytest.mark.parametrize("places", [(0,), (1,), (2,), (1, 2), (0, 1, 2)])
@pytest.mark.parametrize(
    "relations",
    [
        (Relation.UPDATE,) * 3,
        (Relation.UPDATE, Relation.CONTRADICTION, Relation.RETRACTION),
        (Relation.CONTRADICTION, Relation.UPDATE, Relation.UPDATE),
    ],
)
def test_what_is_chosen_ends_where_the_fact_begins_and_nothing_else_does(
    places: tuple[int, ...], relations: tuple[Relation, ...]
) -> None:
    chains = store_all()
    chosen = [id_of(place) for place in places]
    proposal = ask(*relations)
    plan = accept(proposal, chains, chosen)
    assert set(plan.superseded) == set(chosen)
    start = chains.get_version(NEW).belief.valid_from
    assert {chains.get_version(i).belief.valid_until for i in chosen} == {start}
    spared = {id_of(place) for place in range(3)} - set(chosen)
    assert spared <= list_held(chains)
    if relations[places[0]] is not Relation.RETRACTION or len(places) > 1:
        assert NEW in list_held(chains)
        assert {chains.get_version(i).belief.superseded_by for i in chosen} == {NEW}


def test_the_log_names_what_was_chosen() -> None:
    plan = accept(ask(*[Relation.UPDATE] * 3), store_all(), [id_of(2), id_of(0)])
    assert plan.settled is not None
    assert plan.settled.chosen == (id_of(0), id_of(2))
    assert accept(ask(Relation.UPDATE), store_all(), None).settled.chosen is None  # type: ignore[union-attr]


def test_a_duplicate_that_is_chosen_alone_is_confirmed_and_the_fact_withdrawn() -> None:
    chains = store_all()
    plan = accept(ask(Relation.UPDATE, Relation.DUPLICATE), chains, [id_of(1)])
    assert (plan.operation, plan.reinforced) == (Operation.NOOP, id_of(1))
    assert list_held(chains) == {id_of(0), id_of(1), id_of(2)}


def test_without_a_stored_fact_what_is_chosen_ends_all_the_same() -> None:
    chains = store_all()
    proposal = ask(Relation.RETRACTION, Relation.UPDATE, memory_id=None)
    late = Proposal(
        proposal.review_id,
        proposal.relation,
        NOW,
        None,
        proposal.judgments,
        (),
        source=proposal.source,
    )
    plan = accept(late, chains, [id_of(1)])
    assert (plan.operation, plan.superseded) == (Operation.DELETE, (id_of(1),))


def test_what_the_review_does_not_name_cannot_be_chosen() -> None:
    with pytest.raises(NotCandidates, match=str(id_of(2))):
        accept(ask(Relation.UPDATE, Relation.UPDATE), store_all(), [id_of(0), id_of(2)])


def test_a_withdrawn_candidate_hinders_no_other() -> None:
    chains = store_all()
    gone = chains.get_version(id_of(0)).replace_claims(void=True)
    chains.absorb_versions([gone])
    proposal = ask(Relation.UPDATE, Relation.UPDATE)
    with pytest.raises(CannotAccept):
        accept(proposal, chains, [id_of(0)])
    assert accept(proposal, chains, [id_of(1)]).superseded == (id_of(1),)


@pytest.mark.parametrize(
    ("source", "count", "is_choice"),
    [
        (ReviewSource.LOW_CONFIDENCE, 2, True),
        (ReviewSource.JUDGES_DISAGREE, 3, True),
        (ReviewSource.LOW_CONFIDENCE, 1, False),
        (ReviewSource.SHADOW, 2, False),
        (ReviewSource.CAP, 3, False),
    ],
)
def test_only_unsure_judges_leave_a_choice(
    source: ReviewSource, count: int, is_choice: bool
) -> None:
    assert ask(*[Relation.UPDATE] * count, source=source).is_choice is is_choice
