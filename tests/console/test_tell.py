"""Telling an agent something: what would become of it, and storing it."""

import re
from typing import Any

import httpx
import pytest

from support.builders import store


def tell(client: httpx.Client, content: str, **form: Any) -> httpx.Response:
    params = {"agent": client.headers["X-Agent-Id"]}
    return client.post("/ui/tell", params=params, data={"content": content, **form})


def list_contents(client: httpx.Client) -> set[str]:
    return {memory["content"] for memory in client.get("/v1/memories").json()["items"]}


@pytest.mark.parametrize(
    ("before", "text", "outcome"),
    [
        ("I live in Porto", "I have a cat called Miso", "<h2>New</h2>"),
        ("I have a cat called Miso", "I have a cat called Miso", "<h2>Known already</h2>"),
        ("My vet is Dr Patel", "My vet is now Dr Lindqvist", "<h2>Takes the place of</h2>"),
        ("I play the cello", "I stopped playing the cello", "<h2>Ends</h2>"),
    ],
)
def test_what_becomes_of_a_text_is_shown_and_nothing_stored(
    client: httpx.Client, before: str, text: str, outcome: str
) -> None:
    store(client, before)
    page = tell(client, text).text
    assert outcome in page
    assert "Nothing is stored yet." in page
    assert list_contents(client) == {before}


def test_it_is_stored_once_and_can_be_undone_at_once(client: httpx.Client) -> None:
    store(client, "My vet is Dr Patel")
    for _ in range(2):  # a second click stores nothing more
        answer = tell(client, "My vet is now Dr Lindqvist", store="1", idempotency_key="once")
    assert answer.status_code == 303
    assert list_contents(client) == {"My vet is now Dr Lindqvist"}
    page = client.get(answer.headers["location"]).text
    assert "Stored. What it ended stays in the past." in page
    assert "/ui/undo?" in page


def test_several_facts_are_shown_apart(client: httpx.Client) -> None:
    store(client, "I play the cello")
    page = tell(client, "Bas moved to Delft and I stopped playing the cello").text
    assert page.count('class="card outcome"') == 2
    assert "<h2>New</h2>" in page
    assert "<h2>Ends</h2>" in page


def test_a_question_to_a_person_is_announced(client: httpx.Client) -> None:
    store(client, "I live in Porto", key="city")
    client.patch(f"/v1/agents/{client.headers['X-Agent-Id']}", json={"mode": "frozen"})
    assert "<h2>Waits as a question</h2>" in tell(client, "I have a cat").text


def test_dates_in_the_words_are_shown(client: httpx.Client) -> None:
    page = tell(client, "I moved to Lisbon in March 2024").text
    assert ">1 Mar 2024</time> on, by the words “" in page


def test_a_secret_is_announced_as_taken_out(client: httpx.Client) -> None:
    page = tell(client, "My password is Kaas-2026!").text
    assert "1 secret would be taken out" in page


def test_a_skipped_sentence_is_remembered_with_its_session(client: httpx.Client) -> None:
    said = {"session_id": "monday", "said_at": "2026-02-03T09:00:00Z"}
    page = tell(client, "I had pizza yesterday", **said).text
    assert 'name="session_id" value="monday"' in page
    tell(client, "I had pizza yesterday", store="1", **said)
    [memory] = client.get("/v1/memories", params={"include_superseded": 1}).json()["items"]
    assert memory["session_id"] == "monday"
    assert memory["said_at"].startswith("2026-02-03")


@pytest.mark.parametrize("content", ["", "  ", "x" * 16_001])
def test_what_cannot_be_stored_is_refused(client: httpx.Client, content: str) -> None:
    answer = tell(client, content)
    assert answer.status_code == 422
    assert "Nothing was stored" in answer.text


def test_its_address_leads_to_the_box(client: httpx.Client) -> None:
    answer = client.get("/ui/tell", params={"agent": client.headers["X-Agent-Id"]})
    assert answer.headers["location"].startswith("/ui?agent=")


def test_hostile_texts_are_only_text(client: httpx.Client) -> None:
    page = tell(client, 'My motto is <script>alert(1)</script>"><img src=x> \u202egnp').text
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "\u202e" not in re.sub(r' value="[^"]*"', "", page)
