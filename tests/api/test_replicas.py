"""Reads from a replica that really streams: what they show, and what happens when it cannot."""

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.caller_transport import POSITION_HEADER
from app.settings import load_settings
from app.store import schema
from app.store.roles import build_service_url
from support.builders import store
from support.replication import Node, replicated_pair
from support.service import running
from support.writers import wait_until

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Place:
    """A service over a primary and its replica."""

    primary: Node
    replica: Node
    client: httpx.Client

    def read_metric(self, name: str, **labels: str) -> float:
        inner = ",".join(f'{key}="{value}"' for key, value in sorted(labels.items()))
        start = f"palimpsest_{name}{{{inner}}} "
        lines = self.client.get("/metrics").text.splitlines()
        return next((float(line[len(start) :]) for line in lines if line.startswith(start)), 0.0)

    @property
    def replica_name(self) -> str:
        return f"127.0.0.1:{self.replica.port}"

    def count_replica_reads(self) -> float:
        return self.read_metric("reads_total", server=self.replica_name)

    def count_fallbacks(self, reason: str) -> float:
        return self.read_metric("replica_fallbacks_total", replica=self.replica_name, reason=reason)

    def show_replica(self) -> dict[str, Any]:
        answer = self.client.get("/readyz")
        assert answer.status_code == 200
        [shown] = answer.json()["replicas"]
        return dict(shown)

    def is_used(self) -> bool:
        return bool(self.show_replica()["used"])

    def await_replay(self, position: str) -> None:
        wait_until(
            lambda: bool(self.replica.ask(f"SELECT pg_last_wal_replay_lsn() >= '{position}'"))
        )

    @contextmanager
    def paused_replay(self) -> Iterator[None]:
        self.replica.ask("SELECT pg_wal_replay_pause()")
        wait_until(lambda: self.replica.ask("SELECT pg_get_wal_replay_pause_state()") == "paused")
        try:
            yield
        finally:
            self.replica.ask("SELECT pg_wal_replay_resume()")


@contextmanager
def open_pair() -> Iterator[tuple[Node, Node]]:
    with tempfile.TemporaryDirectory(prefix="palimpsest-test-") as name:
        Path(name).chmod(0o755)
        with replicated_pair(Path(name), synchronous=False) as (primary, replica):
            schema.migrate_database(primary.url, build_service_url(primary.url))
            yield primary, replica


@contextmanager
def open_place(pair: tuple[Node, Node], **settings: Any) -> Iterator[Place]:
    primary, replica = pair
    chosen = load_settings(
        database_url=primary.url,
        replica_urls=build_service_url(replica.url),
        **{"replica_max_lag": 60, "use_flush_seconds": 3600} | settings,
    )
    with (
        running(chosen) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        client.headers["X-Agent-Id"] = f"test-{uuid4().hex}"
        place = Place(primary, replica, client)
        wait_until(place.is_used)
        yield place


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Node, Node]]:
    with open_pair() as nodes:
        yield nodes


@pytest.fixture(scope="module")
def shared_place(pair: tuple[Node, Node]) -> Iterator[Place]:
    with open_place(pair) as place:
        yield place


@pytest.fixture
def place(shared_place: Place) -> Place:
    """A service whose replica is used, with an agent of the test's own."""
    wait_until(shared_place.is_used)
    shared_place.client.headers["X-Agent-Id"] = f"test-{uuid4().hex}"
    return shared_place


def store_and_replay(place: Place, content: str) -> httpx.Response:
    answer = place.client.post("/v1/memories", json={"content": content})
    assert answer.status_code == 201
    place.await_replay(answer.headers[POSITION_HEADER])
    return answer


def list_contents(client: httpx.Client, **headers: str) -> list[str]:
    answer = client.get("/v1/memories", headers=headers)
    assert answer.status_code == 200
    return [item["content"] for item in answer.json()["items"]]


READS = [
    "/v1/memories",
    "/v1/memories?sort=strength",
    "/v1/memories/{id}",
    "/v1/memories/{id}/history",
    "/v1/memories/{id}/why",
    "/v1/memories/{id}/beliefs",
    "/v1/memories/{id}/relationships",
    "/v1/search?q=tea",
    "/v1/context?query=tea",
    "/v1/agents/{agent}/stats",
    "/v1/preferences/tea/taste",
]


@pytest.mark.parametrize("path", READS)
def test_every_pure_read_goes_to_the_replica(place: Place, path: str) -> None:
    fact = {"content": "Ada likes tea", "kind": "preference", "category": "tea", "key": "taste"}
    answer = place.client.post("/v1/memories", json=fact)
    place.await_replay(answer.headers[POSITION_HEADER])
    before = place.count_replica_reads()
    agent = place.client.headers["X-Agent-Id"]
    read = place.client.get(path.format(id=answer.json()["memory"]["id"], agent=agent))
    assert read.status_code == 200
    assert place.count_replica_reads() > before
    assert POSITION_HEADER not in read.headers


