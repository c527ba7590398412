"""A real Postgres, a running service, an agent of one's own."""

import os
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

import httpx
import psycopg
import pytest
import uvicorn
from healthy import assert_agent_healthy, assert_healthy
from promises import keeps_to_the_document
from swept import Place

from app.embedding import Embedder
from app.main import create_app
from app.settings import Settings, load_settings

with warnings.catch_warnings():
    warnings.simplefilter(
        "ignore"
    )  # the embedded server's library warns at import where XDG_RUNTIME_DIR is unset
    from app.store import schema
    from app.store.embedded import embedded_postgres

POSTGRES_IMAGE = "pgvector/pgvector:0.8.4-pg18"


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """A Postgres to make databases in: that of PALIMPSEST_TEST_DATABASE_URL, a container where PALIMPSEST_TEST_DOCKER is set,
    else an embedded one that goes away."""
    if url := os.environ.get("PALIMPSEST_TEST_DATABASE_URL"):
        yield url
        return
    if os.environ.get("PALIMPSEST_TEST_DOCKER"):
        yield from container_url()
        return
    with (
        tempfile.TemporaryDirectory(prefix="palimpsest-test-") as folder,
        embedded_postgres(Path(folder)) as url,
    ):
        _hurry(url)
        yield url


def _hurry(url: str) -> None:
    """Nothing of this server outlives the tests, so it need not wait for the disk."""
    with psycopg.connect(url, autocommit=True) as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")  # type: ignore[arg-type]  # constants
        connection.execute("SELECT pg_reload_conf()")


def container_url() -> Iterator[str]:
    """A Postgres of the pgvector image; without a Docker engine the tests are skipped and say so."""
    from testcontainers.community.postgres import PostgresContainer

    need_docker_engine()
    with PostgresContainer(POSTGRES_IMAGE, driver=None) as postgres:
        yield postgres.get_connection_url()


def need_docker_engine() -> None:
    """Skips the test where no Docker engine answers, and says why."""
    import docker

    try:
        with closing(docker.from_env()) as engine:
            engine.ping()
    except docker.errors.DockerException as reason:
        pytest.skip(f"no Docker engine answers: {reason}")


@contextmanager
def fresh_database(server_url: str, template: str | None = None) -> Iterator[str]:
    """An empty database of its own, or a copy of another; dropped afterwards."""
    name = f"test_{uuid4().hex}"
    copy = f" TEMPLATE {template}" if template else ""
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}{copy}")
        yield with_database(server_url, name)
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def with_database(url: str, name: str) -> str:
    parsed = psycopg.conninfo.conninfo_to_dict(url)
    host = str(parsed.get("host", ""))
    user, password, port = (
        parsed.get("user", "postgres"),
        parsed.get("password"),
        parsed.get("port"),
    )
    login = f"{user}:{password}" if password else f"{user}"
    if host.startswith("/"):
        return f"postgresql://{login}@/{name}?host={host}" + (f"&port={port}" if port else "")
    return f"postgresql://{login}@{host}" + (f":{port}" if port else "") + f"/{name}"


@pytest.fixture(scope="session")
def template_url(server_url: str) -> Iterator[str]:
    """A migrated database that nobody is connected to, for copying."""
    with fresh_database(server_url) as url:
        schema.migrate_database(url)
        yield url


@pytest.fixture
def unchecked_database_url(server_url: str, template_url: str) -> Iterator[str]:
    """A migrated database of the test's own, which the test may damage."""
    with fresh_database(server_url, template=name_of(template_url)) as url:
        yield url


@pytest.fixture
def database_url(unchecked_database_url: str) -> Iterator[str]:
    """A migrated database of the test's own. When the test is over, whatever it did or broke off, all that it left must be healthy."""
    yield unchecked_database_url
    assert_healthy(unchecked_database_url)


def name_of(url: str) -> str:
    return str(psycopg.conninfo.conninfo_to_dict(url)["dbname"])


@contextmanager
def running(settings: Settings, embedder: Embedder | None = None) -> Iterator[str]:
    """The service on a port of its own, in a thread; yields its address."""
    server = uvicorn.Server(
        uvicorn.Config(create_app(settings, embedder), port=0, log_level="warning", lifespan="on")
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise RuntimeError("the service did not start")
        time.sleep(0.01)
    address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    httpx.get(
        f"{address}/livez"
    )  # FastAPI builds its routes at the first request, with warnings off for the whole process
    try:
        yield address
    finally:
        server.should_exit = True
        thread.join(10)


@pytest.fixture(scope="session")
def service(server_url: str, template_url: str) -> Iterator[str]:
    """The address of a service shared by the tests, each with an agent of its own. Uses are counted when it ends: what a test reads
    changes by what it does alone."""
    with (
        fresh_database(server_url, template=name_of(template_url)) as url,
        running(load_settings(database_url=url, use_flush_seconds=3600)) as address,
    ):
        yield address


@pytest.fixture
def client(service: str) -> Iterator[httpx.Client]:
    """A client of the shared service, as an agent nobody else is. When the test is over, all that it left must be healthy."""
    headers, hooks = {"X-Agent-Id": f"test-{uuid4().hex}"}, {"response": [keeps_to_the_document]}
    with httpx.Client(base_url=service, headers=headers, event_hooks=hooks, timeout=60) as client:
        yield client
        assert_agent_healthy(client)


@pytest.fixture
def place(database_url: str) -> Iterator[Place]:
    """A service over a database of its own, whose worker works when the test says so."""
    hooks = {"response": [keeps_to_the_document]}
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address, event_hooks=hooks, timeout=60) as client,
    ):
        yield Place(database_url, client)
