"""A database that goes away, comes back, hangs or is busy: what callers are told, and that the service recovers by itself."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import sqlalchemy as sa

from app.settings import load_settings
from app.store.embedded import embedded_postgres
from app.store.engine import (
    Patience,
    TimelyConnection,
    begin_as_operator,
    create_engine,
    fetch_rows,
    get_driver,
)
from support.builders import contents, problem, store
from support.service import running

POOL = 4


@contextmanager
def service(url: str, **settings: Any) -> Iterator[httpx.Client]:
    with (
        running(
            load_settings(database_url=url, pool_size=POOL, max_reads=2 * POOL, **settings)
        ) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        yield client


def fill_the_pool(client: httpx.Client) -> None:
    """As many calls at once as there are connections, several times."""
    with ThreadPoolExecutor(POOL) as callers:
        for answer in callers.map(lambda _: client.get("/v1/memories"), range(POOL * 5)):
            assert answer.status_code == 200


def connections(url: str) -> list[int]:
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' "
            "AND pid <> pg_backend_pid()"
        ).fetchall()
    return [int(row[0]) for row in rows]


def test_connections_that_the_server_closed_cost_nobody_an_error(database_url: str) -> None:
    with service(database_url) as client:
        fill_the_pool(client)
        open_ones = connections(database_url)
        assert len(open_ones) > 1
        with psycopg.connect(database_url, autocommit=True) as admin:
            for pid in open_ones:
                admin.execute("SELECT pg_terminate_backend(CAST(%s AS integer), 5000)", [pid])
        assert [client.get("/v1/memories").status_code for _ in range(POOL * 2)] == [200] * (
            POOL * 2
        )
        store(client, "Has a dog")
        assert not set(open_ones) & set(connections(database_url))


def test_a_call_whose_connection_is_cut_can_be_repeated(database_url: str) -> None:
    with service(database_url) as client, psycopg.connect(database_url) as blocker:
        store(client, "Has a dog")
        blocker.execute("LOCK TABLE memories IN ACCESS EXCLUSIVE MODE")
        with ThreadPoolExecutor(1) as callers:
            answer = callers.submit(
                client.post, "/v1/memories", json={"content": "Has a cat", "classify": False}
            )
            with psycopg.connect(database_url, autocommit=True) as admin:
                waits = "datname = current_database() AND wait_event_type = 'Lock'"
                while not admin.execute(
                    f"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE {waits}"
                ).fetchone()[0]:  # type: ignore[index]
                    pass
            refused = answer.result(30)
        blocker.rollback()
        assert problem(refused, 503)["type"].endswith("database-unavailable")
        assert int(refused.headers["retry-after"]) > 0
        assert contents(client) == {"Has a dog"}
        store(client, "Has a cat")


@pytest.mark.slow
def test_a_database_that_is_stopped_is_told_and_one_that_is_back_is_used(data_folder: Path) -> None:
    with embedded_postgres(data_folder) as url:
        running_service = service(url)
        client = running_service.__enter__()
        store(client, "Has a dog")
        fill_the_pool(client)
    try:
        for _ in range(POOL + 1):
            for path in ("/v1/memories", "/readyz"):
                refused = client.get(path)
                assert problem(refused, 503)["type"].endswith("database-unavailable")
                assert int(refused.headers["retry-after"]) > 0
        assert client.get("/livez").status_code == 200
        with embedded_postgres(data_folder):
            assert [client.get("/readyz").status_code for _ in range(POOL * 2)] == [200] * (
                POOL * 2
            )
            assert contents(client) == {"Has a dog"}
    finally:
        running_service.__exit__(None, None, None)


def test_a_statement_that_takes_too_long_is_ended_and_told(database_url: str) -> None:
    with (
        service(database_url, statement_timeout=0.3, lock_timeout=0) as client,
        psycopg.connect(database_url) as blocker,
    ):
        store(client, "Has a dog")
        blocker.execute("LOCK TABLE memories IN ACCESS EXCLUSIVE MODE")
        refused = client.get("/v1/memories")
        assert "PALIMPSEST_STATEMENT_TIMEOUT" in problem(refused, 503)["detail"]
        assert refused.headers["retry-after"] == "5"
        blocker.rollback()
        assert contents(client) == {"Has a dog"}


def test_a_write_does_not_wait_for_another_of_its_agent_for_ever(database_url: str) -> None:
    with (
        service(database_url, lock_timeout=0.3) as client,
        psycopg.connect(database_url) as blocker,
    ):
        store(client, "Has a dog")
        blocker.execute("SELECT 1 FROM agents WHERE agent_id = 'default' FOR UPDATE")
        refused = client.post("/v1/memories", json={"content": "Has a cat"})
        assert problem(refused, 503)["type"].endswith("agent-busy")
        assert refused.headers["retry-after"] == "5"
        assert (
            client.post(
                "/v1/memories", json={"content": "Has a cat"}, headers={"X-Agent-Id": "other"}
            ).status_code
            == 201
        )
        blocker.rollback()
        assert contents(client) == {"Has a dog"}
        store(client, "Has a cat")


def test_a_transaction_in_which_nothing_happens_is_ended(database_url: str) -> None:
    async def idle() -> None:
        engine = create_engine(database_url, pool_size=1, patience=Patience(idle_transaction=0.2))
        try:
            async with begin_as_operator(engine) as connection:
                await fetch_rows(connection, "SELECT 1", {})
                await asyncio.sleep(1)
                await fetch_rows(connection, "SELECT 1", {})
        finally:
            await engine.dispose()

    with pytest.raises(sa.exc.OperationalError):  # which is answered with 503
        asyncio.run(idle())


# Fail as a Citus coordinator does that loses another node.
LOSE_NODE = """
    DO $$ BEGIN
        RAISE EXCEPTION 'could not commit transaction for shard 102008 on at least 1 active node'
        USING ERRCODE = 'internal_error';
    END $$
"""


@pytest.mark.parametrize(
    ("on_cluster", "kind"),
    [(True, psycopg.errors.ConnectionFailure), (False, psycopg.errors.InternalError_)],
)
def test_a_node_that_a_cluster_loses_is_an_outage(
    database_url: str, *, on_cluster: bool, kind: type[psycopg.Error]
) -> None:
    async def lose_node() -> None:
        engine = create_engine(database_url, pool_size=1, patience=Patience())
        try:
            async with engine.connect() as connection:
                driver = get_driver(connection)
                assert isinstance(driver, TimelyConnection)
                driver.on_cluster = on_cluster
                await fetch_rows(connection, LOSE_NODE, {})
        finally:
            await engine.dispose()

    with pytest.raises(kind):
        asyncio.run(lose_node())


def test_opening_a_connection_to_a_silent_server_ends(database_url: str) -> None:
    async def connect(port: int) -> None:
        engine = create_engine(
            f"postgresql://u@127.0.0.1:{port}/x", pool_size=1, patience=Patience(connect=2)
        )
        async with engine.connect():
            pass

    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(Exception, match="timeout"),
    ):
        asyncio.run(asyncio.wait_for(connect(silent.getsockname()[1]), 30))


def test_an_address_that_cannot_be_read_is_told_without_its_password(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "app.cli", "serve"]
    environment = {
        **os.environ,
        "PALIMPSEST_DATABASE_URL": "postgresql://me:s3cret:/w0rd@host:port/name",
    }
    failed = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert failed.returncode == 1
    assert "percent-encode" in failed.stderr
    assert "s3cret" not in failed.stderr + failed.stdout
    assert "w0rd" not in failed.stderr + failed.stdout
