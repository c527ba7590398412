"""Insights of a window of a large agent: they count its newest part, and say from when on."""

import asyncio
import json
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import psycopg
import pytest

from app.domain.agent import AgentId
from app.domain.insights import Section
from app.services.insights import InsightsQuestion, read_insights
from app.settings import load_settings
from app.store.engine import Patience, create_engine, fetch_rows
from app.store.insights import constraints, outcomes, scope, values
from support.agent_indexes import build_index
from support.builders import decide, mode, store
from support.changing_values import change_at_random, moves
from support.cluster import needs_one_server
from support.databases import fresh_database
from support.doctor_check import assert_healthy
from support.plans import count_rows_in_plan
from support.service import running
from support.service_process import palimpsest
from support.transfers import NDJSON
from support.urls import name_of

# No agent has an index on a cluster, so windows are not cut there.
pytestmark = needs_one_server

AGENT = "large"
MOST = 12
LONG_AGO = "2001-01-01"
# So many memories are there before the others.
NOTES = 600


def call_as(address: str, agent: str) -> httpx.Client:
    return httpx.Client(base_url=address, headers={"X-Agent-Id": agent}, timeout=60)


def import_notes(client: httpx.Client, count: int, date: Callable[[int], str]) -> None:
    """Import notes. Every second one has a slot."""
    lines = []
    for number in range(count):
        line = {"content": f"Note {number}", "created_at": date(number)}
        lines.append(line | ({"key": f"note {number}"} if number % 2 else {}))
    body = "".join(json.dumps(line) + "\n" for line in lines)
    client.post("/v1/import", content=body, headers=NDJSON).raise_for_status()


@pytest.fixture(scope="module")
def url(server_url: str, template_url: str) -> Iterator[str]:
    """A database with an agent that has an index, and of which every section has much to tell."""
    with fresh_database(server_url, template=name_of(template_url)) as url:
        with running(load_settings(database_url=url)) as address, call_as(address, AGENT) as client:
            import_notes(client, NOTES, lambda number: f"2020-01-01T00:00:00.{number:06}+00:00")
            change_at_random(client, random.Random(5))
            moves(client, "Alice", "Bob", "Carol")
            store(client, "Dora lives in Porto", kind="constraint")
            against = [store(client, f"Dora moved to {city}") for city in ("Faro", "Braga", "Beja")]
            decide(client, against[0]["review_id"], "reject")
            mode(client, "shadow")
            moves(client, *(f"Person{number}" for number in range(MOST)))
            mode(client, "live")
            change_at_random(client, random.Random(6))
        build_index(url, AGENT)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
        yield url
        assert_healthy(url)


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[httpx.Client]:
    with running(load_settings(database_url=url)) as address, call_as(address, AGENT) as client:
        yield client


