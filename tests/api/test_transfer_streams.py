"""Exports and imports that are long: what others notice of them, and what becomes of one that breaks off."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import psycopg
import pytest

from app.api import export
from app.settings import load_settings
from support.builders import problem, store
from support.cluster import CITUS_URL, needs_one_server
from support.connections import busy_connections
from support.service import running
from support.transfers import NDJSON, brought_back, exported, holds_nothing, joined, lines_of, other


@pytest.fixture
def large(database_url: str) -> Iterator[tuple[httpx.Client, str]]:
    """An agent whose export is more than the buffers between here and there hold; a pool of two, of which exports may use one."""
    with (
        running(load_settings(database_url=database_url, pool_size=2, pool_timeout=2)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        lines = [
            {"content": f"{number}", "details": {"text": "Has a dog. " * 1_000}}
            for number in range(1_000)
        ]
        assert client.post("/v1/import", headers=NDJSON, content=joined(lines)).status_code == 200
        yield client, database_url


# How many memories the planner knows of; on a cluster, those of all nodes.
KNOWN_MEMORIES = (
    """SELECT sum(CAST(result AS float)) FROM run_command_on_shards(
        'memories', 'SELECT reltuples FROM pg_class WHERE oid = CAST(''%s'' AS regclass)'
    )"""
    if CITUS_URL
    else "SELECT reltuples FROM pg_class WHERE relname = 'memories'"
)


def eventually(condition: Callable[[], bool]) -> None:
    for _ in range(400):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("not in time")


@contextmanager
def half_read(client: httpx.Client) -> Iterator[Iterator[bytes]]:
    with client.stream("GET", "/v1/export") as response:
        blocks = response.iter_bytes()
        next(blocks)
        yield blocks


@pytest.mark.slow
def test_the_planner_hears_at_once_of_what_came(large: tuple[httpx.Client, str]) -> None:
    client, url = large
    with (
        psycopg.connect(url, autocommit=True) as connection,
        other(client) as second,
        other(client) as third,
    ):
        connection.execute(
            "ALTER TABLE memories SET (autovacuum_enabled = off)"
        )  # it would tell the planner too, a minute later
        brought_back(second, exported(client))
        assert connection.execute(KNOWN_MEMORIES).fetchone() == (2_000,)
        assert third.post(
            "/v1/import",
            headers=NDJSON,
            content=joined([{"content": f"{number}"} for number in range(1_000)]),
        ).is_success
        assert connection.execute(KNOWN_MEMORIES).fetchone() == (3_000,)


@pytest.mark.slow
@needs_one_server
def test_an_import_tells_the_planner_of_the_columns_of_indexes(
    large: tuple[httpx.Client, str],
) -> None:
    """Those of the others are left to autovacuum: the caller waits meanwhile."""
    _, url = large
    with psycopg.connect(url) as connection:
        known = "SELECT attname FROM pg_stats WHERE tablename = 'memories'"
        columns = {name for (name,) in connection.execute(known)}
        assert {"agent_id", "id", "chain_id", "slot_hash", "created_at"} <= columns
        assert not {"embedding", "details", "tags"} & columns


@pytest.mark.slow
def test_an_import_stands_where_the_planner_cannot_be_told(large: tuple[httpx.Client, str]) -> None:
    client, url = large
    with psycopg.connect(url) as connection, other(client) as second:
        connection.execute(
            "LOCK TABLE memories IN SHARE UPDATE EXCLUSIVE MODE"
        )  # as a VACUUM of somebody else does
        assert brought_back(second, exported(client))["memory"] == 1_000


@pytest.mark.slow
def test_an_export_is_one_moment_whatever_is_stored_meanwhile(
    large: tuple[httpx.Client, str],
) -> None:
    client, _ = large
    before = exported(client)
    with other(client, "default") as reader, half_read(reader) as rest:
        store(client, "Has a cat", classify="off")
        read = b"".join(rest)
    assert b"Has a cat" not in read
    assert before.endswith(read)
    assert exported(client) != before


@pytest.mark.slow
def test_a_reader_that_leaves_gives_the_connection_back(large: tuple[httpx.Client, str]) -> None:
    client, url = large
    for _ in range(3):
        with other(client, "default") as reader, half_read(reader):
            assert busy_connections(url) == 1
        eventually(lambda: busy_connections(url) == 0)
    assert lines_of(exported(client))[-1]["type"] == "end", "the connection is as good as before"


@pytest.mark.slow
def test_a_reader_that_stops_reading_gives_the_connection_back(
    large: tuple[httpx.Client, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, url = large
    monkeypatch.setattr(export, "PATIENCE", 0.3)
    with other(client, "default") as reader, half_read(reader) as rest:
        eventually(lambda: busy_connections(url) == 0)
        with pytest.raises(httpx.RemoteProtocolError):
            list(rest)


@pytest.mark.slow
def test_exports_leave_connections_to_others(large: tuple[httpx.Client, str]) -> None:
    client, _ = large
    with other(client, "default") as reader, half_read(reader):
        refused = problem(client.get("/v1/export"), 429)
        assert "has its share" in refused["detail"]
        assert client.get("/v1/memories").status_code == 200


@pytest.mark.slow
def test_an_export_that_breaks_does_not_look_complete(large: tuple[httpx.Client, str]) -> None:
    client, url = large
    with other(client, "default") as reader, half_read(reader) as rest:
        with psycopg.connect(url) as connection:
            others = "datname = current_database() AND pid <> pg_backend_pid()"
            connection.execute(
                f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}"
            )
        read: list[bytes] = []
        with pytest.raises(httpx.RemoteProtocolError):
            read.extend(rest)
    assert b'"type":"end"' not in b"".join(read)


@pytest.mark.slow
def test_a_caller_that_leaves_in_the_middle_of_an_import_leaves_nothing(
    large: tuple[httpx.Client, str],
) -> None:
    client, url = large
    export = exported(client)
    with other(client) as two:
        agent = two.headers["X-Agent-Id"]
        with socket.create_connection((client.base_url.host, client.base_url.port or 80)) as caller:
            head = f"POST /v1/import HTTP/1.1\r\nHost: localhost\r\nX-Agent-Id: {agent}\r\nContent-Type: application/x-ndjson\r\nContent-Length: {len(export)}\r\n\r\n"
            caller.sendall(head.encode() + export[: len(export) // 2])
            eventually(lambda: busy_connections(url) == 0)  # while lines are still to come
        eventually(lambda: busy_connections(url) == 0)
        assert holds_nothing(two)
        brought_back(two, export)
