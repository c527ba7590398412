"""The numbers of a large agent are those that a worker counted last."""

from collections.abc import Iterator
from typing import Any

import httpx
import psycopg
import pytest

from app.settings import load_settings
from support.agent_indexes import build_index, look_after_indexes
from support.cluster import needs_one_server
from support.databases import fresh_database
from support.doctor_check import assert_healthy
from support.service import running
from support.urls import name_of

# No index of an agent is built on a cluster, so no agent has stored stats.
pytestmark = needs_one_server

AGENT = "large"


@pytest.fixture
def url(server_url: str, template_url: str) -> Iterator[str]:
    with fresh_database(server_url, template=name_of(template_url)) as url:
        yield url
        assert_healthy(url)


@pytest.fixture
def client(url: str) -> Iterator[httpx.Client]:
    """A client of an agent that a worker counted when it had two memories."""
    with (
        running(load_settings(database_url=url)) as address,
        httpx.Client(base_url=address, headers={"X-Agent-Id": AGENT}, timeout=60) as client,
    ):
        store(client, "Ada collects stamps")
        store(client, "Ada lives in Porto", key="home", value="Porto", valid_until="2090-01-05")
        build_index(url, AGENT)
        yield client


def store(client: httpx.Client, content: str, **more: Any) -> str:
    answer = client.post("/v1/memories", json={"content": content, "classify": False, **more})
    stored: str = answer.raise_for_status().json()["memory"]["id"]
    return stored


def write_much(client: httpx.Client) -> None:
    """Store, end, correct, link and erase something."""
    moved = store(client, "Ada lives in Faro", key="home", value="Faro", valid_from="2090-01-05")
    client.patch(f"/v1/memories/{moved}", json={"tier": "core"}).raise_for_status()
    link = {"target_id": store(client, "Ada met Ben"), "type": "references"}
    client.post(f"/v1/memories/{moved}/relationships", json=link).raise_for_status()
    client.delete(f"/v1/memories/{store(client, 'Ada sings')}").raise_for_status()
    secret = store(client, "Ada's code is 1234")
    client.delete(f"/v1/memories/{secret}", params={"erase": True}).raise_for_status()


def read_stats(client: httpx.Client) -> dict[str, Any]:
    answer: dict[str, Any] = client.get(f"/v1/agents/{AGENT}/stats").raise_for_status().json()
    return answer


def drop_times(stats: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers without the time and the strengths, which fade meanwhile."""
    holding = {name: n for name, n in stats["holding"].items() if name != "strength"}
    return stats | {"as_of": None, "holding": holding}


def change_index(url: str, change: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(f"UPDATE agent_indexes SET {change}")


def count_anew(url: str) -> None:
    change_index(url, "stats_seconds = 0")
    look_after_indexes(url, from_live=2)


def test_all_numbers_are_those_of_the_last_count(url: str, client: httpx.Client) -> None:
    first = read_stats(client)
    assert first["memories"] == 2
    assert first["holding"]["strength"]["as_of"] == first["as_of"]
    write_much(client)
    assert read_stats(client) == first


def test_the_next_count_gives_what_is_counted_without_a_worker(
    url: str, client: httpx.Client
) -> None:
    first = read_stats(client)
    write_much(client)
    count_anew(url)
    second = read_stats(client)
    assert second["as_of"] > first["as_of"]
    assert second["memories"] == 6
    change_index(url, "stats = NULL")
    exact = read_stats(client)
    assert "as_of" not in exact["holding"]["strength"]
    assert drop_times(second) == drop_times(exact)
    count_anew(url)


def test_the_worker_counts_for_a_hundredth_of_its_time(url: str, client: httpx.Client) -> None:
    first = read_stats(client)
    store(client, "Ada met Ben")
    change_index(url, "stats_seconds = 3600")
    look_after_indexes(url, from_live=2)
    assert read_stats(client) == first
    count_anew(url)
    assert read_stats(client)["memories"] == 3


def test_the_worker_counts_anew_after_a_write_or_a_day(url: str, client: httpx.Client) -> None:
    first = read_stats(client)
    count_anew(url)
    assert read_stats(client) == first
    change_index(
        url,
        "stats = stats || jsonb_build_object("
        "'as_of', CAST(stats ->> 'as_of' AS timestamptz) - interval '25 hours')",
    )
    count_anew(url)
    assert read_stats(client)["as_of"] > first["as_of"]


def test_a_write_under_way_while_the_worker_counts_is_counted_next_time(
    url: str, client: httpx.Client
) -> None:
    """It has a known time before that of the count, which did not see it."""
    store(client, "Ada met Ben")
    change_index(url, "stats = stats || jsonb_build_object('as_of', clock_timestamp())")
    assert read_stats(client)["memories"] == 2
    count_anew(url)
    assert read_stats(client)["memories"] == 3


def test_the_list_of_agents_counts_what_was_stored_since(url: str, client: httpx.Client) -> None:
    def count_memories() -> int:
        agent = client.get(f"/v1/agents/{AGENT}").raise_for_status().json()
        count: int = agent["memories"]
        return count

    store(client, "Ada met Ben")
    assert count_memories() == 3
    change_index(url, "stats = NULL")
    assert count_memories() == 3
