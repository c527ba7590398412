"""What an agent's own model may decide, and how it is asked."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from app.domain.fact import Kind
from app.domain.relation import Judge, Judgment, Relation
from app.domain.tokens import estimate_tokens
from app.planning.agent_questions import (
    AGENT_SOURCES,
    SHORT_LINE,
    build_context_question,
    find_protection,
    invite_answer,
    read_handle,
)
from app.planning.plan import ReviewSource
from app.planning.question_text import Candidate, Question
from app.planning.questions import MAX_NAMED
from app.planning.reviews import Proposal

QUOTED = re.compile("“([^”]*)”")
REVIEW = UUID("01a219cd-8409-771f-967d-af77034f2a01")


@dataclass(frozen=True)
class Row:
    kind: Kind = Kind.FACT
    trust: int = 50


def propose(source: ReviewSource, stored: UUID | None, *targets: UUID) -> Proposal:
    judgments = tuple(Judgment(target, Relation.UPDATE, 0.5, "", Judge.MODEL) for target in targets)
    return Proposal(
        review_id=REVIEW,
        relation=Relation.UPDATE,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        memory_id=stored,
        judgments=judgments,
        relied_on=(),
        source=source,
    )


@pytest.mark.parametrize("source", ReviewSource)
def test_an_agent_decides_what_judges_were_not_sure_about(source: ReviewSource) -> None:
    stored, old = uuid4(), uuid4()
    protection = find_protection(propose(source, stored, old), {stored: Row(), old: Row()})
    assert (protection is None) == (source in AGENT_SOURCES)


@pytest.mark.parametrize(
    ("new", "old", "other", "words"),
    [
        (Row(), Row(), Row(), None),
        (Row(), Row(Kind.CONSTRAINT), Row(), "a constraint"),
        (Row(), Row(), Row(Kind.CONSTRAINT), "a constraint"),
        (Row(Kind.CONSTRAINT), Row(), Row(), None),
        (Row(trust=10), Row(trust=11), Row(trust=10), "higher trust"),
        (Row(trust=10), Row(trust=9), Row(trust=11), "higher trust"),
        (Row(trust=90), Row(trust=90), Row(trust=20), None),
        (None, Row(trust=50), Row(trust=20), None),
        (None, Row(trust=51), Row(trust=20), "higher trust"),
        (Row(trust=10), None, Row(trust=10), None),
    ],
)
def test_constraints_and_higher_trust_stay_for_a_person(
    new: Row | None, old: Row | None, other: Row, words: str | None
) -> None:
    ids = [uuid4() for _ in range(3)]
    memories = {i: row for i, row in zip(ids, (new, old, other), strict=True) if row}
    stored = ids[0] if new else None
    proposal = propose(ReviewSource.LOW_CONFIDENCE, stored, *ids[1:])
    protection = find_protection(proposal, memories)
    assert (protection is None) if words is None else words in str(protection)


@pytest.mark.parametrize(
    ("text", "handle"),
    [
        ("4f2a01", "4f2a01"),
        ("Q 4F2A01:", "4f2a01"),
        ("#4f2a", "4f2a"),
        (str(REVIEW), REVIEW.hex),
        ("4f2", None),
        ("the car", None),
        ("", None),
        (f"{REVIEW}00", None),
    ],
)
def test_handles_are_read_as_models_write_them(text: str, handle: str | None) -> None:
    assert read_handle(text) == handle


def ask(*texts: str, content: str = "User just moved to Seattle") -> tuple[str, str]:
    ids = [uuid4() for _ in texts]
    candidates = tuple(
        Candidate("abcdefgh"[place], ids[place], text, Relation.UPDATE, 0.5, None)
        for place, text in enumerate(texts)
    )
    pattern = (
        "Does {fact} end {named}?"
        if len(texts) == 1
        else "Which does {fact} end: {named}, or none?"
    )
    proposal = propose(ReviewSource.LOW_CONFIDENCE, uuid4(), *ids)
    built = build_context_question(proposal, Question("", content, candidates, pattern))
    assert list(built.letters.values()) == ids
    assert built.about == {*ids, proposal.memory_id}
    return built.line, invite_answer(built)


def test_a_short_question_is_asked_whole() -> None:
    line, invitation = ask("User lives in Portland")
    assert line == ("Q 4f2a01: Does “User just moved to Seattle” end (a) “User lives in Portland”?")
    assert invitation == f"{line} Answer with memory_answer: a, or none."


@pytest.mark.parametrize("count", range(1, MAX_NAMED + 1))
@pytest.mark.parametrize("text", ["lives in Porto ", "a-b ", "東京に住んでいます", "🚗"])
@pytest.mark.parametrize("times", [1, 4, 40])
def test_every_choice_is_shown_and_long_texts_are_shortened(
    count: int, text: str, times: int
) -> None:
    texts = [f"{number} {text * times}" for number in range(count)]
    line, invitation = ask(*texts, content=text * times)
    for letter, content in zip("abcdefgh", texts, strict=False):
        assert f"({letter}) “{content[:30].rstrip()}" in line
    assert estimate_tokens(line) <= SHORT_LINE or all(len(q) <= 40 for q in QUOTED.findall(line))
    assert invitation.count("\n") == 0


def test_texts_are_shortened_no_more_than_is_needed() -> None:
    text = "The user rents a flat in the street of the station"
    line, _ = ask(f"{text} since May", f"{text} since June")
    assert f"(b) “{text} since June”" in line
