"""Which words of a question name the time that it asks about."""

from datetime import UTC, datetime

import pytest

from app.domain.dates.facts import find_times
from app.domain.dates.window import find_window

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "words", "start", "end"),
    [
        ("What changed in March?", "in March", "2026-03-01", "2026-04-01"),
        ("Where did I live in 2019?", "in 2019", "2019-01-01", "2020-01-01"),
        ("What did we decide last week?", "last week", "2026-11-23", "2026-11-30"),
        ("What happened yesterday", "yesterday", "2026-11-29", "2026-11-30"),
        (
            "Who did I meet between May and July?",
            "between May and July",
            "2026-05-01",
            "2026-07-01",
        ),
        ("What's new since Monday?", "since Monday", "2026-11-23", None),
        (
            "What have I learned in the last three weeks?",
            "in the last three weeks",
            "2026-11-09",
            None,
        ),
        ("Which phone did I have two years ago?", "two years ago", "2024-01-01", "2025-01-01"),
        ("What did I do this year", "this year", "2026-01-01", "2027-01-01"),
        ("What happened on 3 May 2026?", "on 3 May 2026", "2026-05-03", "2026-05-04"),
    ],
)
def test_words_of_a_question_name_a_time(
    question: str, words: str, start: str, end: str | None
) -> None:
    window = find_window(find_times(question), NOW, UTC)
    assert window is not None
    assert window.text == words
    assert str(window.start)[:10] == start
    assert (str(window.end)[:10] if window.end else None) == end


@pytest.mark.parametrize(
    "question",
    [
        "Where do I live?",
        "What did I say about the 2024 budget?",
        "Can I come to dinner on a Friday?",
        "What do I have on Friday?",
        "What will I do next week?",
        "What does the flat cost a month?",
        "Where was I at Christmas?",
        "Who was my boss before June?",
        "What was I doing in January 2025 and in March?",
    ],
)
def test_other_questions_ask_about_no_time_of_their_own(question: str) -> None:
    assert find_window(find_times(question), NOW, UTC) is None