def test_a_search_by_post_is_a_read(place: Place) -> None:
    store_and_replay(place, "Ada likes tea")
    before = place.count_replica_reads()
    answer = place.client.post("/v1/search", json={"query": "tea"})
    assert place.count_replica_reads() == before + 1
    assert POSITION_HEADER not in answer.headers


def test_a_read_without_a_position_may_be_old_and_says_so(place: Place) -> None:
    first = store_and_replay(place, "Ada likes tea")
    with place.paused_replay():
        store(place.client, "Ben owns a bicycle")
        answer = place.client.get("/v1/memories").json()
    assert [item["content"] for item in answer["items"]] == ["Ada likes tea"]
    assert answer["known_at"] == first.json()["known_at"]


def test_a_read_with_the_position_of_a_write_sees_it(place: Place) -> None:
    store_and_replay(place, "Ada likes tea")
    with place.paused_replay():
        fallbacks = place.count_fallbacks("behind")
        written = place.client.post("/v1/memories", json={"content": "Ben owns a bicycle"})
        position = written.headers[POSITION_HEADER]
        assert "Ben owns a bicycle" in list_contents(place.client, **{POSITION_HEADER: position})
        assert place.count_fallbacks("behind") == fallbacks + 1


def test_a_replica_that_has_the_position_is_used(place: Place) -> None:
    written = store_and_replay(place, "Ada likes tea")
    before = place.count_replica_reads()
    position = written.headers[POSITION_HEADER]
    assert list_contents(place.client, **{POSITION_HEADER: position}) == ["Ada likes tea"]
    assert place.count_replica_reads() == before + 1


def test_a_repeated_write_is_answered_with_a_position_too(place: Place) -> None:
    headers = {"Idempotency-Key": uuid4().hex}
    for _ in range(2):
        body = {"content": "Ada likes tea"}
        answer = place.client.post("/v1/memories", json=body, headers=headers)
        assert POSITION_HEADER in answer.headers


def test_a_refused_write_is_answered_without_a_position(place: Place) -> None:
    assert POSITION_HEADER not in place.client.post("/v1/memories", json={}).headers


def test_a_position_that_is_none_is_refused(place: Place) -> None:
    answer = place.client.get("/v1/memories", headers={POSITION_HEADER: "yesterday"})
    assert answer.status_code == 422
    assert POSITION_HEADER in answer.text


def test_an_agent_that_the_replica_does_not_know_is_read_from_the_primary(place: Place) -> None:
    with place.paused_replay():
        store(place.client, "Ada likes tea")
        assert list_contents(place.client) == ["Ada likes tea"]
    assert place.count_fallbacks("unknown agent")


def test_a_known_time_that_the_replica_lacks_is_read_from_the_primary(place: Place) -> None:
    store_and_replay(place, "Ada likes tea")
    with place.paused_replay():
        later = store(place.client, "Ben owns a bicycle")["known_at"]
        answer = place.client.get("/v1/memories", params={"known_at": later}).json()
        assert len(answer["items"]) == 2
        assert answer["known_at"] == later
    assert place.count_fallbacks("not yet known")


def test_an_earlier_known_time_is_read_from_the_replica(place: Place) -> None:
    known_at = store_and_replay(place, "Ada likes tea").json()["known_at"]
    with place.paused_replay():
        store(place.client, "Ben owns a bicycle")
        before = place.count_replica_reads()
        answer = place.client.get("/v1/memories", params={"known_at": known_at}).json()
        assert [item["content"] for item in answer["items"]] == ["Ada likes tea"]
        assert place.count_replica_reads() == before + 1


def test_pages_of_a_list_show_one_moment_whoever_answers(place: Place) -> None:
    store_and_replay(place, "Ada likes tea")
    with place.paused_replay():
        written = [
            place.client.post("/v1/memories", json={"content": content})
            for content in ("Ben owns a bicycle", "Cleo paints in oil")
        ]
        position = written[-1].headers[POSITION_HEADER]
        page = {"limit": 1}
        first = place.client.get(
            "/v1/memories", params=page, headers={POSITION_HEADER: position}
        ).json()
        seen, cursor = [first["items"][0]["content"]], first["next_cursor"]
        while cursor:
            answer = place.client.get("/v1/memories", params={**page, "cursor": cursor}).json()
            assert answer["known_at"] == first["known_at"]
            seen += [item["content"] for item in answer["items"]]
            cursor = answer["next_cursor"]
    assert sorted(seen) == ["Ada likes tea", "Ben owns a bicycle", "Cleo paints in oil"]


def test_a_cursor_of_the_replica_goes_on_at_the_primary(place: Place) -> None:
    store_and_replay(place, "Ada likes tea")
    store_and_replay(place, "Ben owns a bicycle")
    first = place.client.get("/v1/memories", params={"limit": 1}).json()
    store(place.client, "Cleo paints in oil")
    second = place.client.get(
        "/v1/memories",
        params={"limit": 5, "cursor": first["next_cursor"]},
        headers={POSITION_HEADER: "FFFFFFFF/FFFFFFFF"},
    ).json()
    contents = [item["content"] for item in [*first["items"], *second["items"]]]
    assert contents == ["Ben owns a bicycle", "Ada likes tea"]
    assert second["known_at"] == first["known_at"]


