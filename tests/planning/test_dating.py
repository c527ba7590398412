"""What dates in words set, and what they mean for what was told after the date."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.dates.dated_text import DatedBy, Precision
from app.domain.errors import InvalidFact
from app.domain.fact import Fact, Kind
from app.domain.policy import Policy
from app.domain.relation import Judge, Judgment, Operation, Relation
from app.domain.timeline import settle_chain
from app.domain.version import OPEN_START, TICK
from app.planning.building_blocks import Placement, plan_addition
from app.planning.dating import add_dates, is_past
from app.planning.explicit import plan_supersede
from app.planning.plan import IncomingFact, Plan, ReviewSource
from app.planning.reviews import Proposal, plan_accept, plan_for_review
from app.planning.store import plan_store
from support.planned_memory import DAY, HOUR, NOW, PlannedMemory

SPRING, SUMMER, LATER = (datetime(year, 3, 1, tzinfo=UTC) for year in (2024, 2025, 2030))


def dated_by(start: datetime | None = None, end: datetime | None = None) -> DatedBy:
    return DatedBy("in March", 0, 8, start, end, Precision.MONTH)


def dated_fact(
    content: str, start: datetime | None = None, end: datetime | None = None, **more: Any
) -> Fact:
    """A fact whose words say when it holds."""
    return add_dates(Fact(content, **more), dated_by(start, end), more.get("said_at") or NOW)


# --- what words set ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stated", "words", "start", "end"),
    [
        ((None, None), (SPRING, None), SPRING, None),
        ((None, None), (SPRING, SUMMER), SPRING, SUMMER),
        ((None, None), (None, LATER), None, LATER),
        ((None, None), (None, SUMMER), OPEN_START, SUMMER),
        ((SUMMER, None), (SPRING, None), SUMMER, None),
        ((SPRING, None), (None, SUMMER), SPRING, SUMMER),
        ((SUMMER, None), (None, SPRING), SUMMER, None),
        ((SUMMER, None), (None, SUMMER), SUMMER, None),
        ((None, SUMMER), (SPRING, None), SPRING, SUMMER),
        ((None, SPRING), (SUMMER, None), None, SPRING),
        ((None, SPRING), (SPRING, None), None, SPRING),
        ((SPRING, SUMMER), (SUMMER, LATER), SPRING, SUMMER),
        ((None, LATER), (SPRING, SUMMER), SPRING, LATER),
    ],
)
def test_words_set_what_the_caller_left_open_and_never_an_empty_time(
    stated: tuple[datetime | None, datetime | None],
    words: tuple[datetime | None, datetime | None],
    start: datetime | None,
    end: datetime | None,
) -> None:
    fact = Fact("Lives in Porto", valid_from=stated[0], valid_until=stated[1])
    dated = add_dates(fact, dated_by(*words), NOW)
    assert (dated.valid_from, dated.valid_until) == (start, end)
    if dated.dated_by is None:
        assert dated == fact
    else:
        assert dated.dated_by.holds_from in (None, start)
        assert dated.dated_by.holds_until in (None, end)


def test_only_what_ended_by_its_words_is_past() -> None:
    assert is_past(dated_fact("Lived in Rome", SPRING, SUMMER), NOW)
    assert is_past(dated_fact("Lived in Rome", None, NOW), NOW)
    assert not is_past(dated_fact("Lives in Rome", None, NOW + TICK), NOW)
    assert not is_past(dated_fact("Lives in Rome", SPRING), NOW)
    assert not is_past(Fact("Lived in Rome", valid_from=SPRING, valid_until=SUMMER), NOW)


def test_words_are_never_spoken_after_they_are_known() -> None:
    memory = PlannedMemory()
    plan = memory.store(Fact("Lives in Porto", said_at=NOW + HOUR))
    [inserted] = plan.inserted
    assert inserted.version.belief.valid_from == plan.now
    assert inserted.version.begins_when_told
    with pytest.raises(InvalidFact, match="said_at"):
        memory.store(Fact("Lives in Rome", said_at=NOW + 2 * DAY))


# --- a change that the words date before what was told -------------------------------------------


def home(value: str, start: datetime | None = None, **more: Any) -> Fact:
    """A fact of the slot `home`, dated by its words if a start is given."""
    fact = Fact(f"Home is {value}", key="home", value=value, **more)
    return fact if start is None else add_dates(fact, dated_by(start), more.get("said_at") or NOW)


def judge_update(*ids: UUID | None) -> Sequence[Judgment]:
    return [
        Judgment(
            memory_id=memory_id,
            relation=Relation.UPDATE,
            confidence=0.99,
            reasoning="A move.",
            decided_by=Judge.SIGNALS,
        )
        for memory_id in ids
        if memory_id
    ]


def judge_retraction(memory_id: UUID) -> Judgment:
    return Judgment(
        memory_id=memory_id,
        relation=Relation.RETRACTION,
        confidence=0.99,
        reasoning="It is over.",
        decided_by=Judge.SIGNALS,
    )


def store_told(memory: PlannedMemory, *facts: Fact) -> list[UUID]:
    ids = []
    for fact in facts:
        plan = memory.store(fact)
        assert plan.target
        ids.append(plan.target)
    return ids


def test_what_was_only_told_after_the_date_held_before_it() -> None:
    memory = PlannedMemory()
    [porto] = store_told(memory, home("Porto"))
    plan = memory.store(home("Lisbon", SPRING))
    assert (plan.operation, plan.superseded) == (Operation.UPDATE, (porto,))
    assert memory.list_holding() == {"Home is Lisbon"}
    assert memory.list_holding(SPRING) == {"Home is Lisbon"}
    belief = memory.get_belief(porto)
    assert (belief.valid_from, belief.valid_until) == (SPRING - TICK, SPRING)


def test_all_that_was_told_since_the_date_keeps_its_order_before_it() -> None:
    memory = PlannedMemory()
    ids = store_told(memory, home("Porto"), home("Faro"), home("Porto"), home("Rome"))
    plan = memory.store(home("Lisbon", SPRING))
    assert plan.superseded == (ids[-1],)
    assert memory.list_holding() == {"Home is Lisbon"}
    starts = [memory.get_belief(memory_id).valid_from for memory_id in ids]
    assert starts == [SPRING - place * TICK for place in (4, 3, 2, 1)]
    assert memory.get_belief(ids[0]).contradicted_by == ids[1]


@pytest.mark.parametrize(
    "stored",
    [
        home("Porto", SUMMER),  # dated by its words
        Fact("Home is Porto", key="home", value="Porto", valid_from=SUMMER),
        Fact("Home is Porto", key="home", value="Porto", said_at=SPRING - DAY, valid_from=SUMMER),
    ],
)
def test_a_stated_start_stands_and_the_dated_fact_comes_late(stored: Fact) -> None:
    memory = PlannedMemory()
    store_told(memory, stored)
    plan = memory.store(home("Lisbon", SPRING))
    assert (plan.operation, plan.superseded) == (Operation.ADD, ())
    assert memory.list_holding() == {"Home is Porto"}
    assert memory.list_holding(SPRING) == {"Home is Lisbon"}


def test_one_stated_start_among_several_stands() -> None:
    memory = PlannedMemory()
    store_told(memory, home("Porto", SUMMER), home("Faro"))
    memory.store(home("Lisbon", SPRING))
    assert memory.list_holding() == {"Home is Faro"}


def test_a_start_that_the_caller_gives_moves_nothing() -> None:
    memory = PlannedMemory()
    store_told(memory, home("Porto"))
    memory.store(Fact("Home is Lisbon", key="home", value="Lisbon", valid_from=SPRING))
    assert memory.list_holding() == {"Home is Porto"}


def test_words_spoken_before_what_was_told_move_nothing() -> None:
    memory = PlannedMemory()
    store_told(memory, home("Porto", said_at=SUMMER))
    memory.store(home("Lisbon", SPRING, said_at=SUMMER - DAY))
    assert memory.list_holding() == {"Home is Porto"}
    memory.store(home("Rome", SPRING + DAY, said_at=SUMMER + DAY))
    assert memory.list_holding() == {"Home is Rome"}


def test_lower_trust_and_constraints_are_not_moved() -> None:
    for stored in (home("Porto", trust=80), home("Porto", kind=Kind.CONSTRAINT)):
        memory = PlannedMemory()
        [porto] = store_told(memory, stored)
        memory.store(home("Lisbon", SPRING, trust=20))
        assert memory.get_belief(porto).valid_from > SPRING
        assert "Home is Porto" in memory.list_holding()


@pytest.mark.parametrize(
    ("captured", "confidence", "trust", "kind", "source"),
    [
        (True, 0.98, 50, None, None),
        (True, 0.9, 50, None, ReviewSource.TRUST),
        (True, 0.98, 60, None, ReviewSource.TRUST),
        (False, 0.98, 50, None, ReviewSource.TRUST),
        (True, 0.98, 40, None, None),
        (True, 0.98, 40, Kind.CONSTRAINT, ReviewSource.CONSTRAINT),
    ],
)
def test_a_dated_captured_fact_ends_what_was_only_told_if_that_is_very_sure(
    captured: bool, confidence: float, trust: int, kind: Kind | None, source: ReviewSource | None
) -> None:
    """The same rule as for what holds when the fact begins."""
    memory = PlannedMemory()
    [porto] = store_told(memory, Fact("I live in Porto", trust=trust, kind=kind))
    [judgment] = judge_update(porto)
    fact = dated_fact("I moved to Lisbon in March", SPRING, trust=40)
    sure = replace(judgment, confidence=confidence)
    plan = memory.store(fact, sure, may_end_stated=captured)
    assert plan.superseded == (() if source else (porto,))
    assert (plan.review.source if plan.review else None) == source


def test_the_value_that_holds_begins_earlier_by_its_words() -> None:
    memory = PlannedMemory()
    [lisbon] = store_told(memory, home("Lisbon"))
    plan = memory.store(home("Lisbon", SPRING))
    assert (plan.operation, plan.target) == (Operation.AMEND, lisbon)
    assert memory.get_belief(lisbon).valid_from == SPRING


def test_a_judged_change_ends_what_was_only_told_in_any_chain() -> None:
    memory = PlannedMemory()
    one, other = store_told(memory, Fact("I live in Porto"), Fact("My flat is in Porto"))
    fact = dated_fact("I moved to Lisbon in March", SPRING)
    plan = memory.store(fact, *judge_update(one, other))
    assert (plan.operation, set(plan.superseded)) == (Operation.UPDATE, {one, other})
    assert memory.list_holding() == {"I moved to Lisbon in March"}
    for memory_id in (one, other):
        assert memory.get_belief(memory_id).valid_until == SPRING


def test_a_judged_ending_ends_what_was_only_told() -> None:
    memory = PlannedMemory()
    [job] = store_told(memory, Fact("I work at Acme"))
    plan = memory.store(dated_fact("I left Acme in March", SPRING), judge_retraction(job))
    assert (plan.operation, plan.superseded) == (Operation.DELETE, (job,))
    assert memory.list_holding() == {"I left Acme in March"}
    assert memory.get_belief(job).valid_until == SPRING


def test_a_judged_change_of_what_has_a_stated_start_comes_late() -> None:
    memory = PlannedMemory()
    [porto] = store_told(memory, Fact("I live in Porto", valid_from=SUMMER))
    fact = dated_fact("I moved to Lisbon in March", SPRING)
    plan = memory.store(fact, *judge_update(porto))
    assert (plan.operation, plan.superseded) == (Operation.ADD, ())
    assert memory.list_holding() == {"I live in Porto"}


def test_a_change_by_hand_takes_the_date_of_its_words() -> None:
    memory = PlannedMemory()
    [porto] = store_told(memory, Fact("I live in Porto"))
    incoming = IncomingFact(dated_fact("I moved to Lisbon in March", SPRING), UUID(int=7))
    now = memory.next_known_time()
    memory.absorb(plan_supersede(incoming, [porto], memory.chains, Policy(), now=now))
    belief = memory.get_belief(porto)
    assert (belief.void, belief.valid_until) == (False, SPRING)
    assert memory.list_holding() == {"I moved to Lisbon in March"}


def test_an_accepted_change_ends_what_was_only_told() -> None:
    memory = PlannedMemory()
    [porto] = store_told(memory, home("Porto"))
    fact, new_id = home("Lisbon", SPRING), UUID(int=7)
    plan = store_for_review(memory, fact, new_id)
    assert memory.list_holding() == {"Home is Porto", "Home is Lisbon"}
    accept(memory, plan, new_id)
    assert memory.list_holding() == {"Home is Lisbon"}
    belief = memory.get_belief(porto)
    assert (belief.valid_from, belief.valid_until) == (SPRING - TICK, SPRING)


def store_for_review(memory: PlannedMemory, fact: Fact, new_id: UUID) -> Plan:
    """Store the fact as an agent in shadow mode does."""
    live = plan_store(
        IncomingFact(fact, new_id), memory.chains, Policy(), now=memory.next_known_time()
    )
    shadowed = plan_for_review(live, fact, memory.chains, ReviewSource.SHADOW, new_id=new_id)
    return memory.absorb(shadowed)


def accept(memory: PlannedMemory, plan: Plan, stored: UUID) -> Plan:
    assert plan.review
    proposal = Proposal(
        review_id=UUID(int=8),
        relation=plan.review.relation,
        created_at=plan.now,
        memory_id=stored,
        judgments=plan.review.judgments,
        relied_on=(),
    )
    return memory.absorb(plan_accept(proposal, memory.chains, now=memory.next_known_time()))


# --- what is over --------------------------------------------------------------------------------


def test_what_is_over_ends_nothing_that_holds_whatever_judges_say() -> None:
    memory = PlannedMemory()
    [lisbon] = store_told(memory, Fact("I live in Lisbon", valid_from=SPRING - DAY))
    episode = dated_fact("I lived in Rome from March to March", SPRING, SUMMER)
    for judgment in (*judge_update(lisbon), judge_retraction(lisbon)):
        plan = memory.store(episode, judgment)
        assert plan.superseded == ()
        assert plan.review is None
        assert not plan.ends_unknown
    assert memory.list_holding() == {"I live in Lisbon"}
    assert "I lived in Rome from March to March" in memory.list_holding(SPRING)
    assert memory.get_belief(lisbon).valid_until is None


def test_an_episode_without_a_date_ends_nothing_either() -> None:
    memory = PlannedMemory()
    [days] = store_told(memory, Fact("I work days", key="shift", value="days"))
    for more in ({}, {"key": "shift", "value": "nights"}):
        fact = Fact("I worked nights for two years", **more)
        plan = memory.store(fact, *judge_update(days), is_episode=True)
        assert plan.superseded == ()
    assert "I work days" in memory.list_holding()


def test_an_end_in_words_without_a_start_ends_nothing_else() -> None:
    memory = PlannedMemory()
    [job] = store_told(memory, Fact("I work at Acme", valid_from=SPRING - DAY))
    stated = dated_fact("I worked at Acme until March", None, SUMMER, valid_from=SPRING)
    assert memory.store(stated, judge_retraction(job)).superseded == ()


def test_words_that_state_only_an_end_may_end_what_they_are_about() -> None:
    memory = PlannedMemory()
    [job] = store_told(memory, Fact("I work at Acme"))
    plan = memory.store(
        dated_fact("I worked at Acme until March", None, SUMMER), judge_retraction(job)
    )
    assert (plan.operation, plan.superseded) == (Operation.DELETE, (job,))
    assert memory.get_belief(job).valid_until == SUMMER - TICK


def test_what_is_over_takes_its_place_in_its_slot_and_what_holds_through_it_resumes() -> None:
    memory = PlannedMemory()
    [lisbon] = store_told(memory, home("Lisbon", SUMMER))
    fact = add_dates(
        Fact("Home was Rome", key="home", value="Rome"), dated_by(SPRING, SUMMER + DAY), NOW
    )
    plan = memory.store(fact)
    [inserted] = plan.inserted
    assert inserted.version.chain_id == lisbon
    assert inserted.version.belief.valid_until == SUMMER
    through = add_dates(
        Fact("Home was Bonn", key="home", value="Bonn"),
        dated_by(SUMMER + DAY, SUMMER + 2 * DAY),
        NOW,
    )
    plan = memory.store(through)
    [inserted] = plan.inserted
    assert inserted.version.chain_id == lisbon
    assert memory.get_belief(lisbon).covered == (SUMMER + DAY, SUMMER + 2 * DAY)
    assert memory.get_belief(lisbon).valid_until is None
    assert memory.store(through).operation is Operation.NOOP


def test_a_told_start_is_the_time_of_the_words_or_of_their_storing() -> None:
    memory = PlannedMemory()
    [now, spoken, stated] = store_told(
        memory, Fact("A"), Fact("B", said_at=SPRING), Fact("C", valid_from=SPRING)
    )
    told = [memory.chains.get_version(i).begins_when_told for i in (now, spoken, stated)]
    assert told == [True, True, False]
    assert memory.chains.get_version(spoken).belief.valid_from == SPRING
    assert timedelta(0) <= memory.now - memory.chains.get_version(now).told_at


# --- any history ---------------------------------------------------------------------------------


@st.composite
def histories(draw: st.DrawFn) -> list[Fact]:
    """Facts of one slot: told, dated by their words, given a start, or over by their words."""
    facts: list[Fact] = []
    for _ in range(draw(st.integers(1, 7))):
        value = draw(st.sampled_from("ABCD"))
        fact = Fact(f"Home is {value}", key="home", value=value)
        start = NOW - draw(st.integers(1, 9)) * DAY
        match draw(st.sampled_from(["told", "dated", "stated", "over"])):
            case "dated":
                fact = add_dates(fact, dated_by(start), NOW)
            case "stated":
                fact = replace(fact, valid_from=start)
            case "over":
                fact = add_dates(fact, dated_by(start, start + DAY), NOW)
        facts.append(fact)
    return facts


@given(histories())
def test_every_chain_is_settled_whatever_was_dated(facts: list[Fact]) -> None:
    memory = PlannedMemory()
    for fact in facts:
        plan = memory.store(fact)
        for chain_id in {version.chain_id for version in memory.chains.list_versions()}:
            chain = memory.chains.find_chain(chain_id)
            assert settle_chain(chain, plan.now) == chain
            holding = [v for v in chain if v.belief.holds_at(plan.now)]
            assert len(holding) <= 1


@given(histories(), st.sampled_from("ABCD"), st.integers(1, 9))
def test_a_dated_change_holds_after_anything_that_was_only_told(
    facts: list[Fact], value: str, days: int
) -> None:
    memory = PlannedMemory()
    for fact in facts:
        memory.store(Fact(fact.content, key="home", value=fact.value))
    memory.store(home(value, NOW - days * DAY))
    assert memory.list_holding() == {f"Home is {value}"}


@given(histories(), st.integers(1, 9))
def test_what_is_over_changes_nothing_that_holds(facts: list[Fact], days: int) -> None:
    memory = PlannedMemory()
    for fact in facts:
        memory.store(fact)
    holding = memory.list_holding()
    start = NOW - days * DAY
    fact = add_dates(Fact("Home was E", key="home", value="E"), dated_by(start, start + DAY), NOW)
    memory.store(fact)
    assert memory.list_holding() == holding


@pytest.mark.parametrize("days_after", [1, 5])
def test_a_stay_hides_no_home_that_was_only_told(days_after: int) -> None:
    """During a stay of three days and after it, a dated move ends the home and leaves the stay."""
    memory = PlannedMemory()
    [porto] = store_told(memory, home("Porto"))
    begins = memory.now + timedelta(hours=1)
    stay = home("Ibis", valid_from=begins, valid_until=begins + 3 * DAY)
    [ibis] = store_told(memory, stay)
    memory.now = begins + days_after * DAY
    moved = add_dates(home("Lisbon"), dated_by(SPRING, None), memory.now)
    plan = memory.store(moved)
    [inserted] = plan.inserted
    lisbon = inserted.version.belief
    assert (lisbon.valid_from, lisbon.valid_until) == (SPRING, None)
    assert memory.get_belief(porto).valid_until == SPRING
    assert memory.get_belief(ibis).valid_from == begins
    assert memory.list_holding(begins + 2 * DAY) == {"Home is Ibis"}
    assert memory.list_holding(begins + 4 * DAY) == {"Home is Lisbon"}


def test_what_resumes_is_protected_like_what_holds() -> None:
    memory = PlannedMemory()
    stay = home("Ibis", valid_from=SUMMER, valid_until=LATER, trust=40)
    trusted = home("Porto", valid_from=SPRING, trust=90)
    [_, porto] = store_told(memory, stay, trusted)
    plan = memory.store(home("Braga", trust=50))
    assert plan.review is not None
    assert memory.get_belief(porto).valid_until is None
    assert memory.list_holding() == {"Home is Ibis", "Home is Braga"}


# --- lasting facts and stays in several chains ---------------------------------------------------


def store_stay_at_home(memory: PlannedMemory, **stay: Any) -> list[UUID]:
    """Store a home and, in its chain, a stay that covers it."""
    return store_told(
        memory,
        home("Porto", valid_from=SPRING, **stay),
        home("Ibis", valid_from=SUMMER, valid_until=LATER, **stay),
    )


def test_a_judged_change_ends_the_stay_in_another_chain_and_what_would_resume() -> None:
    memory = PlannedMemory()
    [flat] = store_told(memory, Fact("My flat is in Porto"))
    porto, ibis = store_stay_at_home(memory)
    judgments = [
        replace(j, confidence=c) for j, c in zip(judge_update(flat, ibis), (1, 0.9), strict=True)
    ]
    plan = memory.store(Fact("I live in Lisbon"), *judgments)
    assert plan.superseded == (flat, ibis)
    assert memory.list_holding() == {"I live in Lisbon"}
    assert memory.list_holding(LATER) == {"I live in Lisbon"}
    assert memory.get_belief(porto).valid_until == SUMMER


def test_a_value_of_the_slot_ends_the_stay_in_another_chain_and_what_would_resume() -> None:
    memory = PlannedMemory()
    memory.keep(Fact("Home is Faro", key="home", value="Faro", valid_until=NOW + HOUR))
    porto = memory.keep(home("Porto", valid_from=SPRING))
    stay = Fact("Home is Ibis", key="home", value="Ibis", valid_from=SUMMER, valid_until=LATER)
    placement = Placement(UUID(int=5), porto, SUMMER, memory.next_known_time(), temporary=True)
    memory.absorb(plan_addition(stay, placement, memory.chains))
    memory.store(home("Lisbon"))
    assert memory.list_holding() == {"Home is Lisbon"}
    assert memory.list_holding(LATER) == {"Home is Lisbon"}


def test_an_accepted_change_ends_the_stay_and_what_would_resume() -> None:
    memory = PlannedMemory()
    porto, ibis = store_stay_at_home(memory)
    accepted = accept(memory, store_for_review(memory, home("Lisbon"), UUID(int=7)), UUID(int=7))
    assert accepted.superseded == (ibis,)
    assert memory.list_holding() == {"Home is Lisbon"}
    assert memory.list_holding(LATER) == {"Home is Lisbon"}
    assert memory.get_belief(porto).valid_until == SUMMER


def test_an_accepted_change_goes_on_after_a_stay_that_is_to_come() -> None:
    memory = PlannedMemory()
    begins = NOW + DAY
    store_told(memory, home("Porto"), home("Ibis", valid_from=begins, valid_until=begins + 3 * DAY))
    accept(memory, store_for_review(memory, home("Lisbon"), UUID(int=7)), UUID(int=7))
    assert memory.get_belief(UUID(int=7)).valid_until is None
    assert memory.list_holding(begins + 4 * DAY) == {"Home is Lisbon"}
