"""F12: a read with an explicit `known_at` gives the same answer for ever."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from app.settings import load_settings
from support.builders import contents, editor, problem, send
from support.service import running
from support.urls import name_of

# A write waits for this lock at its commit: it has its known time, and nobody sees it.
HELD = 13
HOLD_COMMITS = f"""
    CREATE FUNCTION wait_at_commit() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_advisory_xact_lock({HELD}); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER wait_at_commit AFTER INSERT ON consolidation_log
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_at_commit();
"""
WAITING = (
    f"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = {HELD} AND NOT granted"
)

# Each names a known time by one parameter; a search by POST takes it in its body.
READS = [
    ("GET", "/v1/memories", "known_at", {}),
    ("GET", "/v1/memories/{memory_id}", "known_at", {}),
    ("GET", "/v1/memories/{memory_id}/history", "known_at", {}),
    ("GET", "/v1/memories/{memory_id}/why", "known_at", {}),
    ("GET", "/v1/memories/{memory_id}/relationships", "known_at", {}),
    ("GET", "/v1/search", "known_at", {"q": "editor"}),
    ("POST", "/v1/search", "known_at", {"query": "editor"}),
    ("GET", "/v1/context", "known_at", {}),
    ("GET", "/v1/context", "known_at", {"query": "editor"}),
    ("GET", "/v1/preferences/{category}/{key}", "known_at", {}),
    ("GET", "/v1/log", "until", {}),
    ("GET", "/v1/insights", "until", {"section": "churn"}),
]
# An answer tells these of today: a revision, when a report was made, what is current by now.
OF_TODAY = ("etag", "reverted_by", "current", "as_of", "known_at")


class HeldService:
    """A service, and a pool of callers whose writes wait at their commit."""

    def __init__(self, url: str, address: str, callers: ThreadPoolExecutor) -> None:
        self.url, self.address, self._callers = url, address, callers

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.address, timeout=60)

    def ask(self, method: str, path: str, **sent: Any) -> Future[httpx.Response]:
        def send_request() -> httpx.Response:
            with self.client() as client:
                return client.request(method, path, **sent)

        return self._callers.submit(send_request)

    @contextmanager
    def held_write(self, **sent: Any) -> Iterator[Future[httpx.Response]]:
        """A write that has done everything but its commit, until the block ends."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("SELECT pg_advisory_lock(%s)", [HELD])
            answer = self.ask("POST", "/v1/memories", json=sent)
            while connection.execute(WAITING).fetchone() == (0,):
                time.sleep(0.01)
            try:
                yield answer
            finally:
                connection.execute("SELECT pg_advisory_unlock(%s)", [HELD])
                answer.result(30)


@pytest.fixture
def held_service(database_url: str) -> Iterator[HeldService]:
    with psycopg.connect(database_url) as connection:
        connection.execute(HOLD_COMMITS)
    settings = load_settings(database_url=database_url, use_flush_seconds=3600)
    with running(settings) as address, ThreadPoolExecutor() as callers:
        yield HeldService(database_url, address, callers)


def database_now(url: str) -> datetime:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT clock_timestamp()").fetchone()
    assert row is not None
    now: datetime = row[0]
    return now.astimezone(UTC)


def answer_of(response: httpx.Response) -> Any:
    """The answer without what it tells of today."""
    assert response.status_code == 200, response.text
    return without_today(response.json())


def without_today(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_today(v) for name, v in value.items() if name not in OF_TODAY}
    return [without_today(v) for v in value] if isinstance(value, list) else value


@pytest.mark.parametrize(("method", "path", "name", "asked"), READS)
def test_a_commit_held_back_changes_no_answer(
    held_service: HeldService, method: str, path: str, name: str, asked: dict[str, str]
) -> None:
    with held_service.client() as client:
        memory_id = send(client, editor("Vim"))["memory"]["id"]
        path = path.format(memory_id=memory_id, category="tooling", key="editor")
        with held_service.held_write(**editor("Emacs")) as write:
            at = database_now(held_service.url).isoformat()
            named = {**asked, name: at}
            if name == "known_at" and "relationships" not in path:
                named["as_of"] = at
            sent = {"json": named} if method == "POST" else {"params": named}
            early = held_service.ask(method, path, **sent)
            time.sleep(0.3)
            assert not write.done()
        first = answer_of(early.result(30))
        assert answer_of(client.request(method, path, **sent)) == first
        if name == "known_at":
            send(client, editor("Nano"))
            assert answer_of(client.request(method, path, **sent)) == first


