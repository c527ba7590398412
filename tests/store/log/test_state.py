"""What the log and reviews keep as JSON: it comes back as it was, and its keys stay what they are."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from app.domain.fact import DerivedSlot, Fact, Kind, Lifespan, Slot, StoredFact, Tier
from app.domain.relation import (
    Classify,
    Decision,
    Finding,
    Judge,
    Judgment,
    ModelCost,
    Operation,
    Opinion,
    Relation,
)
from app.domain.relationship import LinkType, Relationship
from app.domain.version import Belief, Version
from app.planning.audit.replay import MemoryState
from app.planning.opinions import JudgedMemory, Reason
from app.planning.plan import (
    Insertion,
    Plan,
    Review,
    ReviewDecision,
    ReviewSource,
    ReviewStatus,
    VersionChange,
)
from app.store.log import state

ONE, TWO = UUID(int=1), UUID(int=2)
KNOWN = datetime(2026, 5, 4, 10, 30, tzinfo=UTC)
AT = "2026-05-04T10:30:00.000000+00:00"


def as_stored(value: object) -> Any:
    """The value as it is read again from a column of JSON."""
    return json.loads(state.dump_json(value))


# --- there and back ----------------------------------------------------------------------------

TIMES = st.datetimes(timezones=st.just(UTC))
SHARES = st.floats(0, 1)
WORDS = st.lists(st.text(min_size=1), max_size=2).map(tuple)

BELIEFS = st.builds(
    Belief,
    valid_from=TIMES,
    asserted_at=TIMES,
    said_until=st.none() | TIMES,
    retracted_at=st.none() | TIMES,
    void=st.booleans(),
    ended_by=st.none() | st.uuids(),
    contradicted_by=st.none() | st.uuids(),
    merged=st.booleans(),
    temporary=st.booleans(),
    covered=st.lists(TIMES, max_size=4).map(tuple),
    tier=st.sampled_from(Tier),
    valid_until=st.none() | TIMES,
    superseded_by=st.none() | st.uuids(),
    superseded_at=st.none() | TIMES,
    known_from=st.none() | TIMES,
)
FACTS = st.builds(
    Fact,
    content=st.text(min_size=1),
    kind=st.none() | st.sampled_from(Kind),
    entity=st.none() | st.text(min_size=1),
    category=st.none() | st.text(),
    key=st.none() | st.text(min_size=1),
    value=st.none() | st.text(),
    single_valued=st.none() | st.booleans(),
    details=st.dictionaries(st.text(), st.none() | st.integers() | st.text(), max_size=2),
    tier=st.none() | st.sampled_from(Tier),
    importance=st.none() | SHARES,
    confidence=st.none() | SHARES,
    tags=WORDS,
    entities=WORDS,
    sources=WORDS,
    source=st.none() | st.text(min_size=1),
    session_id=st.none() | st.text(min_size=1),
    project=st.none() | st.text(min_size=1),
    trust=st.none() | st.integers(0, 100),
    lifespan=st.none() | st.sampled_from(Lifespan),
    valid_from=st.none() | TIMES,
    valid_until=st.none() | TIMES,
)
FINDINGS = st.builds(
    Finding,
    name=st.text(),
    relation=st.sampled_from(Relation),
    confidence=SHARES,
    explanation=st.text(),
)
JUDGMENTS = st.builds(
    Judgment,
    memory_id=st.uuids(),
    relation=st.sampled_from(Relation),
    confidence=SHARES,
    reasoning=st.text(),
    decided_by=st.sampled_from(Judge),
    findings=st.lists(FINDINGS, max_size=2).map(tuple),
    vetoes=WORDS,
    flag=st.booleans(),
    akin=st.booleans(),
)
LINKS = st.builds(
    Relationship, source=st.uuids(), target=st.uuids(), type=st.sampled_from(LinkType)
)
DECISIONS = st.builds(
    ReviewDecision,
    review_id=st.uuids(),
    before=st.sampled_from(ReviewStatus),
    after=st.sampled_from(ReviewStatus),
    note=st.none() | st.text(),
)
WAITING = st.builds(
    state.Incoming,
    fact=FACTS,
    supersedes=st.lists(st.uuids(), max_size=2).map(tuple),
    classify=st.none() | st.sampled_from(Classify),
)
CORRECTIONS = st.fixed_dictionaries(
    {},
    optional={
        "valid_from": TIMES,
        "said_until": st.none() | TIMES,
        "retracted_at": st.none() | TIMES,
        "lifespan": st.sampled_from(Lifespan),
        "session_id": st.none() | st.text(min_size=1),
        "project": st.none() | st.text(min_size=1),
    },
)


@given(BELIEFS)
def test_a_belief_comes_back_as_it_was(belief: Belief) -> None:
    stored = as_stored(state.encode_belief(belief)) | {"chain_id": str(belief.chain_id)}
    assert state.decode_belief(stored) == belief


@given(FACTS)
def test_a_fact_comes_back_as_it_was_stated(fact: Fact) -> None:
    assert state.decode_fact(as_stored(state.encode_stated_fact(fact))) == fact
    assert state.decode_fact(as_stored(state.encode_fact(fact))) == fact


@given(st.lists(JUDGMENTS, max_size=3).map(tuple))
def test_judgments_come_back_as_they_were(judgments: tuple[Judgment, ...]) -> None:
    assert state.decode_judgments(as_stored(state.encode_judgments(judgments))) == judgments


@given(st.lists(FINDINGS, max_size=3).map(tuple))
def test_findings_come_back_as_they_were(findings: tuple[Finding, ...]) -> None:
    assert state.decode_findings(as_stored(state.encode_findings(findings))) == findings


@given(WAITING)
def test_a_store_that_waits_comes_back_as_it_was(incoming: state.Incoming) -> None:
    assert state.decode_incoming(as_stored(state.encode_incoming(incoming))) == incoming


@given(st.dictionaries(st.uuids(), st.integers(1, 99)))
def test_revisions_relied_on_come_back_as_they_were(revisions: dict[UUID, int]) -> None:
    stored = as_stored(state.encode_relied_on(revisions.items()))
    assert state.decode_relied_on(stored) == tuple(revisions.items())


@given(CORRECTIONS)
def test_corrections_come_back_as_they_were(corrections: dict[str, Any]) -> None:
    assert state.decode_corrections(as_stored(corrections)) == (corrections or None)


@given(
    before=st.lists(BELIEFS, max_size=2),
    after=BELIEFS,
    links=st.lists(LINKS, max_size=2).map(tuple),
    unlinked=st.lists(LINKS, max_size=2).map(tuple),
    settled=st.none() | DECISIONS,
)
def test_the_states_of_an_operation_come_back_as_they_were(
    before: list[Belief],
    after: Belief,
    links: tuple[Relationship, ...],
    unlinked: tuple[Relationship, ...],
    settled: ReviewDecision | None,
) -> None:
    changed = tuple(
        VersionChange(version(UUID(int=n), belief), version(UUID(int=n), after))
        for n, belief in enumerate(before)
    )
    plan = build_plan(changed=changed, links=links, unlinked=unlinked, settled=settled)
    states_before = as_stored(state.encode_states_before(plan, None, {}))
    states_after = as_stored(state.encode_states_after(plan))
    assert state.decode_beliefs(states_before) == {c.before.id: c.before.belief for c in changed}
    assert state.decode_beliefs(states_after) == {c.after.id: after for c in changed}
    assert state.decode_links(states_before) == unlinked
    assert state.decode_links(states_after) == links
    assert state.decode_settled(states_after) == settled


# --- keys and values as they are stored --------------------------------------------------------


def version(version_id: UUID = ONE, belief: Belief | None = None) -> Version:
    return Version(
        id=version_id,
        kind=Kind.FACT,
        entity="user",
        category="",
        key=None,
        single_valued=None,
        slot=Slot("user", "", None),
        content_hash=b"1",
        fuzzy_hash=b"2",
        folded_hash=b"3",
        value_hash=None,
        importance=0.5,
        trust=50,
        lifespan=Lifespan.PERMANENT,
        session_id=None,
        project=None,
        created_at=KNOWN,
        revision=1,
        belief=belief
        or Belief(chain_id=ONE, valid_from=KNOWN, asserted_at=KNOWN, known_from=KNOWN),
    )


def build_plan(**parts: Any) -> Plan:
    decision = Decision(Relation.NONE, 1.0, Judge.RULE, "Nothing is like it.")
    return Plan(**{"operation": Operation.ADD, "now": KNOWN, "decision": decision, **parts})


BELIEF_STORED = {
    "valid_from": AT,
    "asserted_at": AT,
    "said_until": None,
    "retracted_at": None,
    "void": False,
    "ended_by": None,
    "contradicted_by": None,
    "merged": False,
    "tier": "semantic",
    "valid_until": None,
    "superseded_by": None,
    "superseded_at": None,
    "known_from": AT,
}
VERSION_STORED = {
    "id": str(ONE),
    "chain_id": str(ONE),
    "revision": 1,
    "created_at": AT,
    "belief": BELIEF_STORED,
}
JUDGMENT = Judgment(
    memory_id=TWO,
    relation=Relation.UPDATE,
    confidence=0.9,
    reasoning="Another value.",
    decided_by=Judge.SIGNALS,
    findings=(Finding("value_conflict", Relation.UPDATE, 0.9, "vim, emacs"),),
    vetoes=("Other people.",),
)
FINDING_STORED = {
    "name": "value_conflict",
    "relation": "UPDATE",
    "confidence": 0.9,
    "explanation": "vim, emacs",
}
JUDGMENT_STORED = {
    "memory_id": str(TWO),
    "relation": "UPDATE",
    "confidence": 0.9,
    "reasoning": "Another value.",
    "decided_by": "signals",
    "findings": [FINDING_STORED],
    "vetoes": ["Other people."],
    "flag": False,
    "akin": True,
    "opinions": [],
    "disagree": False,
    "new_text": None,
}


DEFAULTS_STORED = {
    "entity": "user",
    "category": "",
    "tier": "semantic",
    "importance": 0.5,
    "confidence": 1.0,
    "trust": 50,
    "lifespan": "permanent",
}


def test_an_insertion_is_stored_with_its_fact() -> None:
    fact = Fact(
        "Uses vim", kind=Kind.PREFERENCE, tags=("a",), derived=DerivedSlot("user", "editor", "vim")
    )
    plan = build_plan(
        inserted=(Insertion(StoredFact.from_fact(fact), version()),), look_again="frozen"
    )
    assert as_stored(state.encode_states_after(plan)) == [
        VERSION_STORED
        | DEFAULTS_STORED
        | {
            "content": "Uses vim",
            "kind": "preference",
            "tags": ["a"],
            "derived": {"entity": "user", "key": "editor", "value": "vim"},
            "look_again": "frozen",
        }
    ]


def test_an_insertion_leaves_out_the_text_that_incoming_has() -> None:
    fact = Fact("Uses vim", kind=Kind.PREFERENCE)
    plan = build_plan(inserted=(Insertion(StoredFact.from_fact(fact), version()),), incoming=fact)
    assert as_stored(state.encode_states_after(plan)) == [
        VERSION_STORED | DEFAULTS_STORED | {"kind": "preference"}
    ]


def test_an_incoming_fact_is_stored_without_what_nobody_stated() -> None:
    fact = Fact("Uses vim", importance=0.0, single_valued=False, merged_from=(ONE,))
    assert as_stored(state.encode_stated_fact(fact)) == {
        "content": "Uses vim",
        "single_valued": False,
        "importance": 0.0,
        "merged_from": [str(ONE)],
    }


def test_everything_else_that_an_operation_did_is_stored_in_states_of_its_own() -> None:
    review = Review(
        source=ReviewSource.SHADOW,
        relation=Relation.UPDATE,
        judgments=(JUDGMENT,),
        relied_on=((TWO, 3),),
        corrections={"said_until": KNOWN},
        successor=ONE,
    )
    link = Relationship(ONE, TWO, LinkType.RELATED_TO)
    plan = build_plan(
        target=ONE,
        changed=(VersionChange(version(), version()),),
        links=(link,),
        unlinked=(link,),
        review=review,
        settled=ReviewDecision(TWO, ReviewStatus.PENDING, ReviewStatus.ACCEPTED, "Right."),
        metadata={"tags": ["b"]},
    )
    links = {"links": [{"source": str(ONE), "target": str(TWO), "type": "related_to"}]}
    assert as_stored(state.encode_states_before(plan, {"tags": ["a"]}, {})) == [
        VERSION_STORED,
        {"id": str(ONE), "metadata": {"tags": ["a"]}},
        links,
    ]
    assert as_stored(state.encode_states_after(plan)) == [
        VERSION_STORED,
        links,
        {
            "review": {
                "source": "shadow",
                "relation": "UPDATE",
                "judgments": [JUDGMENT_STORED],
                "relied_on": [[str(TWO), 3]],
                "said": {"said_until": AT},
                "successor": str(ONE),
            }
        },
        {
            "settled": {
                "review_id": str(TWO),
                "before": "pending",
                "after": "accepted",
                "note": "Right.",
            }
        },
        {"id": str(ONE), "metadata": {"tags": ["b"]}},
    ]


DISPUTED = JudgedMemory(
    ONE,
    opinions=(
        Opinion(Judge.SIGNALS, Relation.UPDATE, 0.999, "single_valued: home"),
        Opinion(Judge.LOCAL, Relation.NONE, 0.96, "reads no change"),
    ),
    signals=("single_valued",),
    proposed=Relation.UPDATE,
    reason=Reason.OBJECTED,
)


def test_opinions_come_back_as_they_were() -> None:
    judged = (DISPUTED, JudgedMemory(TWO, vetoes=("Other people.",)))
    row = {"opinions": as_stored(state.encode_opinions(judged)), "vetoed": []}
    assert state.decode_opinions(row) == judged
    assert row["opinions"][0]["not_done"] == {"relation": "UPDATE", "reason": "objected"}
    assert "not_done" not in row["opinions"][1]


def test_the_vetoes_of_an_old_operation_are_read_as_opinions() -> None:
    row = {"opinions": None, "vetoed": [{"memory_id": str(TWO), "veto": "Other people."}]}
    assert state.decode_opinions(row) == (JudgedMemory(TWO, vetoes=("Other people.",)),)


def test_the_text_of_what_ends_is_in_the_state_before_and_of_what_goes_on_it_is_not() -> None:
    before = version()
    ended = replace(before, belief=replace(before.belief, valid_until=KNOWN + timedelta(days=9)))
    moved = replace(before, belief=replace(before.belief, covered=(KNOWN,)))
    texts = {ONE: "I live in Porto"}
    for after, content in ((ended, "I live in Porto"), (moved, None)):
        plan = build_plan(changed=(VersionChange(before, after),))
        [stored] = as_stored(state.encode_states_before(plan, None, texts))
        assert stored.get("content") == content


def test_the_cost_of_a_model_is_stored_in_full() -> None:
    cost = ModelCost("m", "p1", llm_calls=1, prompt_tokens=20, completion_tokens=3, ms=4.5)
    assert as_stored(state.encode_fields(cost)) == {
        "model": "m",
        "prompt_version": "p1",
        "llm_calls": 1,
        "prompt_tokens": 20,
        "completion_tokens": 3,
        "ms": 4.5,
        "trouble": None,
    }


def test_an_inserted_memory_is_replayed_with_the_text_of_incoming() -> None:
    known = state.decode_memory_state(VERSION_STORED | {"kind": "fact"}, "Uses vim")
    assert known.is_insertion
    assert known.columns == {
        "revision": 1,
        "created_at": AT,
        "kind": "fact",
        "content": "Uses vim",
    }
    assert known.belief == BELIEF_STORED | {
        "chain_id": str(ONE),
        "temporary": False,
        "covered": [],
    }


def test_a_confirmation_is_replayed_without_a_state() -> None:
    assert state.decode_memory_state({}, None) == MemoryState()


def test_a_corrected_memory_is_replayed_by_its_metadata() -> None:
    known = state.decode_memory_state({"id": str(ONE), "metadata": {"tags": []}}, None)
    assert known.metadata == {"tags": []}
    assert known.belief is None
    assert not known.is_insertion