def test_a_replica_shows_no_agent_to_another(place: Place) -> None:
    store_and_replay(place, "Ada likes tea")
    place.client.headers["X-Agent-Id"] = f"test-{uuid4().hex}"
    store_and_replay(place, "Ben owns a bicycle")
    before = place.count_replica_reads()
    assert list_contents(place.client) == ["Ben owns a bicycle"]
    assert place.count_replica_reads() == before + 1


def test_uses_that_a_replica_answered_are_counted_on_the_primary(pair: tuple[Node, Node]) -> None:
    with open_place(pair, use_flush_seconds=0.1) as place:
        written = store_and_replay(place, "Ada likes tea").json()["memory"]["id"]
        reads = place.count_replica_reads()
        place.client.get(f"/v1/memories/{written}")
        assert place.count_replica_reads() == reads + 1
        count = f"SELECT use_count FROM memory_usage WHERE memory_id = '{written}'"
        wait_until(lambda: place.primary.ask(count) == 1)


def test_a_replica_that_lags_too_much_is_not_used_until_it_caught_up(
    pair: tuple[Node, Node],
) -> None:
    with open_place(pair, replica_max_lag=1) as place:
        store_and_replay(place, "Ada likes tea")
        with place.paused_replay():
            store(place.client, "Ben owns a bicycle")
            wait_until(lambda: not place.is_used())
            assert place.show_replica()["lag_seconds"] > 1
            assert place.read_metric("replica_lag_seconds", replica=place.replica_name) > 1
            assert place.read_metric("replica_used", replica=place.replica_name) == 0
            assert len(list_contents(place.client)) == 2
        wait_until(place.is_used)


def test_no_read_fails_when_the_replica_dies_and_it_is_used_when_it_comes_back(
    place: Place,
) -> None:
    store_and_replay(place, "Ada likes tea")
    assert list_contents(place.client) == ["Ada likes tea"]
    with ThreadPoolExecutor(4) as readers:
        reads = [readers.submit(list_contents, place.client) for _ in range(200)]
        place.replica.kill()
        for read in reads:
            assert read.result() == ["Ada likes tea"]
    wait_until(lambda: not place.is_used())
    assert "unreachable" in place.show_replica()["trouble"]
    place.replica.start()
    wait_until(place.is_used)
    before = place.count_replica_reads()
    assert list_contents(place.client) == ["Ada likes tea"]
    assert place.count_replica_reads() == before + 1


def test_no_read_fails_when_the_replica_says_nothing_any_more(place: Place) -> None:
    store_and_replay(place, "Ada likes tea")
    with place.replica.silenced():
        assert list_contents(place.client) == ["Ada likes tea"]
        wait_until(lambda: not place.is_used())
    wait_until(place.is_used)


def test_a_service_starts_without_its_replica(pair: tuple[Node, Node]) -> None:
    primary, replica = pair
    dead = build_service_url(replica.url).replace(str(replica.port), "1")
    settings = load_settings(database_url=primary.url, replica_urls=dead)
    with running(settings) as address:
        assert httpx.get(f"{address}/readyz").json()["replicas"][0]["used"] is False
        assert httpx.get(f"{address}/v1/memories").status_code == 200


def test_the_primary_is_refused_as_its_own_replica(pair: tuple[Node, Node]) -> None:
    primary, _ = pair
    url = build_service_url(primary.url)
    settings = load_settings(database_url=primary.url, replica_urls=url)
    with running(settings) as address:
        [shown] = httpx.get(f"{address}/readyz").json()["replicas"]
    assert (shown["used"], shown["trouble"]) == (False, "promoted")


def test_a_replica_of_another_schema_is_refused(place: Place) -> None:
    column = "version_num"
    before = place.primary.ask(f"SELECT {column} FROM alembic_version")
    with place.paused_replay():
        place.primary.ask(f"UPDATE alembic_version SET {column} = 'another' RETURNING 1")
        wait_until(lambda: "its schema is" in str(place.show_replica()["trouble"]))
        place.primary.ask(f"UPDATE alembic_version SET {column} = '{before}' RETURNING 1")
        wait_until(place.is_used)


def test_a_promoted_replica_is_refused(caplog: pytest.LogCaptureFixture) -> None:
    with open_pair() as pair, open_place(pair) as place:
        store_and_replay(place, "Ada likes tea")
        place.replica.run("pg_ctl", "promote", "-w")
        assert list_contents(place.client) == ["Ada likes tea"]
        wait_until(lambda: place.show_replica()["trouble"] == "promoted")
        store(place.client, "Ben owns a bicycle")
        assert len(list_contents(place.client)) == 2
    assert f"replica {place.replica_name} is not used: promoted" in caplog.text
