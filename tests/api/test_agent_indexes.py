"""Searches of an agent with an index of its own, beside the exact answer."""

import itertools
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import psycopg
import pytest

from app.domain.agent import AgentId
from app.services import agent_indexes as services
from app.settings import load_settings
from app.store import agent_indexes as stored
from app.store import index_scope, memories, walks
from support.agent_indexes import build_index, look_after_indexes
from support.cluster import needs_one_server
from support.databases import fresh_database
from support.doctor_check import assert_healthy, faults
from support.service import running
from support.urls import name_of

# No index of an agent is built on a cluster, where each node has a part of the agents.
pytestmark = [needs_one_server, pytest.mark.slow]

AGENT = "large"
WHO = ("Ada", "Ben", "Cleo", "Dana", "Elif", "Farid", "Greta", "Hugo")
DOES = ("likes", "owns", "lost", "repairs", "paints", "sold", "borrowed", "misses")
WHAT = ("kettle", "bicycle", "novel", "guitar", "garden", "tent", "mirror", "boat", "piano", "lamp")
START = datetime(2024, 1, 1, tzinfo=UTC)
QUESTIONS = (
    "Who likes the guitar?",
    "What did Elif sell?",
    "Is anything broken in the garden?",
    "bicycle",
    "Greta Hugo boat",
    "Who plays an instrument?",
)
MODES = ("hybrid", "vector", "text")


def list_facts() -> list[dict[str, Any]]:
    """640 facts, a sixth of which ended."""
    facts = []
    for number, (who, does, what) in enumerate(itertools.product(WHO, DOES, WHAT)):
        start = START + timedelta(days=number)
        fact: dict[str, Any] = {
            "content": f"{who} {does} the {what}",
            "category": what,
            "kind": "preference" if does == "likes" else "fact",
            "session_id": f"s{number % 7}",
            "valid_from": start.isoformat(),
            "classify": False,
        }
        if number % 6 == 0:
            fact["valid_until"] = (start + timedelta(days=200)).isoformat()
        facts.append(fact)
    random.Random(5).shuffle(facts)
    return facts


@pytest.fixture(scope="module")
def large_url(server_url: str, template_url: str) -> Iterator[str]:
    """A database with a large agent, which has an index, and a small one, which knows as much."""
    with fresh_database(server_url, template=name_of(template_url)) as url:
        facts = list_facts()
        with running(load_settings(database_url=url)) as address:
            for agent in (AGENT, "small"):
                with call_as(address, agent) as client:
                    for start in range(0, len(facts), 320):
                        body = {"items": facts[start : start + 320]}
                        client.post("/v1/memories/batch", json=body).raise_for_status()
        build_index(url, AGENT)
        yield url
        assert_healthy(url)


@pytest.fixture
def url(large_url: str, server_url: str) -> Iterator[str]:
    """A copy of that database, to change."""
    with fresh_database(server_url, template=name_of(large_url)) as copy:
        yield copy
        assert_healthy(copy)


