"""No answer takes more bytes than it may, and nothing is lost behind the bound."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.settings import load_settings
from support.service import running
from support.service_process import palimpsest

BOUND = 20_000
NOTE = "n" * 2_000


@pytest.fixture
def bounded(database_url: str) -> Iterator[httpx.Client]:
    """The client of a service whose answers may take 20,000 bytes."""
    settings = load_settings(database_url=database_url, max_answer_bytes=BOUND)
    headers = {"X-Agent-Id": f"test-{uuid4().hex}"}
    with (
        running(settings) as address,
        httpx.Client(base_url=address, headers=headers, timeout=60) as client,
    ):
        yield client


def store(client: httpx.Client, content: str, **fact: Any) -> Any:
    body = {"content": content, "details": {"note": NOTE}, **fact}
    response = client.post("/v1/memories", json=body)
    assert response.status_code in (200, 201), response.text
    return response.json()


def read_pages(client: httpx.Client, path: str, **query: Any) -> list[Any]:
    """Read all pages of a list, each within the bound and at most one item more."""
    pages: list[Any] = []
    cursor = None
    while not pages or cursor:
        parameters = query | ({"cursor": cursor} if cursor else {})
        response = client.get(path, params=parameters)
        assert response.status_code == 200, response.text
        assert len(response.content) < BOUND + 10_000
        pages.append(response.json())
        cursor = pages[-1]["next_cursor"]
        assert len(pages) < 100
    return pages


@pytest.mark.parametrize("sort", ["created", "strength"])
def test_a_list_goes_on_behind_its_bound(bounded: httpx.Client, sort: str) -> None:
    stored = [store(bounded, f"Note {i} of a long day", classify=False) for i in range(30)]
    pages = read_pages(bounded, "/v1/memories", limit=1000, sort=sort)
    assert len(pages) > 3
    listed = [item["id"] for page in pages for item in page["items"]]
    assert len(listed) == len(set(listed))
    assert set(listed) == {answer["memory"]["id"] for answer in stored}
    assert {page["as_of"] for page in pages} == {pages[0]["as_of"]}


def test_the_log_goes_on_behind_its_bound(bounded: httpx.Client) -> None:
    stored = [store(bounded, f"Note {i} of a long day", classify=False) for i in range(20)]
    pages = read_pages(bounded, "/v1/log", limit=1000)
    assert len(pages) > 3
    listed = [item["id"] for page in pages for item in page["items"]]
    assert listed == [answer["log_id"] for answer in reversed(stored)]


def test_reviews_go_on_behind_their_bound(bounded: httpx.Client) -> None:
    agent = bounded.headers["X-Agent-Id"]
    assert bounded.patch(f"/v1/agents/{agent}", json={"mode": "frozen"}).status_code == 200
    for i in range(20):
        body = {"content": f"Note {i} of a long day", "details": {"note": NOTE}}
        assert bounded.post("/v1/memories", json=body).status_code == 202
    pages = read_pages(bounded, "/v1/reviews", limit=1000)
    assert len(pages) > 1
    listed = [item["id"] for page in pages for item in page["items"]]
    assert len(listed) == len(set(listed)) == 20


def test_a_search_says_that_it_is_truncated(bounded: httpx.Client) -> None:
    for i in range(20):
        store(bounded, f"Note {i} of a long day", classify=False)
    response = bounded.post("/v1/search", json={"query": "note of a day", "limit": 1000})
    assert len(response.content) < BOUND + 10_000
    answer = response.json()
    assert answer["truncated"]
    assert 1 < len(answer["results"]) < 20
    few = bounded.post("/v1/search", json={"query": "note of a day", "limit": 2}).json()
    assert not few["truncated"]
    best = [result["memory"]["id"] for result in answer["results"]]
    assert best[:2] == [result["memory"]["id"] for result in few["results"]]


def test_a_history_goes_on_behind_its_bound(bounded: httpx.Client) -> None:
    slot = {"key": "level", "category": "water"}
    stored = [store(bounded, f"The level is {i}", value=str(i), **slot) for i in range(30)]
    ids = [answer["memory"]["id"] for answer in stored]
    pages = read_pages(bounded, f"/v1/memories/{ids[3]}/history")
    assert len(pages) > 3
    assert [version["id"] for page in pages for version in page["versions"]] == ids
    operations = [operation["id"] for page in pages for operation in page["operations"]]
    assert operations == [answer["log_id"] for answer in stored]
    assert {page["current"] for page in pages} == {ids[-1]}


def test_a_context_stays_within_its_bound(bounded: httpx.Client) -> None:
    for i in range(30):
        store(bounded, f"Note {i} of a long day", classify=False)
    response = bounded.get("/v1/context", params={"budget_tokens": 32_000, "query": "day"})
    assert len(response.content) < 2 * BOUND + 10_000
    answer = response.json()
    shown = sum(len(items) for items in answer["items"].values())
    assert 0 < shown < 30
    assert shown + answer["left_out"] == 30


def test_one_memory_beyond_the_bound_is_answered(bounded: httpx.Client) -> None:
    big = {"note": "\u0001" * 15_000}
    first, second = store(bounded, "The first", details=big), store(bounded, "Another", details=big)
    pages = read_pages_of_any_size(bounded, "/v1/memories")
    ids = [[item["id"] for item in page["items"]] for page in pages]
    assert ids == [[second["memory"]["id"]], [first["memory"]["id"]]]
    found = bounded.post("/v1/search", json={"query": "first"}).json()
    assert [len(found["results"]), found["truncated"]] == [1, True]


def read_pages_of_any_size(client: httpx.Client, path: str) -> list[Any]:
    first = client.get(path).json()
    rest = client.get(path, params={"cursor": first["next_cursor"]}).json()
    assert rest["next_cursor"] is None
    return [first, rest]


@pytest.mark.parametrize("text", ["\u5b57" * 3_000, "a" + "\x01" * 3_000 + "b", '"' * 3_000])
def test_long_values_and_escaped_texts_count_as_they_are_sent(
    bounded: httpx.Client, text: str
) -> None:
    for number in range(12):
        store(bounded, f"Note {number}", key=f"key {number}", value=text, classify=False)
    assert len(read_pages(bounded, "/v1/memories", limit=1000)) > 2


def test_the_command_shows_all_pages_of_a_history(bounded: httpx.Client) -> None:
    for number in range(20):
        first = store(bounded, f"Level {number}", key="level", value=str(number))
    words = ("--url", str(bounded.base_url), "--agent", bounded.headers["X-Agent-Id"], "--json")
    history = json.loads(palimpsest("history", first["memory"]["id"], *words).stdout)
    assert [version["value"] for version in history["versions"]] == [str(i) for i in range(20)]
    assert len(history["operations"]) == 20
    assert history["next_cursor"] is None


def test_a_story_leaves_out_its_first_events(bounded: httpx.Client) -> None:
    ids = []
    for i in range(100):
        answer = store(bounded, f"Uses editor {i}", key="editor", value=f"editor {i}")
        ids.append(answer["memory"]["id"])
    response = bounded.get(f"/v1/memories/{ids[-1]}/why")
    story = response.json()
    assert len(response.content) < BOUND + 10_000
    assert story["truncated"]
    assert story["events"][-1]["memory_ids"][0] == ids[-1]
    earlier = bounded.get(
        f"/v1/memories/{ids[0]}/why", params={"known_at": story["events"][0]["at"]}
    ).json()
    assert earlier["events"][-1]["log_id"] == story["events"][0]["log_id"]
    words = ("--url", str(bounded.base_url), "--agent", bounded.headers["X-Agent-Id"])
    assert "left out" in palimpsest("why", ids[-1], *words).stderr