@pytest.fixture(autouse=True)
def few_examined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count few memories, as if the agent were much larger."""
    monkeypatch.setattr(scope, "MOST_EXAMINED", MOST)


def read(client: httpx.Client, **params: Any) -> dict[str, Any]:
    answer: dict[str, Any] = client.get("/v1/insights", params=params).raise_for_status().json()
    return answer


def drop_times(answer: dict[str, Any]) -> dict[str, Any]:
    times = ("as_of", "known_at", "counted_since")
    return {name: value for name, value in answer.items() if name not in times}


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 12, 40, 150])
@pytest.mark.parametrize("section", Section)
def test_a_window_is_answered_as_its_newest_part_would_be(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch, section: Section, most: int
) -> None:
    monkeypatch.setattr(scope, "MOST_EXAMINED", most)
    log = client.get("/v1/log", params={"limit": 1000}).json()["items"]
    for until in (None, log[100]["created_at"]):
        window = {"section": section, "limit": 1000} | ({"until": until} if until else {})
        cut = read(client, since=LONG_AGO, **window)
        since = cut["counted_since"] or LONG_AGO
        exact = read(client, since=since, exact=True, **window)
        assert exact["counted_since"] is None
        assert drop_times(cut) == drop_times(exact)


@pytest.mark.slow
def test_the_newest_of_the_window_are_counted(client: httpx.Client) -> None:
    listed = {"limit": 1000, "include_superseded": True}
    times = [m["created_at"] for m in client.get("/v1/memories", params=listed).json()["items"]]
    answer = read(client, section="lifetimes", since=LONG_AGO)
    assert times[MOST] < answer["counted_since"] <= times[MOST - 1]
    whole = read(client, section="lifetimes", since=times[MOST - 1])
    assert whole["counted_since"] is None
    assert whole["lifetimes"] == answer["lifetimes"]


def test_every_section_has_something_to_tell(client: httpx.Client) -> None:
    """Otherwise the other tests would compare nothing."""
    answer = read(client, since=LONG_AGO, exact=True)
    assert all(answer[section] for section in Section)
    cut = read(client, since=LONG_AGO)
    assert cut["churn"] != answer["churn"]
    assert cut["counted_since"]


@pytest.mark.parametrize(
    "question", [{"limit": 101}, {"until": "2100-01-01"}, {"since": LONG_AGO}], ids=str
)
def test_what_no_worker_counted_is_cut(client: httpx.Client, question: dict[str, Any]) -> None:
    answer = read(client, **question)
    assert (answer["counted_at"], bool(answer["counted_since"])) == (None, True)
    exact = read(client, **question, exact=True)
    assert (exact["counted_at"], exact["counted_since"]) == (None, None)
    assert exact["churn"] != answer["churn"]


def test_beside_what_a_worker_counted_the_reviews_of_constraints_are_cut(
    client: httpx.Client,
) -> None:
    answer = read(client)
    assert answer["counted_at"]
    assert answer["counted_since"]
    assert answer["churn"] == read(client, exact=True)["churn"]


def test_the_window_of_an_agent_without_an_index_is_counted_whole(url: str) -> None:
    settings = load_settings(database_url=url)
    with running(settings) as address, call_as(address, "small") as client:
        for number in range(MOST + 1):
            store(client, f"Note {number}", classify=False)
        answer = read(client, since=LONG_AGO)
    assert answer["counted_since"] is None
    assert answer["chain_lengths"]["histogram"] == [{"length": 1, "chains": MOST + 1}]


def test_people_are_told_what_is_counted(client: httpx.Client) -> None:
    page = client.get("/ui/insights", params={"agent": AGENT, "period": "365"}).text
    assert "This is what became known since" in page
    words = ("--url", str(client.base_url), "--agent", AGENT, "--since", LONG_AGO)
    cut, exact = (palimpsest("insights", *words, *more).stdout for more in ((), ("--exact",)))
    assert "Only what became known since" in cut
    assert "Only what became known since" not in exact


# --- how much is read ----------------------------------------------------------------------------


def count_rows_read(url: str, section: Section, *, exact: bool = False) -> dict[str, int]:
    """Return how many rows of each table the statements of a section read."""
    plans: list[Any] = []

    async def explain_and_fetch(connection: Any, statement: str, parameters: Any) -> Any:
        # So few rows are read through fastest in any way.
        await fetch_rows(connection, "SET LOCAL enable_seqscan = off", {})
        await fetch_rows(connection, "SET LOCAL enable_bitmapscan = off", {})
        explained = f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}"
        [row] = await fetch_rows(connection, explained, parameters)
        plans.append(row["QUERY PLAN"][0]["Plan"])
        return await fetch_rows(connection, statement, parameters)

    async def ask() -> None:
        engine = create_engine(url, pool_size=1, patience=Patience())
        since = datetime.fromisoformat(LONG_AGO).replace(tzinfo=UTC)
        question = InsightsQuestion((section,), since, limit=2, exact=exact)
        await read_insights(engine, AgentId(AGENT), question)
        await engine.dispose()

    with pytest.MonkeyPatch.context() as patch:
        for module in (constraints, outcomes, scope, values):
            patch.setattr(module, "fetch_rows", explain_and_fetch)
        asyncio.run(ask())
    tables = ("memories", "consolidation_log", "reviews")
    return {table: sum(count_rows_in_plan(plan, table) for plan in plans) for table in tables}


@pytest.mark.parametrize("section", Section)
def test_a_section_reads_a_bounded_number_of_rows(url: str, section: Section) -> None:
    """Beside what became known lately, it reads the lines that it answers."""
    assert 0 < sum(count_rows_read(url, section).values()) < NOTES / 2
