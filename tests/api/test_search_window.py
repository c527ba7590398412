"""A question that names a time is about what held then."""

from typing import Any

import httpx
import pytest

LIFE = [
    {"content": "I live in Porto", "valid_from": "2015-02-01", "valid_until": "2020-06-01"},
    {"content": "I live in Lisbon", "valid_from": "2020-06-01"},
    {"content": "I play the cello", "valid_from": "2012-01-01"},
    {"content": "The market is closed", "valid_from": "2019-03-05", "valid_until": "2019-03-20"},
]


def search(client: httpx.Client, query: str, **asked: Any) -> Any:
    answer = client.post("/v1/search", json={"query": query, **asked})
    return answer.raise_for_status().json()


def list_texts(answer: Any) -> list[str]:
    return [result["memory"]["content"] for result in answer["results"]]


@pytest.fixture
def living(client: httpx.Client) -> httpx.Client:
    items = [item | {"classify": "off"} for item in LIFE]
    client.post("/v1/memories/batch", json={"items": items}).raise_for_status()
    return client


@pytest.mark.parametrize("mode", ["hybrid", "vector", "text"])
def test_what_held_then_comes_first(living: httpx.Client, mode: str) -> None:
    answer = search(living, "Where did I live in 2019?", mode=mode)
    assert answer["window"] == {
        "text": "in 2019",
        "start": "2019-01-01T00:00:00.000000Z",
        "end": "2020-01-01T00:00:00.000000Z",
    }
    [porto, *_] = answer["results"]
    assert porto["memory"]["content"] == "I live in Porto"
    assert porto["memory"]["status"] == "expired"
    scores = [result["score"] for result in answer["results"]]
    assert scores == sorted(scores, reverse=True)


def test_what_holds_now_is_still_there(living: httpx.Client) -> None:
    assert "I live in Lisbon" in list_texts(search(living, "Where did I live in 2019?"))


def test_what_began_or_ended_then_comes_before_what_held_all_along(living: httpx.Client) -> None:
    answer = search(living, "What happened in March 2019?")
    texts = list_texts(answer)
    assert texts[0] == "The market is closed"
    assert "I live in Porto" in texts


def test_dates_are_left_unread_if_the_caller_says_so(living: httpx.Client) -> None:
    answer = search(living, "Where did I live in 2019?", read_dates=False)
    assert answer["window"] is None
    assert "I live in Porto" not in list_texts(answer)
    found = living.get(
        "/v1/search", params={"q": "Where did I live in 2019?", "read_dates": False}
    ).json()
    assert found["window"] is None


def test_the_caller_s_own_time_counts_alone(living: httpx.Client) -> None:
    answer = search(living, "Where did I live in 2019?", as_of="2021-01-01")
    assert answer["window"] is None
    assert "I live in Porto" not in list_texts(answer)


def test_a_question_without_a_time_has_no_window(living: httpx.Client) -> None:
    answer = search(living, "Where do I live?")
    assert answer["window"] is None
    assert list_texts(answer)[0] == "I live in Lisbon"
    assert "I live in Porto" not in list_texts(answer)


def test_what_was_taken_back_never_held(client: httpx.Client) -> None:
    stored = (
        client.post("/v1/memories", json=LIFE[0] | {"classify": "off"}).raise_for_status().json()
    )
    client.post(f"/v1/log/{stored['log_id']}/revert").raise_for_status()
    assert list_texts(search(client, "Where did I live in 2019?")) == []


def test_messages_of_that_time_come_first(client: httpx.Client) -> None:
    said = [("the choir sang in the old mill", at) for at in ("2024-03-02", "2025-03-02")]
    messages = [
        {"role": "user", "content": f"{text} {at[:4]}x", "at": f"{at}T10:00:00Z"}
        for text, at in said
    ]
    body = {"messages": messages, "session_id": "s1", "extract": "off"}
    client.post("/v1/messages", json=body).raise_for_status()
    for year in ("2024", "2025"):
        answer = search(client, f"Where did the choir sing in {year}?", include=["turns"])
        assert answer["turns"][0]["said_at"][:4] == year


def test_a_brief_answer_shows_the_window_too(living: httpx.Client) -> None:
    found = living.get("/v1/search", params={"q": "Where did I live in 2019?", "view": "brief"})
    assert found.json()["window"]["text"] == "in 2019"
    found = living.get("/v1/search", params={"q": "Where do I live?", "view": "brief"})
    assert "window" not in found.json()
