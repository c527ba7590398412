"""F6, F13: a database that hangs, or takes no writes."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import httpx
import psutil
import psycopg
import pytest

from app.services import readiness
from app.settings import load_settings
from app.store import engine as store_engine
from support.builders import contents, problem, store
from support.service import running
from support.urls import name_of


@contextmanager
def stopped_backends(url: str) -> Iterator[None]:
    """Stop Postgres, and what works for others in this database, as a hang would."""
    with psycopg.connect(url, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT pid FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchall()
    backends = [find_process(pid) for (pid,) in rows]
    stopped = [backends[0].parent(), *backends]
    for process in stopped:
        process.suspend()
    try:
        yield
    finally:
        for process in stopped:
            with suppress(psutil.NoSuchProcess):
                process.resume()


def find_process(pid: int) -> psutil.Process:
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        if process.name().startswith("postgres"):
            return process
    pytest.skip("Postgres runs on another machine")


def test_a_database_that_hangs_is_given_up(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_engine, "GRACE", 0.5)
    monkeypatch.setattr(readiness, "PATIENCE", 0.5)
    settings = load_settings(
        database_url=database_url,
        statement_timeout=1,
        connect_timeout=2,
        pool_size=2,
        use_flush_seconds=3600,
    )
    with running(settings) as address, httpx.Client(base_url=address, timeout=30) as client:
        store(client, "Has a cat")
        assert client.get("/readyz").status_code == 200
        with stopped_backends(database_url):
            started = time.monotonic()
            assert problem(client.get("/readyz"), 503)["type"].endswith("database-unavailable")
            assert problem(client.get("/v1/memories"), 503)
            assert problem(client.post("/v1/memories", json={"content": "Has a dog"}), 503)
            assert time.monotonic() - started < 20
        assert client.get("/readyz").status_code == 200
        assert contents(client) == {"Has a cat"}
        store(client, "Has a dog")


def test_a_database_that_takes_no_writes_says_so(database_url: str) -> None:
    name = name_of(database_url)
    settings = load_settings(database_url=database_url, use_flush_seconds=3600)
    with running(settings) as address, httpx.Client(base_url=address, timeout=30) as client:
        store(client, "Has a cat")
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")  # type: ignore[arg-type]  # a name of our own
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        response = client.post("/v1/memories", json={"content": "Has a dog"})
        assert problem(response, 503)["type"].endswith("database-read-only")
        assert problem(client.get("/readyz"), 503)["type"].endswith("database-read-only")
        assert contents(client) == {"Has a cat"}
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute("SET transaction_read_only = off")
            connection.execute("SET default_transaction_read_only = off")
            connection.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")  # type: ignore[arg-type]
        client.get("/readyz")
        assert client.get("/readyz").status_code == 200
        store(client, "Has a dog")
