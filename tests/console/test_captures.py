"""Captures in the console."""

import re
from typing import Any

import httpx
import pytest

from app.console.pages.captures import REASONS, find_end, number_facts, split_message
from app.domain.talk import SkipReason

TALK = "I adopted a cat called Miso. Could you find me a vet? I live in Lisbon."


def send(client: httpx.Client, content: str = TALK) -> dict[str, Any]:
    body = {"session_id": "s-1", "messages": [{"role": "user", "content": content}]}
    answer = client.post("/v1/messages", json=body)
    assert answer.status_code == 200, answer.text
    sent: dict[str, Any] = answer.json()
    return sent


def open_page(client: httpx.Client, path: str, **params: Any) -> str:
    answer = client.get(path, params={"agent": client.headers["X-Agent-Id"], **params})
    assert answer.status_code == 200, answer.text
    return answer.text


def test_captures_are_listed_and_filtered(client: httpx.Client) -> None:
    capture = send(client)
    page = open_page(client, "/ui/captures")
    assert f"/ui/captures/{capture['capture_id']}?" in page
    assert "I adopted a cat called Miso" in page
    assert "2 facts, 1 skipped" in page
    assert "No capture matches" in open_page(client, "/ui/captures", session_id="other")


def test_a_message_shows_what_was_quoted_and_what_was_skipped(client: httpx.Client) -> None:
    capture = send(client)
    page = open_page(client, f"/ui/captures/{capture['capture_id']}")
    fact = capture["messages"][0]["facts"][0]
    assert re.search(r'<mark class="quoted"><bdi[^>]*>I adopted a cat called Miso</bdi>', page)
    assert re.search(r'<span class="skipped"><bdi[^>]*>Could you find me a vet\?</bdi>', page)
    assert "a request" in page
    assert f"/ui/facts/{fact['memory_id']}?" in page
    assert f"/ui/log/{fact['log_id']}?" in page


def test_a_skipped_sentence_can_be_remembered_unless_it_is_a_question(client: httpx.Client) -> None:
    capture = send(client, "I had pizza yesterday. What is the weather like?")
    page = open_page(client, f"/ui/captures/{capture['capture_id']}")
    assert page.count("Remember this one") == 1
    assert 'name="content" value="I had pizza yesterday."' in page
    assert 'name="session_id" value="s-1"' in page


def test_hostile_messages_stay_text(client: httpx.Client) -> None:
    capture = send(client, "I live in <script>alert(1)</script> Lisbon \u202eabc.")
    page = open_page(client, f"/ui/captures/{capture['capture_id']}")
    assert "<script>alert" not in page
    assert "\u202e" not in page


def test_every_reason_has_words() -> None:
    assert set(REASONS) == {reason.value for reason in SkipReason}


def build_message(position: int, content: str, **said: Any) -> dict[str, Any]:
    message = {"position": position, "content": content, "capture_id": "c", "repeated": False}
    return {**message, "facts": [], "skipped": [], **said}


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        (0, [("Tea?", "quoted", (1,)), (" Ok", "", ())]),
        (1, [("Yes", "quoted", (1,)), (". ", "", ()), ("Why?", "skipped", ())]),
    ],
)
def test_a_fact_marks_its_words_in_each_message_that_it_quotes(
    position: int, expected: list[tuple[str, str, tuple[int, ...]]]
) -> None:
    quotes = [
        {"capture_id": "c", "position": 1, "start": 0, "end": 3, "text": "Yes"},
        {"capture_id": "c", "position": 0, "start": 0, "end": 4, "text": "Tea?"},
    ]
    messages = [
        build_message(0, "Tea? Ok"),
        build_message(
            1,
            "Yes. Why?",
            facts=[{"quotes": quotes}],
            skipped=[{"start": 5, "end": 9, "reason": "question"}],
        ),
    ]
    parts = split_message(messages[position], messages, number_facts(messages))
    assert [(part.text, part.look, part.notes) for part in parts] == expected


def test_a_page_has_at_most_so_many_rows_but_always_a_message() -> None:
    messages = [build_message(n, "x", facts=[{}] * size) for n, size in enumerate((150, 49, 49, 1))]
    assert find_end(messages, 0) == 1
    assert find_end(messages, 1) == 3
    assert find_end(messages, 3) == 4