def test_the_first_write_of_an_agent_is_waited_for_too(held_service: HeldService) -> None:
    with held_service.held_write(**editor("Vim")):
        params = {"known_at": database_now(held_service.url).isoformat()}
        early = held_service.ask("GET", "/v1/memories", params=params)
        time.sleep(0.3)
    items = early.result(30).json()["items"]
    assert [item["content"] for item in items] == ["Uses Vim as editor"]
    with held_service.client() as client:
        assert contents(client, **params) == {"Uses Vim as editor"}


def test_a_read_leaves_no_agent_behind(held_service: HeldService) -> None:
    with held_service.client() as client:
        assert contents(client, known_at="2020-01-01") == set()
        assert client.get("/v1/agents").json()["items"] == []


def test_reads_of_now_and_of_the_past_wait_for_nobody(held_service: HeldService) -> None:
    with held_service.client() as client:
        stored = send(client, editor("Vim"))
        with held_service.held_write(**editor("Emacs")) as write:
            for params in ({}, {"known_at": stored["known_at"]}, {"known_at": "2020-01-01"}):
                client.get("/v1/memories", params=params).raise_for_status()
            client.get("/v1/log", params={"until": stored["known_at"]}).raise_for_status()
            assert not write.done()


def test_a_write_that_takes_too_long_is_told(database_url: str) -> None:
    settings = load_settings(database_url=database_url, lock_timeout=0.5, use_flush_seconds=3600)
    with (
        running(settings) as address,
        httpx.Client(base_url=address) as client,
        psycopg.connect(database_url) as connection,
    ):
        send(client, editor("Vim"))
        connection.execute("SELECT FROM agents WHERE agent_id = 'default' FOR UPDATE")
        params = {"known_at": database_now(database_url).isoformat()}
        answer = problem(client.get("/v1/memories", params=params), 503)
        assert answer["type"].endswith("agent-busy")


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/context", "/v1/search?q=editor"])
def test_a_time_that_has_not_come_is_refused(client: httpx.Client, path: str) -> None:
    send(client, editor("Vim"))
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    url, _, query = path.partition("?")
    params = {"known_at": later, **dict(part.split("=") for part in query.split("&") if part)}
    refused = problem(client.get(url, params=params), 422)
    assert refused["type"].endswith("not-yet-known")
    assert "known_at" in refused["detail"]
    params["known_at"] = refused["settled_until"]
    assert client.get(url, params=params).status_code == 200


def test_a_database_that_takes_no_writes_answers_up_to_what_it_knows(database_url: str) -> None:
    """A standby learns of writes late, and no lock there waits for them."""
    settings = load_settings(database_url=database_url, use_flush_seconds=3600)
    name = name_of(database_url)
    with running(settings) as address, httpx.Client(base_url=address, timeout=30) as client:
        known_at = send(client, editor("Vim"))["known_at"]
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")  # type: ignore[arg-type]  # a name of our own
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        now = database_now(database_url).isoformat()
        refused = problem(client.get("/v1/memories", params={"known_at": now}), 422)
        assert refused["settled_until"] == known_at
        assert contents(client, known_at=known_at) == contents(client) == {"Uses Vim as editor"}
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute("SET default_transaction_read_only = off")
            connection.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")  # type: ignore[arg-type]


def test_every_route_that_takes_a_known_time_is_read_above() -> None:
    document = json.loads((Path(__file__).parents[2] / "openapi" / "openapi.json").read_text())
    taking: set[tuple[str, str]] = set()
    for path, routes in document["paths"].items():
        for method, route in routes.items():
            if "known_at" in [parameter["name"] for parameter in route.get("parameters", ())]:
                taking.add((method.upper(), path))
    without_category = ("GET", "/v1/preferences/{key}")  # the same read
    assert taking - {without_category} <= {(method, path) for method, path, _, _ in READS}
