"""What of talk may come out of the memory itself, and what a model must not see of it."""

from datetime import UTC, datetime

import pytest

from app.domain.talk import (
    CONTEXT_BEGINS,
    CONTEXT_ENDS,
    Extraction,
    Quote,
    Role,
    Skipped,
    SkipReason,
    Statement,
    Turn,
)
from app.services.message_reader import (
    drop_handed_out,
    find_hidden_parts,
    hide_parts,
    list_repeatable_texts,
)

LINE = "- I live in Lisbon (since 2026-01-05)"


def turn(content: str, role: Role = Role.USER) -> Turn:
    return Turn(role, content, datetime(2026, 1, 5, tzinfo=UTC))


@pytest.mark.parametrize(
    ("line", "stated"),
    [
        (LINE, "I live in Lisbon"),
        ("- I live in Lisbon (told 2026-01-05)", "I live in Lisbon"),
        ("- I live here (since 2026-01-05, until 2026-02-05)", "I live here"),
        (f"{LINE} (check: what it rests on has changed)", "I live in Lisbon"),
    ],
)
def test_a_line_of_a_context_may_come_out_of_the_memory_whoever_sends_it(
    line: str, stated: str
) -> None:
    assert list_repeatable_texts([turn(f"Look:\n  {line}  \nWell?")]) == [(line, stated)]


def test_what_a_user_states_is_repeated_on_purpose() -> None:
    assert list_repeatable_texts([turn("I live in Lisbon. I like it (since 2020).")]) == []


def test_an_assistants_sentences_and_proposals_may_come_out_of_the_memory() -> None:
    said = turn("* So you live in Lisbon? Great.", Role.ASSISTANT)
    texts = {stated for _, stated in list_repeatable_texts([said])}
    assert {"So you live in Lisbon?", "I live in Lisbon", "Great."} <= texts


def test_the_parts_that_came_out_of_the_memory_are_hidden_and_all_else_keeps_its_place() -> None:
    context = f"{CONTEXT_BEGINS}\n{LINE}\n{CONTEXT_ENDS}"
    turns = [turn(f"{context}\nMy sister is Anna."), turn(f"See this:\n{LINE}\nIs it right?")]
    hidden = find_hidden_parts(turns, [LINE, "I live in Lisbon"])
    first, second = (shown.content for shown in hide_parts(turns, hidden))
    assert "Lisbon" not in first + second
    assert len(first) == len(turns[0].content)
    assert first.index("My sister") == turns[0].content.index("My sister")
    assert second.startswith("See this:")
    assert second.endswith("Is it right?")


def test_a_line_that_no_memory_says_is_not_hidden() -> None:
    assert find_hidden_parts([turn(f"See this:\n{LINE}")], []) == []


@pytest.mark.parametrize("role", [Role.USER, Role.ASSISTANT])
def test_a_sentence_that_had_a_secret_is_hidden_and_no_other(role: Role) -> None:
    turns = [turn("I live in Lisbon. My PIN is [redacted: pin].\nI like tea.", role)]
    hidden = find_hidden_parts(turns, [])
    assert [part.reason for part in hidden] == [SkipReason.REDACTED]
    assert hide_parts(turns, hidden)[0].content.split() == "I live in Lisbon. I like tea.".split()


def test_a_statement_that_was_handed_out_is_skipped_with_the_hidden_parts() -> None:
    mine, theirs = Quote(0, 0, 5), Quote(0, 6, 12)
    hidden = Skipped(Quote(0, 20, 30), SkipReason.REPEATED_CONTEXT)
    statements = (Statement("I like tea", (mine,)), Statement("i live in Lisbon!", (theirs,)))
    left = drop_handed_out(Extraction(statements, ()), [hidden], ["I live in Lisbon"])
    assert [statement.text for statement in left.statements] == ["I like tea"]
    assert {part.quote for part in left.skipped} == {hidden.quote, theirs}
    assert {part.reason for part in left.skipped} == {SkipReason.REPEATED_CONTEXT}
