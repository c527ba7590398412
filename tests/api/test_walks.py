"""Lists of an agent with an index: each page looks at few memories, and no memory is lost."""

import asyncio
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import httpx
import psycopg
import pytest

from app.domain.agent import AgentId
from app.domain.strength import HalfLives
from app.services import agent_indexes as services
from app.settings import load_settings
from app.store import counted_strengths, memories, walks
from app.store.columns import Filters
from app.store.engine import Patience, begin_for_agent, create_engine, fetch_rows
from app.store.memories import Point, Ranking
from palimpsest_client import Client, documents
from support.agent_indexes import build_index, look_after_indexes
from support.cluster import needs_one_server
from support.databases import fresh_database
from support.doctor_check import assert_healthy
from support.plans import count_rows_in_plan
from support.service import running
from support.transfers import NDJSON
from support.urls import name_of

# No index of an agent is built on a cluster, and so no list walks there.
pytestmark = needs_one_server

AGENT = "large"
FACTS = 420
START = datetime(2024, 1, 1, tzinfo=UTC)
KINDS = ("fact", "fact", "fact", "preference", "decision")


def format_day(day: float) -> str:
    return (START + timedelta(days=day)).isoformat()


def list_lines() -> list[dict[str, Any]]:
    """Facts of two years. Some were true before they became known, some end, some have a slot."""
    chance = random.Random(11)
    lines = []
    for number in range(FACTS):
        day = number * 1.5
        starts = day - chance.choice((0, 0, 0, 300, -40))
        line: dict[str, Any] = {
            "content": f"Note {number} about the {chance.choice(('boat', 'tent', 'lamp'))}",
            "created_at": format_day(day),
            "valid_from": format_day(starts),
            "kind": "constraint" if number % 60 == 1 else chance.choice(KINDS),
            "tier": "core" if chance.random() < 0.1 else "semantic",
            "importance": round(chance.random(), 2),
            "session_id": f"s{number % 40}" if number % 3 else "often",
            "tags": [*(["odd"] if number % 2 else []), *(["rare"] if number == 7 else [])],
        }
        if number % 5 == 0:
            line |= {"key": f"key {number % 3}", "value": str(number)}
        elif number % 6 == 0:
            line["valid_until"] = format_day(starts + 200)
        lines.append(line)
    return lines


