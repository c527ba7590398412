"""LangGraph's store on the client, against the real service."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.main import create_app
from app.settings import load_settings
from palimpsest_client import AsyncClient, Client
from palimpsest_client.documents import NotWritten
from support.questions import CARS, ask, open_agent, open_unsure
from support.sweeps import Place

pytest.importorskip("langgraph.store.base", reason="pip install langgraph-checkpoint")

from langgraph.store.base import GetOp, InvalidNamespaceError, Item, PutOp, SearchOp

from palimpsest_langgraph import AsyncPalimpsestStore, PalimpsestStore, steps
from palimpsest_langgraph.filters import check_filter, passes_filter

ADA = ("users", "Ada")


@pytest.fixture
def memory(service: str) -> Iterator[Client]:
    """A client of the shared service, as an agent nobody else is."""
    with Client(service, agent=f"langgraph-{uuid4().hex}") as client:
        yield client


@pytest.fixture
def store(memory: Client) -> PalimpsestStore:
    return PalimpsestStore(memory, index={"fields": ["text"]})


def list_values(store: PalimpsestStore, key: str) -> list[Any]:
    return [version.value for version in store.history(ADA, key)]


def test_every_put_is_a_version_that_stays_readable(store: PalimpsestStore) -> None:
    store.put(ADA, "home", {"text": "Porto"})
    before = datetime.now(UTC)
    for value in ({"text": "Lisbon"}, {"text": "Lisbon"}, {"text": "Lisbon", "more": 1}):
        store.put(ADA, "home", value)
    first, *_, last = store.history(ADA, "home")
    assert [first.value, first.status] == [{"text": "Porto"}, "superseded"]
    assert [last.value, last.status] == [{"text": "Lisbon", "more": 1}, "current"]
    assert len(list_values(store, "home")) == 4
    item, then = store.get(ADA, "home"), store.at(known_at=before).get(ADA, "home")
    assert item
    assert then
    assert (item.namespace, item.key, item.value["more"]) == (ADA, "home", 1)
    assert then.value == {"text": "Porto"}
    assert item.created_at == then.created_at < then.updated_at < item.updated_at


def test_a_view_of_a_time_reads_and_refuses_writes(store: PalimpsestStore) -> None:
    store.put(ADA, "home", {"text": "Porto"})
    then = store.at(as_of=datetime.now(UTC))
    store.put(ADA, "home", {"text": "Lisbon"})
    [found] = then.search(("users",), query="where")
    assert found.value == {"text": "Porto"}
    assert then.list_namespaces() == [ADA]
    for write in (lambda: then.put(ADA, "x", {}), lambda: then.delete(ADA, "home")):
        with pytest.raises(ValueError, match="as_of"):
            write()
    assert store.get(ADA, "home")


def test_a_delete_retracts(store: PalimpsestStore) -> None:
    store.put(ADA, "home", {"text": "Porto"})
    store.delete(ADA, "home")
    store.delete(ADA, "never stored")
    assert store.get(ADA, "home") is None
    assert store.search(ADA) == []
    assert store.list_namespaces() == []
    [version] = store.history(ADA, "home")
    assert version.value == {"text": "Porto"}
    assert version.status == "retracted"
    store.put(ADA, "home", {"text": "Lisbon"})
    assert list_values(store, "home") == [{"text": "Porto"}, {"text": "Lisbon"}]


def test_keys_and_labels_are_other_ones_where_one_letter_is(store: PalimpsestStore) -> None:
    names = ["Home", "home", "HOME", "ho/me", "ho me", "home ", "ｈome", "дом", "a%b", "a.b"]
    for name in names:
        store.put(("users", name.replace(".", "")), name, {"text": name})
    assert {item.key: item.value["text"] for item in store.search(("users",), limit=99)} == {
        name: name for name in names
    }
    assert store.search(("users", "home"))[0].key == "home"
    assert len(store.list_namespaces(prefix=("users", "home"))) == 1


def test_no_other_fact_ends_an_item(place: Place) -> None:
    """Neither a put under another key, nor a fact in plain words, nor a sweep."""
    with Client(str(place.client.base_url)) as memory:
        store = PalimpsestStore(memory, index={"fields": ["text"]})
        texts = {
            "home": "I live in Porto.",
            "again": "I live in Porto.",
            "news": "I moved from Porto to Lisbon.",
            "denial": "I do not live in Porto any more.",
        }
        for key, text in texts.items():
            store.put(("memories",), key, {"text": text})
        plain = memory.store("I live in Porto.")["memory"]
        assert plain
        memory.store("Of all memories: I moved to Lisbon, I no longer live in Porto.")
        memory.store("I moved to Lisbon.")
        assert memory.get_memory(plain["id"])["status"] == "superseded"
        place.sweep()
        assert {item.key for item in store.search(("memories",))} == set(texts)
        ids = {store.history(("memories",), key)[0].id for key in texts}
        assert [review for review in memory.list_reviews() if review["memory_id"] in ids] == []


def test_a_put_ends_no_fact_of_another_source(store: PalimpsestStore, memory: Client) -> None:
    told = memory.store("I live in Porto.")["memory"]
    assert told
    store.put(("user",), "home", {"text": "I moved to Lisbon, I do not live in Porto."})
    assert memory.get_memory(told["id"])["status"] == "current"


def test_words_that_name_a_date_end_nothing(store: PalimpsestStore) -> None:
    store.put(ADA, "stay", {"text": "Staying at the Ibis until 3 March 2099"})
    assert [version.valid_until for version in store.history(ADA, "stay")] == [None]


def test_what_is_over_is_gone_and_brings_nothing_back(store: PalimpsestStore) -> None:
    store.put(ADA, "home", {"text": "Porto"})
    store.put(ADA, "home", {"text": "Ibis"}, ttl=60)
    in_time, late = (datetime.now(UTC) + timedelta(minutes=n) for n in (50, 70))
    there = store.at(as_of=in_time).get(ADA, "home")
    assert there
    assert there.value == {"text": "Ibis"}
    assert store.at(as_of=late).get(ADA, "home") is None
    assert store.at(as_of=late).search(("users",)) == []
    store.put(ADA, "home", {"text": "Lisbon"})
    later = store.at(as_of=late).get(ADA, "home")
    assert later
    assert later.value == {"text": "Lisbon"}


@pytest.mark.parametrize(
    ("config", "asked", "moved"), [({}, None, True), ({"refresh_on_read": False}, None, False)]
)
def test_a_read_begins_a_life_anew_if_it_may(
    memory: Client, config: Any, asked: bool | None, moved: bool
) -> None:
    store = PalimpsestStore(memory, ttl={"default_ttl": 60, **config})
    store.put(ADA, "home", {"text": "Porto"})
    [stored] = memory.list_memories()
    sooner = datetime.fromisoformat(stored["valid_from"]) + timedelta(minutes=10)
    memory.amend(stored["id"], valid_until=sooner)
    store.at(known_at=datetime.now(UTC)).get(ADA, "home")
    store.get(ADA, "home", refresh_ttl=False)
    assert memory.get_memory(stored["id"])["valid_until"] == sooner.isoformat().replace(
        "+00:00", "Z"
    )
    store.get(ADA, "home", refresh_ttl=asked)
    late = store.at(as_of=sooner + timedelta(minutes=40)).get(ADA, "home")
    assert (late is not None) is moved


def test_a_batch_reads_what_was_before_it_and_the_last_put_counts(
    store: PalimpsestStore,
) -> None:
    store.put(ADA, "home", {"text": "Porto"})
    got, _, _, found = store.batch(
        [
            GetOp(ADA, "home"),
            PutOp(ADA, "home", {"text": "Braga"}),
            PutOp(ADA, "home", {"text": "Lisbon"}),
            SearchOp(ADA),
        ]
    )
    assert got.value == found[0].value == {"text": "Porto"}  # type: ignore[union-attr, index]
    assert list_values(store, "home") == [{"text": "Porto"}, {"text": "Lisbon"}]


def test_a_search_ranks_by_meaning_and_filters_by_value(store: PalimpsestStore) -> None:
    store.put(ADA, "tea", {"text": "drinks green tea", "stars": 4})
    store.put(ADA, "car", {"text": "drives an old car", "stars": 2})
    store.put(ADA, "hidden", {"text": "drinks black tea", "stars": 5}, index=False)
    hits = store.search(("users",), query="hot beverages")
    assert [hit.key for hit in hits] == ["tea", "car"]
    assert hits[0].score is not None
    assert hits[1].score is not None
    assert hits[0].score > hits[1].score
    [hit] = store.search(("users",), query="beverages", filter={"stars": {"$lt": 3}}, limit=1)
    assert hit.key == "car"
    assert [i.key for i in store.search(ADA, filter={"stars": {"$gt": 3}})] == ["hidden", "tea"]
    assert [i.key for i in store.search(ADA, limit=1, offset=1)] == ["car"]
    assert store.search(("other",), query="tea") == []


def test_a_search_that_cannot_rank_far_enough_says_so(
    store: PalimpsestStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "MAX_HITS", 2)
    for number in range(3):
        store.put(ADA, str(number), {"text": f"note {number}", "number": number})
    with pytest.raises(steps.TooManyToFilter, match="Name a longer namespace"):
        store.search((), query="note", filter={"number": {"$gt": 7}})


def test_a_search_for_a_value_reads_only_what_has_it(
    store: PalimpsestStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        store.put(ADA, str(number), {"text": f"note {number}", "number": number})
    monkeypatch.setattr(steps, "MAX_HITS", 2)
    [hit] = store.search((), query="note", filter={"number": 0}, limit=1)
    assert hit.key == "0"
    assert store.search((), query="note", filter={"number": 7}) == []


VALUE = {"a": 1, "b": "x", "c": {"d": 1, "more": 0}, "e.f": 2, "list": ["x", "y"]}
CONDITIONS = pytest.mark.parametrize(
    ("condition", "passes"),
    [
        ({"a": 1}, True),
        ({"a": 1.0}, True),
        ({"a": True}, False),
        ({"a": {"$eq": 1}}, True),
        ({"a": {"$ne": 1}}, False),
        ({"missing": {"$ne": 1}}, True),
        ({"a": {"$gt": 0, "$lt": 2}}, True),
        ({"a": {"$gte": 1}, "b": "x"}, True),
        ({"a": {"$lte": 0.5}}, False),
        ({"a": {"$gt": "0"}}, False),
        ({"b": {"$gt": "w"}}, True),
        ({"missing": {"$gt": 0}}, False),
        ({"c": {"d": 1}}, True),
        ({"c": {"d": {"$gt": 1}}}, False),
        ({"c.d": 1}, True),
        ({"e.f": 2}, True),
        ({"list": ["x", "y"]}, True),
        ({"list": ["x"]}, False),
        ({"missing": None}, True),
        ({}, True),
        ({"a": {"$eq": 1, "$gt": 1}}, False),
        ({"a": 2**70}, False),
        ({"b": "\x00"}, False),
        ({"c": {}}, True),
        ({"b": {}}, False),
        (None, True),
    ],
)


@CONDITIONS
def test_conditions_on_values(condition: Any, passes: bool) -> None:
    check_filter(condition)
    assert passes_filter(VALUE, condition) is passes


@CONDITIONS
def test_items_are_found_by_their_values(
    store: PalimpsestStore, condition: Any, passes: bool
) -> None:
    """Also those that `details` cannot hold as they are."""
    store.put(ADA, "packed", VALUE | {"text": "a note", "long": "x" * 17_000})
    store.put(ADA, "plain", VALUE | {"text": "a note"})
    expected = ["plain", "packed"] if passes else []
    assert [item.key for item in store.search(ADA, filter=condition)] == expected
    assert [item.key for item in store.search(ADA, filter=condition, offset=1)] == expected[1:]
    hits = store.search(ADA, query="note", filter=condition)
    assert {hit.key for hit in hits} == set(expected)


@pytest.mark.parametrize(
    "condition",
    [{"a": {"$in": [1]}}, {"$or": [{"a": 1}]}, {"a": {"$gt": [1]}}, {"a": {"$gt": True}}],
)
def test_a_condition_that_cannot_be_met_is_refused_with_words(
    store: PalimpsestStore, condition: Any
) -> None:
    with pytest.raises(ValueError, match=r"not supported|compares with"):
        store.search((), filter=condition)


def test_namespaces_are_listed_by_both_ends_and_depth(store: PalimpsestStore) -> None:
    for namespace in (("a", "b", "c"), ("a", "x", "c"), ("a", "b", "d", "e"), ("ab", "c")):
        store.put(namespace, "k", {"text": "x"})
    assert store.list_namespaces(prefix=("a", "*", "c")) == [("a", "b", "c"), ("a", "x", "c")]
    assert store.list_namespaces(suffix=("c",), prefix=("a", "b")) == [("a", "b", "c")]
    assert store.list_namespaces(max_depth=2) == [("a", "b"), ("a", "x"), ("ab", "c")]
    assert store.list_namespaces(limit=1, offset=1) == [("a", "b", "d", "e")]


def test_a_value_of_any_size_comes_back(store: PalimpsestStore) -> None:
    value = {"text": "x" * 40_000, "rows": list(range(3_000))}
    store.put(ADA, "file", value)
    item = store.get(ADA, "file")
    assert item
    assert item.value == value


def test_a_frozen_agent_writes_nothing_and_says_so(store: PalimpsestStore, memory: Client) -> None:
    store.put(ADA, "home", {"text": "Porto"})
    memory.patch_agent(str(memory._view.agent), mode="frozen")
    with pytest.raises(NotWritten, match="frozen"):
        store.put(ADA, "home", {"text": "Lisbon"})
    assert list_values(store, "home") == [{"text": "Porto"}]


def test_in_shadow_mode_the_newest_version_is_read(store: PalimpsestStore, memory: Client) -> None:
    store.put(ADA, "home", {"text": "Porto"})
    memory.patch_agent(str(memory._view.agent), mode="shadow")
    store.put(ADA, "home", {"text": "Lisbon"})
    item = store.get(ADA, "home")
    assert item
    assert item.value == {"text": "Lisbon"}
    assert len(list(memory.list_reviews())) == 1
    store.delete(ADA, "home")
    assert store.get(ADA, "home") is None


def test_what_the_service_does_itself_cannot_be_set(memory: Client) -> None:
    with pytest.raises(ValueError, match="embed"):
        PalimpsestStore(memory, index={"dims": 3, "embed": lambda texts: []})  # type: ignore[typeddict-item]


def test_a_label_with_a_period_is_refused_in_batches_too(store: PalimpsestStore) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("a.b",), "k", {})])


async def use_in_process(database_url: str) -> None:
    app = create_app(load_settings(database_url=database_url))
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        async with AsyncClient("http://localhost", agent="ada", transport=transport) as client:
            store = AsyncPalimpsestStore(client)
            await store.aput(ADA, "home", {"city": "Porto"})
            before = datetime.now(UTC)
            await store.aput(ADA, "home", {"city": "Lisbon"})
            item = await store.aget(ADA, "home")
            then = await store.at(known_at=before).aget(ADA, "home")
            assert item
            assert then
            assert [item.value["city"], then.value["city"]] == ["Lisbon", "Porto"]
            assert len(await store.ahistory(ADA, "home")) == 2
            in_thread = await asyncio.to_thread(store.get, ADA, "home")
            assert in_thread == item
            assert await asyncio.to_thread(read_before, store, before) == then
            with pytest.raises(asyncio.InvalidStateError, match="asynchronous"):
                store.get(ADA, "home")


def read_before(store: AsyncPalimpsestStore, before: datetime) -> Item | None:
    return store.at(known_at=before).get(ADA, "home")


def test_the_asynchronous_store_works_in_the_process_of_the_service(database_url: str) -> None:
    asyncio.run(use_in_process(database_url))


class NotingTransport(httpx.AsyncHTTPTransport):
    """Notes what is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[tuple[str, str]] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append((request.method, request.url.path))
        return await super().handle_async_request(request)


