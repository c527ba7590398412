"""The sentences of a story, as tables of cases."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from app.domain.fact import StoredFact
from app.domain.relation import Finding, Judge, Operation, Opinion, Relation
from app.domain.relationship import LinkType, Relationship
from app.domain.version import Belief, Memory
from app.planning.opinions import JudgedMemory, Reason
from app.planning.plan import ReviewDecision, ReviewStatus
from app.planning.why.names import format_moment, quote_text
from app.planning.why.sentences import build_story
from app.planning.why.story import EventKind, Story, StoryEntry, StoryMaterial, StoryReview

ONE, TWO, THREE, REVIEW = (UUID(int=n) for n in range(1, 5))
TEXTS: dict[UUID, str | None] = {ONE: "One", TWO: "Two", THREE: "Three"}
KNOWN = datetime(2026, 5, 4, 10, 30, tzinfo=UTC)
TRUE = datetime(2020, 1, 1, tzinfo=UTC)
LATER = datetime(2024, 1, 1, tzinfo=UTC)


def belief(**claims: Any) -> Belief:
    return Belief(**{"chain_id": UUID(int=1), "valid_from": TRUE, "asserted_at": KNOWN, **claims})


def entry(operation: Operation, *, at: datetime = KNOWN, log: int = 9, **more: Any) -> StoryEntry:
    """An operation decided by rule, because."""
    parts = {"target": ONE, "touched": (TWO,), **more}
    return StoryEntry(
        UUID(int=log),
        operation,
        at,
        Relation.NONE,
        1.0,
        parts.pop("decided_by", "rule"),
        parts.pop("reasoning", "Because"),
        **parts,
    )


def story(
    *entries: StoryEntry,
    about: UUID = ONE,
    now: Belief | None = None,
    texts: Any = None,
    as_of: datetime = KNOWN,
    **more: Any,
) -> Story:
    memory = Memory(about, StoredFact("One"), now or belief(), KNOWN, 1, None)
    material = StoryMaterial(
        memory, frozenset({ONE, TWO}), entries, (), (), TEXTS if texts is None else texts
    )
    return build_story(replace(material, **more), as_of, KNOWN + timedelta(days=9))


MERGED = belief(merged=True)
ENDED: dict[str, dict[UUID, Belief]] = {
    "before": {TWO: belief()},
    "after": {ONE: belief(valid_from=LATER), TWO: belief(valid_until=LATER, contradicted_by=ONE)},
}


@pytest.mark.parametrize(
    ("logged", "sentence"),
    [
        (entry(Operation.ADD, after={ONE: belief()}), "“One” was stored, true from 2020-01-01, known since 2026-05-04 10:30 UTC."),
        (entry(Operation.ADD, after={ONE: belief(valid_from=KNOWN)}), "“One” was stored, true from then on."),
        (entry(Operation.UPDATE, **ENDED), "“One” replaced “Two”, true from 2024-01-01, known since 2026-05-04 10:30 UTC."),
        (
            entry(Operation.ADD, before={TWO: belief()}, after={ONE: belief(valid_from=LATER), TWO: belief(valid_until=LATER)}),
            "“One” was stored, true from 2024-01-01, known since 2026-05-04 10:30 UTC; “Two” ends at 2024-01-01.",
        ),
        (entry(Operation.NOOP, incoming_text="One"), "“One” was said again."),
        (entry(Operation.NOOP, incoming_text="ONE"), "“ONE” was said, which “One” says already."),
        (entry(Operation.NOOP), "Nothing changed for “One”."),
        (entry(Operation.NOOP, target=None), "Nothing was done."),
        (
            entry(Operation.DELETE, target=None, incoming_text="No two", before={TWO: belief()}, after={TWO: belief(valid_until=LATER)}),
            "“No two” was said; “Two” ends at 2024-01-01.",
        ),
        (
            entry(Operation.DELETE, target=None, before={TWO: belief()}, after={TWO: belief(void=True, valid_until=TRUE)}),
            "“Two” was withdrawn.",
        ),
        (
            entry(Operation.REVERT, before={TWO: belief(valid_until=LATER)}, after={TWO: belief()}),
            "An operation was undone; “Two” holds on without an end.",
        ),
        (
            entry(Operation.REVERT, before={TWO: belief(void=True)}, after={TWO: belief()}),
            "An operation was undone; “Two” stands again from 2020-01-01.",
        ),
        (entry(Operation.AMEND, links=(Relationship(ONE, TWO, LinkType.MERGED_INTO),)), "“One” was linked to “Two” (merged into)."),
        (
            entry(Operation.AMEND, corrected={"tags": ([], ["a", "b"]), "importance": (0.5, 0.9)}),
            "“One” was corrected; tags a, b instead of nothing; importance 0.9 instead of 0.5.",
        ),
        (
            entry(Operation.MERGE, touched=(TWO, THREE), before={TWO: belief()}, after={ONE: belief(), TWO: MERGED, THREE: MERGED}),
            "“Two” and “Three” became one: “One”, true from 2020-01-01, known since 2026-05-04 10:30 UTC.",
        ),
    ],
)  # fmt: skip
def test_operations_are_described(logged: StoryEntry, sentence: str) -> None:
    [event] = story(logged).events
    assert event.sentence == f"{sentence} Decided by rule: Because."


FINDINGS = (Finding("weak", Relation.UPDATE, 0.2, ""), Finding("strong", Relation.UPDATE, 0.9, ""))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"decided_by": "caller"}, "Decided by the caller: Because."),
        (
            {"decided_by": "signals", "findings": FINDINGS},
            "Decided by signals (strong, 1.00): Because.",
        ),
        ({"decided_by": "signals"}, "Decided by signals (1.00): Because."),
        ({"decided_by": "model"}, "Decided by the model (1.00): Because."),
        ({"decided_by": "reviewer"}, "Decided by a reviewer: Because."),
        ({"reasoning": "Because of this.."}, "Decided by rule: Because of this."),
    ],
)
def test_the_decider_is_named(more: dict[str, Any], words: str) -> None:
    assert story(entry(Operation.NOOP, **more)).events[0].sentence.endswith(words)


ERASURES: list[tuple[Sequence[UUID], str]] = [
    ([ONE], "Its text was erased."),
    ([TWO], "The text of another memory was erased."),
    ([ONE, TWO], "Its text and that of another memory were erased."),
    ([ONE, TWO, THREE], "Its text and that of 2 others were erased."),
    ([TWO, THREE], "The text of 2 others was erased."),
]


@pytest.mark.parametrize(("ids", "sentence"), ERASURES)
def test_erasures_name_no_text(ids: Sequence[UUID], sentence: str) -> None:
    assert (
        story(entry(Operation.ERASE, target=None, touched=tuple(ids))).events[0].sentence
        == sentence
    )


def test_what_is_erased_or_not_known_is_not_quoted() -> None:
    sentence = story(entry(Operation.UPDATE, **ENDED), texts={ONE: None}).events[0].sentence
    assert sentence.startswith(f"An erased memory replaced memory {TWO}, ")
    note = ReviewDecision(REVIEW, ReviewStatus.PENDING, ReviewStatus.ACCEPTED, "As Two said")
    decided = entry(Operation.UPDATE, settled=note, **ENDED)
    assert (
        story(decided)
        .events[0]
        .sentence.endswith(" It decided the review: accepted (“As Two said”).")
    )
    assert (
        story(decided, texts={ONE: "One", TWO: None})
        .events[0]
        .sentence.endswith(" It decided the review: accepted.")
    )


def test_vetoes_are_described_if_they_concern_the_chain() -> None:
    vetoed = tuple(JudgedMemory(i, vetoes=("other key",)) for i in (TWO, THREE))
    stored = entry(Operation.ADD, after={ONE: belief()}, judged=vetoed)
    assert (
        story(stored).events[1].sentence
        == "“One” was kept apart from “Two” (other key) and “Three” (other key)."
    )
    elsewhere = entry(
        Operation.ADD, target=THREE, after={THREE: belief()}, touched=(), judged=vetoed[:1]
    )
    assert [e.sentence for e in story(judging_entries=[elsewhere]).events] == [
        "“Three” was kept apart from “Two” (other key)."
    ]
    assert story(judging_entries=[replace(elsewhere, judged=vetoed[1:])]).events == ()
    assert len(story(stored, judging_entries=[stored]).events) == 2, (
        "once, where an operation on the chain did it"
    )
    gone = entry(Operation.NOOP, target=ONE, judged=vetoed)
    assert (
        story(gone)
        .events[1]
        .sentence.startswith("A text that was erased was kept apart from “Two”")
    )


PROPOSAL = StoryReview(
    REVIEW, None, KNOWN, "low_confidence", Relation.UPDATE, (TWO,), memory_id=ONE, reasoning="Maybe"
)


@pytest.mark.parametrize(
    ("proposal", "sentence"),
    [
        (PROPOSAL, "Whether “One” replaces “Two” was left to a person (low confidence): Maybe."),
        (
            replace(PROPOSAL, relation=Relation.RETRACTION, reasoning=""),
            "Whether “One” ends “Two” was left to a person (low confidence).",
        ),
        (
            replace(PROPOSAL, about=(), source="fallback"),
            "Whether “One” changes anything was left to a person (fallback): Maybe.",
        ),
        (
            replace(PROPOSAL, memory_id=None, incoming_text="New"),
            "Whether “New” replaces “Two” was left to a person (low confidence): Maybe.",
        ),
        (
            replace(PROPOSAL, memory_id=None),
            "Whether a fact replaces “Two” was left to a person (low confidence): Maybe.",
        ),
    ],
)
def test_reviews_are_described(proposal: StoryReview, sentence: str) -> None:
    answer = story(proposals=[proposal])
    assert [event.sentence for event in answer.events] == [sentence]
    assert answer.summary.endswith(" A review about it waits for a person.")


def test_a_review_decided_later_still_waits() -> None:
    rejected = replace(
        PROPOSAL, status=ReviewStatus.REJECTED, note="No", decided_at=KNOWN + timedelta(days=1)
    )
    assert [event.kind for event in story(proposals=[rejected]).events] == ["PROPOSED", "DECIDED"]
    later = replace(rejected, decided_at=KNOWN + timedelta(days=10))
    assert [event.kind for event in story(proposals=[later]).events] == ["PROPOSED"]
    assert story(proposals=[later]).summary.endswith("waits for a person.")


SINCE = "known since 2026-05-04 10:30 UTC"


@pytest.mark.parametrize(
    ("now", "summary"),
    [
        (belief(), f"Holds since 2020-01-01, {SINCE}."),
        (belief(valid_from=KNOWN), "Holds since 2026-05-04 10:30 UTC, known since then."),
        (belief(valid_until=KNOWN + timedelta(days=1)), f"Holds since 2020-01-01 until 2026-05-05 10:30 UTC, {SINCE}."),
        (belief(valid_from=datetime(2027, 1, 1, tzinfo=UTC)), f"Will hold from 2027-01-01, {SINCE}."),
        (belief(valid_until=LATER, superseded_by=TWO), f"Held from 2020-01-01 to 2024-01-01, {SINCE}; replaced by “Two”."),
        (
            belief(valid_until=LATER, superseded_by=TWO, merged=True),
            f"Held from 2020-01-01 to 2024-01-01, {SINCE}; became part of “Two”.",
        ),
        (belief(valid_until=LATER, retracted_at=LATER), f"Held from 2020-01-01 to 2024-01-01, {SINCE}; retracted."),
        (belief(valid_until=LATER, said_until=LATER), f"Held from 2020-01-01 to its stated end 2024-01-01, {SINCE}."),
        (belief(void=True, valid_until=TRUE), "Was withdrawn, and counts as never true; it was known since 2026-05-04 10:30 UTC."),
    ],
)  # fmt: skip
def test_the_summary_describes_the_state(now: Belief, summary: str) -> None:
    assert story(now=now).summary == summary


def test_the_summary_names_what_made_it_so() -> None:
    made = entry(Operation.UPDATE, decided_by="signals", findings=FINDINGS, **ENDED)
    assert story(made).summary.endswith(
        "; replaced “Two” on 2026-05-04 10:30 UTC, decided by signals (strong, 1.00)."
    )
    ended = story(made, about=TWO, now=belief(valid_until=LATER, superseded_by=ONE)).summary
    assert ended.endswith(
        "; replaced by “One” on 2026-05-04 10:30 UTC, decided by signals (strong, 1.00)."
    )


def test_events_stand_in_the_order_of_known_time() -> None:
    first = entry(
        Operation.ADD, after={ONE: belief()}, log=1, judged=(JudgedMemory(TWO, vetoes=("x",)),)
    )
    second = entry(Operation.NOOP, at=KNOWN + timedelta(seconds=1), log=2)
    proposals = [replace(PROPOSAL, at=KNOWN)]
    assert [event.kind for event in story(first, second, proposals=proposals).events] == [
        "ADD",
        "KEPT_APART",
        "PROPOSED",
        "NOOP",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nb", "“a b”"),
        ("x" * 101, "“" + "x" * 99 + "…”"),
        ("x" * 100, "“" + "x" * 100 + "”"),
        ("a\u202eb", "“ab”"),
    ],
)
def test_quotations_are_one_short_line(text: str, expected: str) -> None:
    assert quote_text(text) == expected


def test_times_are_dates_at_midnight_in_utc() -> None:
    from datetime import timezone

    assert (
        format_moment(datetime(2026, 1, 5, 2, tzinfo=timezone(timedelta(hours=2)))) == "2026-01-05"
    )
    assert format_moment(datetime(2026, 1, 5, 0, 0, 1, tzinfo=UTC)) == "2026-01-05 00:00 UTC"


# --- opinions ----------------------------------------------------------------------------------

DISPUTED = JudgedMemory(
    TWO,
    opinions=(
        Opinion(Judge.SIGNALS, Relation.UPDATE, 0.999, "single_valued"),
        Opinion(Judge.LOCAL, Relation.NONE, 0.04, "reads no change"),
    ),
    signals=("single_valued",),
    proposed=Relation.UPDATE,
    reason=Reason.OBJECTED,
)
OPINIONS = "The signal single_valued saw an update (.999), the local judge saw none (.04)"


def test_an_objection_is_an_event_on_both_sides() -> None:
    stored = entry(Operation.ADD, after={ONE: belief()}, touched=(), judged=(DISPUTED,))
    [_, event] = story(stored).events
    assert event.kind is EventKind.NOT_DONE
    assert event.sentence == f"“One” was stored beside “Two”. {OPINIONS}: nothing was changed."
    assert (event.relation, event.confidence, event.memory_ids) == (
        Relation.UPDATE,
        0.999,
        (ONE, TWO),
    )
    elsewhere = replace(stored, target=THREE, after={THREE: belief()})
    assert [one.kind for one in story(judging_entries=[elsewhere]).events] == [EventKind.NOT_DONE]


def test_what_a_sweep_saw_and_did_not_do_names_the_memory_that_it_compared() -> None:
    swept = entry(Operation.NOOP, decided_by="sweep", touched=(), judged=(DISPUTED,))
    [event] = story(about=TWO, judging_entries=[swept]).events
    assert event.sentence == f"“One” was compared with “Two”. {OPINIONS}: nothing was changed."


def test_what_was_asked_is_told_with_its_review_alone() -> None:
    asked = replace(DISPUTED, reason=Reason.IN_REVIEW)
    stored = entry(Operation.ADD, after={ONE: belief()}, touched=(), judged=(asked,))
    events = story(stored, proposals=[replace(PROPOSAL, judged=(asked,))]).events
    assert [event.kind for event in events] == [EventKind.ADD, EventKind.PROPOSED]
    assert events[1].sentence.endswith(f": Maybe. {OPINIONS}: asked.")


def test_a_change_that_a_judge_objected_to_says_so() -> None:
    done = replace(DISPUTED, proposed=None, reason=None)
    assert (
        story(entry(Operation.UPDATE, judged=(done,), **ENDED))
        .events[0]
        .sentence.endswith(f" {OPINIONS}: done.")
    )
    agreed = replace(done, opinions=done.opinions[:1])
    sentence = story(entry(Operation.UPDATE, judged=(agreed,), **ENDED)).events[0].sentence
    assert "saw an update" not in sentence