@pytest.fixture(autouse=True)
def short_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask the index for few memories, as if the agent were much larger."""
    monkeypatch.setattr(index_scope, "LEAST_REACH", 60)
    monkeypatch.setattr(index_scope, "_REACH_FACTOR", 1)
    monkeypatch.setattr(index_scope, "MOST_REACH", 300)
    monkeypatch.setattr(services, "BELIEVED_FOR", 0.0)


def call_as(address: str, agent: str) -> httpx.Client:
    return httpx.Client(base_url=address, headers={"X-Agent-Id": agent}, timeout=60)


@pytest.fixture(scope="module")
def client(large_url: str, server_url: str) -> Iterator[httpx.Client]:
    """A client that only reads, of a service over a copy: nobody may be in a database that is copied."""
    with (
        fresh_database(server_url, template=name_of(large_url)) as copy,
        running(load_settings(database_url=copy)) as address,
        call_as(address, AGENT) as one,
    ):
        yield one


@pytest.fixture
def changing(url: str) -> Iterator[httpx.Client]:
    with running(load_settings(database_url=url)) as address, call_as(address, AGENT) as one:
        yield one


def search(client: httpx.Client, query: str, **more: Any) -> dict[str, Any]:
    answer = client.post("/v1/search", json={"query": query, **more})
    assert answer.status_code == 200, answer.text
    read: dict[str, Any] = answer.json()
    return read


def list_ids(answer: dict[str, Any]) -> list[str]:
    return [result["memory"]["id"] for result in answer["results"]]


def list_scores(answer: dict[str, Any]) -> list[float]:
    return [round(result["score"], 6) for result in answer["results"]]


FILTERS: dict[str, dict[str, Any]] = {
    "none": {},
    "most": {"kind": "fact"},
    "few": {"kind": "preference"},
    "session": {"session_id": "s3"},
    "category": {"category": "boat"},
    "nothing": {"category": "unheard of"},
}
POINTS: dict[str, dict[str, Any]] = {
    "now": {},
    "as of": {"as_of": (START + timedelta(days=500)).isoformat()},
    "early": {"as_of": (START + timedelta(days=15)).isoformat()},
    "every version": {"include_superseded": True},
}


@pytest.mark.parametrize("point", POINTS.values(), ids=POINTS)
@pytest.mark.parametrize("filters", FILTERS.values(), ids=FILTERS)
@pytest.mark.parametrize("mode", MODES)
def test_the_index_finds_what_an_exact_search_finds(
    client: httpx.Client, mode: str, filters: dict[str, Any], point: dict[str, Any]
) -> None:
    """Facts of equal scores may stand in for each other, so scores are compared."""
    found = wanted = 0
    for question in QUESTIONS:
        asked = {"mode": mode, "limit": 10, **filters, **point}
        near = search(client, question, **asked)
        exact = search(client, question, exact=True, **asked)
        assert not exact["approximate"]
        assert len(near["results"]) == len(exact["results"])
        near_scores, exact_scores = list_scores(near), list_scores(exact)
        wanted += len(exact_scores)
        found += sum(
            score >= least - 1e-6 for score, least in zip(near_scores, exact_scores, strict=True)
        )
    assert found >= 0.99 * wanted


def test_an_answer_says_whether_the_index_found_it(client: httpx.Client) -> None:
    assert search(client, "guitar")["approximate"]
    assert not search(client, "guitar", exact=True)["approximate"]
    # Too few of the facts that the index finds have this category, so all are looked at.
    assert not search(client, "guitar", category="boat")["approximate"]


def test_an_agent_without_an_index_is_searched_exactly(large_url: str) -> None:
    with (
        running(load_settings(database_url=large_url)) as address,
        call_as(address, "small") as client,
    ):
        assert not search(client, "guitar")["approximate"]


def test_known_at_is_searched_by_the_index_as_well(
    changing: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walks, "FEW", 5)
    before = search(changing, "guitar", limit=5)
    first = before["results"][0]["memory"]
    changing.post(f"/v1/memories/{first['id']}/retract", json={}).raise_for_status()
    assert first["id"] not in list_ids(search(changing, "guitar", limit=5))
    back = search(changing, "guitar", limit=5, known_at=before["known_at"])
    assert back["approximate"]
    assert list_ids(back) == list_ids(before)


def test_a_time_of_few_memories_is_read_exactly(changing: httpx.Client) -> None:
    known_at = search(changing, "guitar")["known_at"]
    fact = {"content": "Played the guitar as a child", "valid_from": "1999-01-01"}
    changing.post("/v1/memories", json=fact | {"classify": "off"}).raise_for_status()
    for point in ({"as_of": "2000-01-01"}, {"known_at": known_at}):
        answer = search(changing, "guitar", **point)
        assert not answer["approximate"]
        assert (answer["results"][0]["memory"]["content"] == fact["content"]) == ("as_of" in point)
    assert search(changing, "guitar")["approximate"]


def test_what_is_stored_after_the_index_was_built_is_found(
    url: str, changing: httpx.Client
) -> None:
    content = "Ines tunes the harpsichord"
    stored_fact = changing.post("/v1/memories", json={"content": content}).json()
    for mode in MODES:
        answer = search(changing, content, mode=mode)
        assert answer["approximate"]
        assert list_ids(answer)[0] == stored_fact["memory"]["id"]
    look_after_indexes(url, from_live=1)
    with psycopg.connect(url) as connection:
        [[count]] = connection.execute(
            "SELECT count(*) FROM indexed_memories WHERE agent_id = %s", [AGENT]
        ).fetchall()
        [[covered]] = connection.execute(
            "SELECT covers_id FROM agent_indexes WHERE agent_id = %s", [AGENT]
        ).fetchall()
    assert count == 641
    assert str(covered) == stored_fact["memory"]["id"]
    assert list_ids(search(changing, content))[0] == stored_fact["memory"]["id"]


def test_a_store_is_compared_with_what_the_index_finds(changing: httpx.Client) -> None:
    compared = []
    for agent in (AGENT, "small"):
        body = {"content": "Ada repairs the bike"}
        answer = changing.post("/v1/memories", json=body, headers={"X-Agent-Id": agent}).json()
        compared.append([hit["content"] for hit in answer["candidates"]])
    assert "Ada repairs the bicycle" in compared[0]
    assert compared[0] == compared[1]


def test_an_erased_memory_leaves_the_index(url: str, changing: httpx.Client) -> None:
    [first, *_] = list_ids(search(changing, "Ada likes the kettle", limit=1))
    changing.post("/v1/erasures", json={"chain_id": first}).raise_for_status()
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT FROM indexed_memories WHERE id = %s", [first]).fetchall()
    assert not rows
    assert first not in list_ids(search(changing, "Ada likes the kettle"))


def test_the_words_of_an_erased_memory_leave_the_frequent_ones(
    url: str, changing: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "COUNTED_FROM", 20)
    age_counts(url)
    look_after_indexes(url, from_live=100_000)
    build_index(url, AGENT)
    hashed = "SELECT hashtextextended(lexeme, 0) FROM unnest(to_tsvector('simple', 'ada kettle'))"
    query = f"SELECT FROM frequent_words WHERE word IN ({hashed})"
    with psycopg.connect(url, autocommit=True) as connection:
        assert connection.execute(query.encode()).fetchall()
        [first, *_] = list_ids(search(changing, "Ada likes the kettle", limit=1))
        changing.post("/v1/erasures", json={"chain_id": first}).raise_for_status()
        assert connection.execute(query.encode()).fetchall() == []
        assert connection.execute("SELECT FROM frequent_words").fetchall()


def test_frequent_words_find_nothing_where_rarer_ones_do(
    url: str, changing: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "COUNTED_FROM", 20)
    monkeypatch.setattr(index_scope, "CHOSEN_MOST", 70)
    age_counts(url)
    look_after_indexes(url, from_live=100_000)  # drops the index, as the agent is too small for it
    assert not search(changing, "Ada piano", mode="text")["approximate"]
    build_index(url, AGENT)
    for exact in (False, True):
        answer = search(changing, "Ada likes a piano", mode="text", limit=100, exact=exact)
        matching = [r["memory"]["content"] for r in answer["results"] if r["score"] > 0]
        assert matching
        assert all("piano" in content for content in matching)


@pytest.mark.parametrize(("fewest", "needed"), [(5, ["piano", "Ada"]), (20, ["piano"])])
def test_where_all_words_are_frequent_memories_have_several_of_them(
    url: str,
    changing: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
    fewest: int,
    needed: list[str],
) -> None:
    """64 memories have the rarest word, eight of them the second, too: they are counted for that."""
    monkeypatch.setattr(stored, "COUNTED_FROM", 20)
    monkeypatch.setattr(index_scope, "CHOSEN_MOST", 10)
    monkeypatch.setattr(index_scope, "CHOSEN_LEAST", fewest)
    age_counts(url)
    look_after_indexes(url, from_live=100_000)
    build_index(url, AGENT)
    for exact in (False, True):
        answer = search(changing, "Ada likes a piano", mode="text", limit=100, exact=exact)
        matching = [r["memory"]["content"] for r in answer["results"] if r["score"] > 0]
        assert matching
        assert all(word in content for content in matching for word in needed)


def test_an_agent_gets_an_index_when_it_is_large_and_loses_it_when_it_is_not(
    url: str, changing: httpx.Client
) -> None:
    look_after_indexes(url, from_live=600)
    assert list_indexed(url) == {AGENT}
    look_after_indexes(url, from_live=500)
    assert list_indexed(url) == {AGENT, "small"}
    age_counts(url)
    look_after_indexes(url, from_live=2_000)
    assert list_indexed(url) == set()
    assert not search(changing, "guitar")["approximate"]


def test_there_are_no_more_indexes_than_the_settings_allow(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    look_after_indexes(url, from_live=100, most=1)
    assert list_indexed(url) == {AGENT}
    assert "1 large agents have no index" in caplog.text


def list_indexed(url: str) -> set[str]:
    with psycopg.connect(url) as connection:
        return {agent for (agent,) in connection.execute("SELECT agent_id FROM agent_indexes")}


def age_counts(url: str) -> None:
    """Let the last count be long ago."""
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE agent_indexes SET counted_at = counted_at - interval '1 day'")


def read_context(client: httpx.Client, **asked: Any) -> dict[str, Any]:
    answer: dict[str, Any] = client.get("/v1/context", params=asked).raise_for_status().json()
    return answer


def test_a_context_of_a_large_agent_has_what_is_strong(
    changing: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has another reason to be strong than being new comes after what is new."""
    monkeypatch.setattr(memories, "_STRONG_STEP", 5)
    build = memories._build_strong_cte
    monkeypatch.setattr(memories, "_build_strong_cte", lambda _limit: build(5))
    reasons: dict[str, dict[str, Any]] = {
        "Ines must never drive": {"kind": "constraint"},
        "Ines speaks Basque": {"tier": "core"},
        "Ines saved the almanac": {"importance": 1.0},
    }
    for content, reason in reasons.items():
        body = {"content": content, "classify": False, **reason}
        changing.post("/v1/memories", json=body).raise_for_status()
    for number in range(6):
        body = {"content": f"Nothing of note {number}", "classify": False, "importance": 0.1}
        changing.post("/v1/memories", json=body).raise_for_status()
    monkeypatch.setattr(memories, "MOST_COUNTED", 100)
    answer = read_context(changing, budget_tokens=400)
    assert [content for content in reasons if content not in answer["text"]] == []


def test_a_context_with_narrow_filters_reads_all_that_pass(changing: httpx.Client) -> None:
    few = read_context(changing, session_id="s3", budget_tokens=20_000)
    held = changing.get("/v1/memories", params={"session_id": "s3", "limit": 1000}).json()["items"]
    assert held
    assert [m["content"] for m in held if m["content"] not in few["text"]] == []
    assert few["left_out"] == 0


def test_the_doctor_knows_what_an_index_must_have(large_url: str, server_url: str) -> None:
    with fresh_database(server_url, template=name_of(large_url)) as damaged:
        with psycopg.connect(damaged) as connection:
            [[missing], [strange]] = connection.execute(
                "SELECT id::text FROM indexed_memories ORDER BY id LIMIT 2"
            ).fetchall()
            connection.execute("DELETE FROM indexed_memories WHERE id = %s", [missing])
            connection.execute(
                "UPDATE indexed_memories SET id = gen_random_uuid() WHERE id = %s", [strange]
            )
        found = [fault for fault in faults(damaged)[AgentId(AGENT)] if fault.check == "indexes"]
    sentences = sorted(str(fault.sentence) for fault in found)
    assert len(found) == 3
    assert [missing in sentence or strange in sentence for sentence in sentences].count(True) == 2
