"""Insights into an agent with an index: what a worker counted, and how it is erased."""

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import psycopg
import pytest

from app.domain.insights import Section
from app.settings import load_settings
from app.store.insights.counted import _READERS, MOST_ENTRIES
from support.agent_indexes import build_index, look_after_indexes
from support.cluster import needs_one_server
from support.databases import fresh_database
from support.doctor_check import assert_healthy
from support.service import running
from support.urls import name_of

# No index of an agent is built on a cluster, so no worker counts insights there.
pytestmark = needs_one_server

AGENT = "large"
CITIES = ("Porto", "Lisbon", "Porto", "Faro", "Porto", "Coimbra")
EDITORS = ("Vim", "Emacs", "Helix")


@pytest.fixture
def url(server_url: str, template_url: str) -> Iterator[str]:
    with fresh_database(server_url, template=name_of(template_url)) as url:
        yield url
        assert_healthy(url)


@pytest.fixture
def client(url: str) -> Iterator[httpx.Client]:
    """A client of an agent whose values changed, before a worker counted."""
    with (
        running(load_settings(database_url=url)) as address,
        httpx.Client(base_url=address, headers={"X-Agent-Id": AGENT}, timeout=60) as client,
    ):
        for key, values in {"city": CITIES, "editor": EDITORS}.items():
            for year, value in enumerate(values):
                start = f"20{20 + year}-01-01"
                store(client, f"The {key} is {value}", key=key, value=value, valid_from=start)
        store(client, "Ada collects stamps")
        store(client, "Never work on a Sunday", kind="constraint")
        yield client


def store(client: httpx.Client, content: str, **more: Any) -> str:
    answer = client.post("/v1/memories", json={"content": content, "classify": False, **more})
    stored: str = answer.raise_for_status().json()["memory"]["id"]
    return stored


def read(client: httpx.Client, **params: Any) -> dict[str, Any]:
    answer: dict[str, Any] = client.get("/v1/insights", params=params).raise_for_status().json()
    return answer


def drop_times(answer: dict[str, Any]) -> dict[str, Any]:
    times = ("as_of", "known_at", "counted_at")
    return {name: value for name, value in answer.items() if name not in times}