@pytest.fixture(scope="module")
def large_url(server_url: str, template_url: str) -> Iterator[str]:
    """A database with a large agent, some memories of which were said again or used."""
    with (
        fresh_database(server_url, template=name_of(template_url)) as url,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(counted_strengths, "PART_SIZE", 10)
        settings = load_settings(database_url=url, use_flush_seconds=0.05)
        with running(settings) as address, call_as(address) as client:
            body = "".join(json.dumps(line) + "\n" for line in list_lines())
            client.post("/v1/import", content=body, headers=NDJSON).raise_for_status()
            say_again(client)
        build_index(url, AGENT)
        yield url
        assert_healthy(url)


def say_again(client: httpx.Client) -> None:
    listed = client.get("/v1/memories", params={"limit": 1000}).json()["items"]
    for memory in random.Random(3).sample(listed, 25):
        body = {"content": memory["content"], "kind": memory["kind"]}
        client.post("/v1/memories", json=body).raise_for_status()
        client.get(f"/v1/memories/{memory['id']}").raise_for_status()


@pytest.fixture(autouse=True)
def short_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at few memories for each page, as if the agent were much larger."""
    monkeypatch.setattr(walks, "MOST_EXAMINED", 37)
    monkeypatch.setattr(walks, "MOST_LOOKED_UP", 23)
    monkeypatch.setattr(walks, "FEW", 8)
    monkeypatch.setattr(counted_strengths, "PART_SIZE", 10)
    monkeypatch.setattr(services, "BELIEVED_FOR", 0.0)


def call_as(address: str, agent: str = AGENT) -> httpx.Client:
    return httpx.Client(base_url=address, headers={"X-Agent-Id": agent}, timeout=60)


@pytest.fixture(scope="module")
def client(large_url: str, server_url: str) -> Iterator[httpx.Client]:
    """A client that only reads, of a service over a copy: nobody may be in a database that is copied."""
    with (
        fresh_database(server_url, template=name_of(large_url)) as copy,
        running(load_settings(database_url=copy, use_flush_seconds=3600)) as address,
        call_as(address) as one,
    ):
        yield one


@pytest.fixture
def url(large_url: str, server_url: str) -> Iterator[str]:
    """A copy of that database, to change."""
    with fresh_database(server_url, template=name_of(large_url)) as copy:
        yield copy
        assert_healthy(copy)


@pytest.fixture
def changing(url: str) -> Iterator[httpx.Client]:
    settings = load_settings(database_url=url, use_flush_seconds=3600)
    with running(settings) as address, call_as(address) as one:
        yield one


def read_page(client: httpx.Client, **params: Any) -> dict[str, Any]:
    answer = client.get("/v1/memories", params=params)
    assert answer.status_code == 200, answer.text
    page: dict[str, Any] = answer.json()
    return page


def read_pages(client: httpx.Client, *, limit: int = 15, **params: Any) -> list[dict[str, Any]]:
    """Return the pages of a list, up to the one without a cursor."""
    pages = [read_page(client, limit=limit, **params)]
    while cursor := pages[-1]["next_cursor"]:
        pages.append(read_page(client, **params | {"limit": limit, "cursor": cursor}))
    return pages


def join_ids(pages: Sequence[Mapping[str, Any]]) -> list[str]:
    return [memory["id"] for page in pages for memory in page["items"]]


def list_exactly(client: httpx.Client, **params: Any) -> list[str]:
    """Return the ids of a list that looks at every memory."""
    page = read_page(client, limit=1000, exact=True, **params)
    assert page["next_cursor"] is None
    return join_ids([page])


FILTERS: dict[str, dict[str, Any]] = {
    "nothing passes": {"tags_any": "never"},
    "one passes": {"tags_any": "rare"},
    "few pass": {"min_importance": 0.97},
    "half pass": {"tags_any": "odd"},
    "all pass": {},
    "an index answers": {"session_id": "s7"},
    "an index answers with many": {"session_id": "often"},
    "constraints": {"kind": "constraint"},
    "a slot": {"entity": "user", "category": "", "key": "key 1"},
    "what is not stale": {"stale": False},
    "what is stale": {"stale": True},
}
POINTS: dict[str, dict[str, Any]] = {
    "now": {},
    "then": {"as_of": format_day(300)},
    "as believed then": {"known_at": format_day(300)},
    "then, as believed later": {"as_of": format_day(200), "known_at": format_day(400)},
    "later, as believed then": {"as_of": format_day(500), "known_at": format_day(250)},
    "every version": {"include_superseded": True},
    "every version that was known then": {"include_superseded": True, "known_at": format_day(300)},
    "early": {"as_of": format_day(-100)},
}
everywhere = pytest.mark.parametrize("point", POINTS.values(), ids=POINTS)


@pytest.mark.slow
@everywhere
def test_all_pages_have_what_the_exact_list_has_in_its_order(
    client: httpx.Client, point: dict[str, Any]
) -> None:
    for name, filters in FILTERS.items():
        pages = read_pages(client, **filters, **point)
        assert join_ids(pages) == list_exactly(client, **filters, **point), name
        assert len({(page["known_at"], page["as_of"]) for page in pages}) == 1, name


@pytest.mark.slow
@everywhere
def test_all_pages_by_strength_have_each_memory_of_the_exact_list_once(
    client: httpx.Client, point: dict[str, Any]
) -> None:
    for name, filters in FILTERS.items():
        pages = read_pages(client, sort="strength", **filters, **point)
        exact = list_exactly(client, sort="strength", **filters, **point)
        assert sorted(join_ids(pages)) == sorted(exact), name
        [as_of] = {page["strength_as_of"] for page in pages}
        if as_of is None:
            assert join_ids(pages) == exact, name
        else:
            assert_in_order(client, join_ids(pages), as_of)


def assert_in_order(client: httpx.Client, ids: Sequence[str], as_of: str) -> None:
    """Check that the memories stand in the order of their strengths at that time."""
    everything = list_exactly(client, sort="strength", as_of=as_of, include_superseded=True)
    places = [everything.index(memory) for memory in ids]
    assert places == sorted(places)


def test_the_exact_list_is_long_and_mixed(client: httpx.Client) -> None:
    """The comparisons above compare many memories, in an order that is not that of time."""
    strongest = list_exactly(client, sort="strength")
    assert len(strongest) > 200
    assert strongest != list_exactly(client)
    shown = read_page(client, limit=1000, exact=True, include_superseded=True)["items"]
    assert {memory["tier"] for memory in shown} == {"core", "semantic"}
    assert sum(memory["access_count"] > 0 for memory in shown) >= 20
    assert len({memory["status"] for memory in shown}) >= 3


def test_a_page_that_looked_at_enough_has_fewer_items_and_goes_on(client: httpx.Client) -> None:
    first = read_page(client, tags_any="rare", limit=5)
    assert first["items"] == []
    assert first["next_cursor"]
    pages = read_pages(client, tags_any="rare", limit=5)
    assert [len(page["items"]) for page in pages].count(1) == 1
    assert len(pages) > FACTS // 37


def test_a_filter_that_an_index_answers_fills_its_page(client: httpx.Client) -> None:
    page = read_page(client, session_id="s7", include_superseded=True, limit=50)
    assert page["next_cursor"] is None
    assert len(page["items"]) == walks.FEW
    ids = join_ids([page])
    by_ids = read_page(client, ids=ids, limit=50, include_superseded=True)
    assert join_ids([by_ids]) == ids


def test_clients_follow_the_cursor_over_pages_without_items(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walks, "FEW", 0)
    monkeypatch.setattr(walks, "MOST_EXAMINED", 4)
    first = {"entity": "user", "category": "", "key": "key 1"}
    held = list_exactly(client, **first)
    assert read_page(client, limit=1, **first)["items"] == []
    with Client(str(client.base_url), agent=AGENT) as caller:
        assert documents.run(documents.find_memory(**first), caller)["id"] == held[0]
        assert [memory["id"] for memory in caller.list_memories(**first)] == held
        versions = documents.run(documents.list_versions(**first), caller)
    everything = list_exactly(client, include_superseded=True, **first)
    assert [memory["id"] for memory in versions] == everything[::-1]


def test_the_console_says_that_there_may_be_more(client: httpx.Client) -> None:
    page = client.get("/ui", params={"agent": AGENT, "entity": "nobody"}).text
    assert "There may be more among older facts." in page
    assert 'rel="next"' in page
    assert "Nothing matches" not in page


def test_what_was_stored_since_the_count_is_listed_in_its_place(
    changing: httpx.Client,
) -> None:
    important = {"importance": 1.0, "tier": "core", "classify": False}
    stored = []
    for number in range(5):
        body = {"content": f"Ines keeps bees {number}", **important}
        answer = changing.post("/v1/memories", json=body).raise_for_status().json()
        stored.append(answer["memory"]["id"])
    pages = read_pages(changing, sort="strength")
    assert pages[0]["strength_as_of"] < pages[0]["as_of"]
    assert set(join_ids(pages[:1])) >= set(stored)
    brief = read_page(changing, sort="strength", view="brief", limit=5)
    assert brief["strength_as_of"] == pages[0]["strength_as_of"]
    assert sorted(join_ids(pages)) == sorted(list_exactly(changing, sort="strength"))


@pytest.mark.parametrize("counts", [1, 3])
def test_a_list_that_was_begun_goes_on_after_the_worker_counted_anew(
    url: str, changing: httpx.Client, counts: int
) -> None:
    """After two counts, the order in which the list began is computed."""
    first = read_page(changing, sort="strength", limit=20)
    expected = list_exactly(changing, sort="strength", as_of=first["strength_as_of"])
    for number in range(counts):
        body = {"content": f"Ines moved house {number}", "classify": False}
        changing.post("/v1/memories", json=body).raise_for_status()
        with psycopg.connect(url) as connection:
            connection.execute("UPDATE agent_indexes SET strengths_seconds = 0")
        look_after_indexes(url, from_live=100)
    rest = read_pages(changing, sort="strength", limit=20, cursor=first["next_cursor"])
    assert join_ids([first, *rest]) == expected
    assert {page["strength_as_of"] for page in rest} == {first["strength_as_of"]}
    later = read_page(changing, sort="strength", limit=20)
    assert later["strength_as_of"] > first["strength_as_of"]
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT DISTINCT as_of FROM counted_strengths").fetchall()
    assert len(rows) == 2


def test_the_worker_counts_no_more_often_than_counting_allows(
    url: str, changing: httpx.Client
) -> None:
    first = read_page(changing, sort="strength")["strength_as_of"]
    body = {"content": "Ines moved house", "classify": False}
    changing.post("/v1/memories", json=body).raise_for_status()
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE agent_indexes SET strengths_seconds = 3600")
    look_after_indexes(url, from_live=100)
    assert read_page(changing, sort="strength")["strength_as_of"] == first


def test_an_agent_that_became_small_is_listed_exactly(url: str, changing: httpx.Client) -> None:
    first = read_page(changing, sort="strength", limit=20)
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE agent_indexes SET counted_at = counted_at - interval '1 day'")
    look_after_indexes(url, from_live=10_000)
    rest = read_pages(changing, sort="strength", limit=20, cursor=first["next_cursor"])
    expected = list_exactly(changing, sort="strength", as_of=first["strength_as_of"])
    assert join_ids([first, *rest]) == expected
    assert read_page(changing, sort="strength")["strength_as_of"] is None
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM counted_strengths").fetchone() == (0,)


def test_an_agent_without_an_index_is_listed_as_before(large_url: str) -> None:
    with running(load_settings(database_url=large_url)) as address, call_as(address, "s") as small:
        for number in range(60):
            body = {"content": f"Note {number}", "tags": ["odd"] if number == 1 else []}
            small.post("/v1/memories", json=body | {"classify": False}).raise_for_status()
        page = read_page(small, tags_any="odd", limit=5)
        assert (len(page["items"]), page["next_cursor"]) == (1, None)
        assert read_page(small, sort="strength")["strength_as_of"] is None


# --- how much is read ----------------------------------------------------------------------------


def count_rows_read(url: str, by_strength: bool, filters: Filters, point: Point) -> int:
    """Return how many rows of `memories` the statements of a first page read."""
    plans: list[Any] = []

    async def explain_and_fetch(connection: Any, statement: str, values: Any) -> Any:
        explained = f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}"
        # So few rows are read through fastest in any way.
        await fetch_rows(connection, "SET LOCAL enable_seqscan = off", {})
        await fetch_rows(connection, "SET LOCAL enable_bitmapscan = off", {})
        [row] = await fetch_rows(connection, explained, values)
        plans.append(row["QUERY PLAN"][0]["Plan"])
        return await fetch_rows(connection, statement, values)

    async def read() -> None:
        engine = create_engine(url, pool_size=1, patience=Patience())
        agent = AgentId(AGENT)
        settings = load_settings()
        half_lives = HalfLives(settings.half_life_days_semantic, settings.half_life_days_core)
        async with begin_for_agent(engine, agent) as connection:
            if by_strength:
                counted = await counted_strengths.find_counted_strengths(connection, agent, None)
                assert counted is not None
                ranking = Ranking(half_lives, 11, 2**20)
                await walks.walk_strongest(connection, agent, filters, point, ranking, counted)
            else:
                await walks.walk_newest(
                    connection, agent, filters, point, limit=11, max_bytes=2**20, after=None
                )
        await engine.dispose()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memories, "fetch_rows", explain_and_fetch)
        patch.setattr(walks, "fetch_rows", explain_and_fetch)
        asyncio.run(read())
    return sum(count_rows_in_plan(plan, "memories") for plan in plans)


@pytest.mark.parametrize("by_strength", [False, True], ids=["newest", "strongest"])
@pytest.mark.parametrize("tag", [(), ("odd",), ("never",)], ids=["all", "half", "none"])
@pytest.mark.parametrize(
    "point",
    [
        Point(),
        Point(as_of=START + timedelta(days=300)),
        Point(known_at=START + timedelta(days=600)),
        Point(include_superseded=True),
    ],
    ids=["now", "then", "as believed then", "every version"],
)
def test_a_page_reads_a_bounded_number_of_memories(
    large_url: str, point: Point, tag: tuple[str, ...], *, by_strength: bool
) -> None:
    """It reads what it looks at, once more to find the end, and the rows that it answers."""
    read = count_rows_read(large_url, by_strength, Filters(tags_any=tag), point)
    most = walks.MOST_LOOKED_UP if by_strength else walks.MOST_EXAMINED
    assert 0 < read <= 2 * most + 4 * 11
    assert read < FACTS / 3


def test_a_full_page_reads_little_more_than_it_shows(large_url: str) -> None:
    read = count_rows_read(large_url, False, Filters(), Point(include_superseded=True))
    assert read <= 3 * 11


def test_strengths_in_the_table_are_in_order(large_url: str) -> None:
    with psycopg.connect(large_url) as connection:
        rows = connection.execute(
            "SELECT one.strength, one.id FROM counted_strengths,"
            " unnest(ids, strengths) WITH ORDINALITY AS one (id, strength, number)"
            " ORDER BY place, number"
        ).fetchall()
    assert len(rows) == len(set(rows)) >= FACTS
    assert all(one > other for one, other in pairwise(rows))