async def use_side_by_side(service: str) -> None:
    keys, transport = [str(n) for n in range(50)], NotingTransport()
    async with AsyncClient(
        service, agent=f"langgraph-{uuid4().hex}", transport=transport
    ) as client:
        store = AsyncPalimpsestStore(client)
        await asyncio.gather(*(store.aput(ADA, key, {"text": key}) for key in keys))
        found = await asyncio.gather(*(store.asearch(ADA, limit=99) for _ in keys))
        assert {len(items) for items in found} == {50}
    assert transport.sent == [("POST", "/v1/memories/batch"), ("GET", "/v1/memories")]


def test_calls_side_by_side_are_one_batch(service: str) -> None:
    asyncio.run(use_side_by_side(service))


def test_the_store_of_a_client_works_asynchronously_too(store: PalimpsestStore) -> None:
    async def use() -> Any:
        await store.aput(ADA, "home", {"text": "Porto"})
        return await store.aget(ADA, "home")

    assert asyncio.run(use()).value == {"text": "Porto"}


def test_the_lines_of_its_readme_work(service: str) -> None:
    clients = Path(__file__).parents[2] / "clients"
    code = (clients / "langgraph" / "README.md").read_text().split("```python\n")[1].split("```")[0]
    environment = os.environ | {
        "PALIMPSEST_URL": service,
        "PALIMPSEST_AGENT": f"langgraph-{uuid4().hex}",
        "PYTHONPATH": f"{clients / 'python'}{os.pathsep}{clients / 'langgraph'}",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "Ada lives in Lisbon",
        "Ada lives in Porto",
        "superseded Ada lives in Porto",
        "current Ada lives in Lisbon",
    ]


def test_open_questions_of_the_agent_are_handed_on_and_answered(
    server_url: str, template_url: str
) -> None:
    with open_unsure(server_url, template_url) as (_, address), open_agent(address) as asking:
        ids, found = ask(asking, *CARS[:2])
        agent = asking.headers["X-Agent-Id"]
        with Client(address, agent=agent) as client:
            store = PalimpsestStore(client)
            [question] = store.questions("Where is the car?")
            assert question["review_id"] == found["id"]
            [letter] = [name for name, i in question["letters"].items() if i == ids[0]]
            [answered] = store.answer({question["handle"]: [letter]})
            assert [each["id"] for each in answered["result"]["superseded"]] == [ids[0]]
            assert store.questions() == []

        async def ask_again() -> None:
            async with AsyncClient(address, agent=agent) as client:
                store = AsyncPalimpsestStore(client)
                assert await store.aquestions() == []
                [again] = await store.aanswer({question["handle"]: [letter]})
                assert again["result"]["log_id"] == answered["result"]["log_id"]

        asyncio.run(ask_again())