def count_anew(url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE agent_indexes SET insights_seconds = 0")
    look_after_indexes(url, from_live=2)


def read_stored(url: str) -> str | None:
    with psycopg.connect(url) as connection:
        [[stored]] = connection.execute("SELECT insights::text FROM agent_indexes").fetchall()
    text: str | None = stored
    return text


def test_what_was_counted_is_what_would_be_counted_now(url: str, client: httpx.Client) -> None:
    before = read(client)
    assert before["counted_at"] is None
    build_index(url, AGENT)
    counted = read(client)
    assert counted["counted_at"]
    assert counted["churn"][0]["changes"] == 5
    assert counted["flip_flops"][0]["returns"] == 2
    assert counted["chain_lengths"]["histogram"]
    exact = read(client, exact=True)
    assert exact["counted_at"] is None
    assert drop_times(counted) == drop_times(exact) == drop_times(before)


@pytest.mark.parametrize("section", [name for name in Section if name != "stale_constraints"])
def test_fewer_entries_are_the_first_of_them(
    url: str, client: httpx.Client, section: Section
) -> None:
    build_index(url, AGENT)
    counted, exact = (
        read(client, section=section, limit=1, exact=is_exact) for is_exact in (False, True)
    )
    assert counted["counted_at"]
    assert drop_times(counted) == drop_times(exact)


@pytest.mark.parametrize(
    "narrower",
    [
        {"since": "2020-01-01"},
        {"limit": MOST_ENTRIES + 1},
        {"section": "stale_constraints"},
    ],
    ids=["a window", "many entries", "stale constraints"],
)
def test_other_questions_are_answered_anew(
    url: str, client: httpx.Client, narrower: dict[str, Any]
) -> None:
    build_index(url, AGENT)
    store(client, "The city is Braga", key="city", value="Braga", valid_from="2026-01-01")
    answer = read(client, **narrower)
    assert answer["counted_at"] is None
    if answer["churn"] is not None:
        assert answer["churn"][0]["changes"] == 6


def test_the_worker_counts_anew_once_something_was_written(url: str, client: httpx.Client) -> None:
    build_index(url, AGENT)
    first = read(client)["counted_at"]
    count_anew(url)
    assert read(client)["counted_at"] == first
    store(client, "The city is Braga", key="city", value="Braga", valid_from="2026-01-01")
    assert read(client, section="churn")["churn"][0]["changes"] == 5
    count_anew(url)
    second = read(client, section="churn")
    assert second["churn"][0]["changes"] == 6
    assert second["counted_at"] > first


def test_an_erasure_removes_the_insights_that_name_what_is_erased(
    url: str, client: httpx.Client
) -> None:
    build_index(url, AGENT)
    newest = read(client, section="churn")["churn"][0]["memory_ids"][0]
    assert "The city is Coimbra" in (read_stored(url) or "")
    client.delete(f"/v1/memories/{newest}", params={"erase": True}).raise_for_status()
    assert read_stored(url) is None
    answer = read(client)
    assert answer["counted_at"] is None
    assert "Coimbra" not in str(answer)
    count_anew(url)
    counted = read(client)
    assert counted["counted_at"]
    assert drop_times(counted) == drop_times(answer)


def test_an_erasure_of_the_last_words_of_a_chain_removes_them_from_insights(
    url: str, client: httpx.Client
) -> None:
    """The newest version gave the line its words, and was erased before the insights counted."""
    entry = read(client, section="churn", limit=1)["churn"][0]
    newest, *others = entry["memory_ids"]
    client.delete(f"/v1/memories/{newest}", params={"erase": True}).raise_for_status()
    build_index(url, AGENT)
    assert '"key": "city"' in (read_stored(url) or "")
    for memory in others:
        client.delete(f"/v1/memories/{memory}", params={"erase": True}).raise_for_status()
    assert '"key": "city"' not in (read_stored(url) or "")
    assert "city" not in client.get("/v1/insights").text


def test_an_erasure_of_another_memory_leaves_them(url: str, client: httpx.Client) -> None:
    build_index(url, AGENT)
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE agent_indexes SET insights_ids = '{}'")
    first = client.get("/v1/memories", params={"limit": 1}).json()["items"][0]["id"]
    client.delete(f"/v1/memories/{first}", params={"erase": True}).raise_for_status()
    assert read_stored(url)


def test_what_is_erased_while_the_worker_counts_is_not_stored(
    url: str, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_index(url, AGENT)
    newest = read(client, section="churn")["churn"][0]["memory_ids"][0]
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE agent_indexes SET insights = NULL, insights_as_of = NULL")
    read_churn = _READERS[Section.CHURN]

    async def read_and_erase(*arguments: Any) -> Any:
        rows = await read_churn(*arguments)
        await asyncio.to_thread(client.delete, f"/v1/memories/{newest}", params={"erase": True})
        return rows

    monkeypatch.setitem(_READERS, Section.CHURN, read_and_erase)
    look_after_indexes(url, from_live=2)
    assert read_stored(url) is None
    monkeypatch.setitem(_READERS, Section.CHURN, read_churn)
    look_after_indexes(url, from_live=2)
    assert "The city is" in (read_stored(url) or "")
    assert "Coimbra" not in (read_stored(url) or "")


def test_no_export_has_what_a_worker_counted(url: str, client: httpx.Client) -> None:
    before = client.get("/v1/export").text.splitlines()
    build_index(url, AGENT)
    after = client.get("/v1/export").text.splitlines()
    assert len(before) == len(after)
    assert "insights" not in "".join(after)
