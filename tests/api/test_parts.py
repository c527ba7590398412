"""Texts of several facts, stored as their parts: each can change and end by itself."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from app.settings import load_settings
from support.builders import contents, decide, list_ended, mode, problem, send, store
from support.databases import fresh_database
from support.messages import capture, list_facts
from support.service import running
from support.sweeps import Place
from support.transfers import brought_back, exported, other
from support.urls import name_of

NURSE = "I'm a nurse at St Mary's and I usually work nights"
NURSE_PARTS = {"I'm a nurse at St Mary's", "I usually work nights"}
PILLS = "I take aspirin and metformin"
PILL_PARTS = {"I take aspirin", "I take metformin"}


def store_parts(client: httpx.Client, content: str, **more: Any) -> dict[str, Any]:
    return store(client, content, split="auto", **more)


def list_memories(client: httpx.Client, **params: Any) -> list[dict[str, Any]]:
    answer = client.get("/v1/memories", params={"limit": 1000, **params})
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def list_said_in(client: httpx.Client) -> set[str | None]:
    return {memory["said_in"] for memory in list_memories(client)}


# --- storing --------------------------------------------------------------------------------------


def test_each_part_is_a_fact_with_its_span_and_one_said_in(client: httpx.Client) -> None:
    answer = store_parts(client, NURSE, session_id="chat", trust=30, tags=["work"])
    first, second = answer["parts"]
    assert (first["text"], second["text"]) == ("I'm a nurse at St Mary's", "I usually work nights")
    assert [NURSE[slice(*part["span"])] for part in (first, second)] == [
        "I'm a nurse at St Mary's",
        "I usually work nights",
    ]
    assert {name: answer[name] for name in first["answer"]} == first["answer"]
    memories = [part["answer"]["memory"] for part in (first, second)]
    assert [memory["content"] for memory in memories] == [first["text"], second["text"]]
    for memory in memories:
        assert (memory["session_id"], memory["trust"], memory["tags"]) == ("chat", 30, ["work"])
    [said_in] = {memory["said_in"] for memory in memories}
    assert said_in is not None
    store(client, "Has a dog")
    shown = list_memories(client, said_in=said_in)
    assert {memory["content"] for memory in shown} == NURSE_PARTS


def test_a_text_stays_whole_if_nobody_asks_for_its_parts(client: httpx.Client) -> None:
    for more in ({}, {"split": "off"}):
        assert store(client, PILLS, **more)["parts"] == []
    assert contents(client) == {PILLS}
    assert list_said_in(client) == {None}


def test_one_fact_has_no_parts(client: httpx.Client) -> None:
    answer = store_parts(client, "I take aspirin")
    assert (answer["operation"], answer["parts"]) == ("ADD", [])
    assert answer["memory"]["said_in"] is None


@pytest.mark.parametrize("more", [{"key": "pills"}, {"value": "aspirin, metformin"}])
def test_a_text_with_a_key_or_a_value_stays_whole(
    client: httpx.Client, more: dict[str, str]
) -> None:
    assert store_parts(client, PILLS, **more)["parts"] == []
    assert contents(client) == {PILLS}


def test_a_text_that_names_what_it_replaces_stays_whole(client: httpx.Client) -> None:
    old = store(client, "I take ibuprofen")["memory"]["id"]
    answer = store_parts(client, PILLS, supersedes=old)
    assert (list_ended(answer), answer["parts"]) == ([old], [])
    assert contents(client) == {PILLS}


def test_dates_are_read_of_each_part(client: httpx.Client) -> None:
    store_parts(client, "I moved to Lisbon in March 2025 and I started at Acme in June 2025")
    starts = {memory["content"]: memory["valid_from"][:7] for memory in list_memories(client)}
    assert starts == {
        "I moved to Lisbon in March 2025": "2025-03",
        "I started at Acme in June 2025": "2025-06",
    }


def test_the_status_says_whether_any_part_was_inserted(client: httpx.Client) -> None:
    store(client, "I take aspirin")
    body = {"content": PILLS, "split": "auto"}
    some_new, all_known = (client.post("/v1/memories", json=body) for _ in range(2))
    assert (some_new.status_code, all_known.status_code) == (201, 200)
    assert [part["answer"]["operation"] for part in some_new.json()["parts"]] == ["NOOP", "ADD"]
    assert contents(client) == PILL_PARTS


def test_a_dry_run_shows_the_parts_and_writes_nothing(client: httpx.Client) -> None:
    answer = store_parts(client, PILLS, dry_run=True)
    assert [part["text"] for part in answer["parts"]] == ["I take aspirin", "I take metformin"]
    assert all(part["answer"]["dry_run"] for part in answer["parts"])
    assert list_memories(client) == []


def test_a_retry_under_a_key_gets_the_same_parts(client: httpx.Client) -> None:
    body, key = {"content": PILLS, "split": "auto"}, {"Idempotency-Key": "one"}
    first, retry = (client.post("/v1/memories", json=body, headers=key) for _ in range(2))
    assert retry.headers["Idempotency-Replayed"] == "true"
    assert retry.json() == first.json()
    assert contents(client) == PILL_PARTS


def test_a_part_that_cannot_be_stored_stops_all_of_them(client: httpx.Client) -> None:
    body = {"content": PILLS, "split": "auto", "said_at": "2999"}
    assert "said_at" in problem(client.post("/v1/memories", json=body), 422)["detail"]
    assert client.get("/v1/log").json()["items"] == []


def test_the_parts_for_a_frozen_agent_wait_one_by_one_and_stay_parts(client: httpx.Client) -> None:
    mode(client, "frozen")
    waiting = client.post("/v1/memories", json={"content": PILLS, "split": "auto"})
    assert waiting.status_code == 202
    reviews = [part["answer"]["review_id"] for part in waiting.json()["parts"]]
    mode(client, None)
    for review in reviews:
        decide(client, review, "accept")
    assert contents(client) == PILL_PARTS
    [said_in] = list_said_in(client)
    assert said_in is not None


# --- batches --------------------------------------------------------------------------------------


def test_items_of_a_batch_are_split_if_they_want_it(client: httpx.Client) -> None:
    items = [
        {"content": PILLS, "split": "auto"},
        {"content": "I like tea and coffee"},
        {"content": NURSE, "split": "auto"},
    ]
    results = client.post("/v1/memories/batch", json={"items": items}).json()["results"]
    assert [len(result["parts"]) for result in results] == [2, 0, 2]
    assert contents(client) == PILL_PARTS | {"I like tea and coffee"} | NURSE_PARTS
    said_in = [memory["said_in"] for memory in list_memories(client)]
    assert len(set(said_in)) == 3
    assert said_in.count(None) == 1


def test_the_refusal_of_an_atomic_batch_names_items_and_not_parts(client: httpx.Client) -> None:
    items = [
        {"content": PILLS, "split": "auto"},
        {"content": NURSE, "split": "auto", "said_at": "2999"},
        {"content": "Has a dog"},
    ]
    body = {"items": items, "atomic": True}
    refused = problem(client.post("/v1/memories/batch", json=body), 422)
    assert list(refused["items"]) == ["1"]
    assert contents(client) == set()
    results = client.post("/v1/memories/batch", json={"items": items}).json()["results"]
    assert [result.get("status", 200) for result in results] == [200, 422, 200]
    assert contents(client) == PILL_PARTS | {"Has a dog"}


# --- changes of a part ----------------------------------------------------------------------------


def test_stopping_one_of_two_ends_one(client: httpx.Client) -> None:
    store_parts(client, PILLS)
    answer = store(client, "I stopped taking aspirin")
    assert answer["operation"] == "DELETE"
    assert contents(client) == {"I take metformin", "I stopped taking aspirin"}


@pytest.fixture(scope="module")
def judging(server_url: str, template_url: str) -> Iterator[str]:
    """The address of a service with the local judge."""
    with (
        fresh_database(server_url, template=name_of(template_url)) as url,
        running(load_settings(database_url=url, local_judge=True)) as address,
    ):
        yield address


@pytest.mark.parametrize(
    ("change", "left"),
    [
        ("I work days now", "I'm a nurse at St Mary's"),
        ("I no longer work nights", "I'm a nurse at St Mary's"),
    ],
)
def test_a_change_of_one_part_ends_that_part_alone(judging: str, change: str, left: str) -> None:
    agent = {"X-Agent-Id": f"nurse-{len(change)}"}
    with httpx.Client(base_url=judging, headers=agent, timeout=60) as client:
        store_parts(client, NURSE)
        store(client, change)
        assert contents(client) & NURSE_PARTS == {left}


def test_a_change_in_doubt_leaves_a_review_of_its_part_alone(judging: str) -> None:
    agent = {"X-Agent-Id": "nurse-in-doubt"}
    with httpx.Client(base_url=judging, headers=agent, timeout=60) as client:
        store_parts(client, "I'm a nurse at St Mary's and I work nights")
        answer = store(client, "I'm on day duty")
        assert answer["operation"] == "ADD"
        assert answer["review_id"] is not None
        decide(client, answer["review_id"], "accept")
        assert contents(client) == {"I'm a nurse at St Mary's", "I'm on day duty"}


def test_parts_of_one_sentence_are_not_judged_against_each_other(judging: str) -> None:
    agent = {"X-Agent-Id": "parts"}
    with httpx.Client(base_url=judging, headers=agent, timeout=60) as client:
        answer = store_parts(client, "I live in Lisbon and I live in Porto")
        assert [part["answer"]["operation"] for part in answer["parts"]] == ["ADD", "ADD"]
        assert contents(client) == {"I live in Lisbon", "I live in Porto"}


def test_a_sweep_does_not_judge_parts_of_one_sentence_against_each_other(place: Place) -> None:
    store_parts(place.client, "I live in Porto and I moved to Lisbon", classify=False)
    swept = place.sweep()
    assert (swept["examined"], swept["findings"]) == (2, [])


# --- elsewhere ------------------------------------------------------------------------------------


def test_the_parts_of_a_message_share_said_in_too(client: httpx.Client) -> None:
    facts = list_facts(capture(client, "I take aspirin and metformin. My dog is called Rex."))
    said_in = {fact["content"]: fact["answer"]["memory"]["said_in"] for fact in facts}
    aspirin, metformin, dog = said_in.values()
    assert aspirin == metformin
    assert (aspirin is not None, dog) == (True, None)
    whole = list_facts(capture(client, "I like tea and coffee.", session="two", split="off"))
    assert [fact["answer"]["memory"]["said_in"] for fact in whole] == [None]


def test_an_export_brings_said_in_along(client: httpx.Client) -> None:
    store_parts(client, PILLS)
    [said_in] = list_said_in(client)
    with other(client) as second:
        brought_back(second, exported(client))
        shown = list_memories(second, said_in=said_in)
        assert {memory["content"] for memory in shown} == PILL_PARTS


def test_a_changed_part_no_longer_belongs_to_the_sentence(client: httpx.Client) -> None:
    parts = store_parts(client, PILLS)["parts"]
    aspirin = parts[0]["answer"]["memory"]
    body = {"content": "I take ibuprofen"}
    answer = client.post(f"/v1/memories/{aspirin['id']}/supersede", json=body).json()
    assert answer["memory"]["said_in"] is None
    assert contents(client, said_in=aspirin["said_in"]) == {"I take metformin"}


def test_a_wrong_choice_of_splitting_is_refused(client: httpx.Client) -> None:
    body = {"content": PILLS, "split": "on"}
    assert "split" in problem(client.post("/v1/memories", json=body), 422)["detail"]
    assert send(client, {"content": "Has a dog"})["parts"] == []
