"""A real Postgres, a running service, an agent of one's own."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock
from uuid import uuid4

import httpx
import psycopg
import pytest

from app import main, wiring
from app.networks import session
from app.services.deliveries import Deliverer
from app.settings import Settings, load_settings
from app.store import schema
from app.store.embedded import embedded_postgres
from app.store.roles import build_service_url
from app.wiring import Process
from support.cluster import CITUS_URL, distribute
from support.containers import container_url
from support.databases import fresh_database
from support.doctor_check import assert_agent_healthy, assert_healthy
from support.openapi_check import keeps_to_the_document
from support.service import running
from support.sweeps import Place
from support.urls import name_of

# Most tests are about what signals, keys and models decide. Those of the local judge turn it on.
os.environ.setdefault("PALIMPSEST_LOCAL_JUDGE", "false")

# Each HTTP client reads all certificates that the machine trusts, which took a fifth of the tests' time. They trust none: a folder
# without certificates has none to read.
os.environ.pop("SSL_CERT_FILE", None)
os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)


# Services and commands of the tests are processes, and each would compile the application anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Hundreds of databases are made and dropped, and each lets Postgres write what it holds. In memory
# that takes a tenth of the time that it takes on a busy disk. A process of tests needs a gigabyte
# or less.
MEMORY = Path("/dev/shm")
FREE_MEMORY = 8 * 2**30


# Their tests kill processes, and start services and databases of their own. Others that are slow
# are marked.
SLOW_FOLDERS = ("attacks", "jobs")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of slow folders."""
    for item in items:
        folder = item.path.relative_to(Path(__file__).parent).parts[0]
        if folder in SLOW_FOLDERS:
            item.add_marker(pytest.mark.slow)


def find_quick_folder() -> Path | None:
    """A folder in memory that has room; None stands for the usual temporary folder."""
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > FREE_MEMORY:
        return MEMORY
    return None


@pytest.fixture(scope="session", autouse=True)
def deliver_on_demand() -> Iterator[None]:
    """Services of the tests' own process deliver to webhooks only when a test does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Deliverer, "deliver_in_background", lambda _: nullcontext())
        yield


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """A Postgres to make databases in: the coordinator of PALIMPSEST_TEST_CITUS, that of PALIMPSEST_TEST_DATABASE_URL, a container
    where PALIMPSEST_TEST_DOCKER is set, else an embedded one that goes away."""
    if url := CITUS_URL or os.environ.get("PALIMPSEST_TEST_DATABASE_URL"):
        yield url
        return
    if os.environ.get("PALIMPSEST_TEST_DOCKER"):
        yield from container_url()
        return
    with (
        tempfile.TemporaryDirectory(prefix="palimpsest-test-", dir=find_quick_folder()) as folder,
        embedded_postgres(Path(folder)) as url,
    ):
        _hurry(url)
        yield url


def _hurry(url: str) -> None:
    """Nothing of this server outlives the tests, so it need not wait for the disk."""
    with psycopg.connect(url, autocommit=True) as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")  # type: ignore[arg-type]  # constants
        connection.execute("ALTER SYSTEM SET max_wal_size = '256MB'")  # it may lie in memory
        connection.execute("SELECT pg_reload_conf()")


@pytest.fixture(scope="session")
def template_url(server_url: str) -> Iterator[str]:
    """A migrated database that nobody is connected to, for copying."""
    with fresh_database(server_url) as url:
        schema.migrate_database(url, build_service_url(url))
        if CITUS_URL:
            distribute(url)
        yield url


@pytest.fixture(scope="session", autouse=True)
def uncollected() -> Iterator[None]:
    """No application collects the garbage of the whole process when it starts.

    A process of tests starts hundreds of applications.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(main, "gc", MagicMock())
        yield


@pytest.fixture(scope="session", autouse=True)
def shared_networks() -> Iterator[None]:
    """Applications share the networks and the tokenizer of a process, which hold no state."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "InferenceSession", _open_once(session.InferenceSession))
        tokenizers = MagicMock(from_file=cache(session.Tokenizer.from_file))
        patch.setattr(session, "Tokenizer", tokenizers)
        yield


def _open_once(open_network: Callable[..., Any]) -> Callable[..., Any]:
    opened: dict[Path, Any] = {}

    def find_or_open(path: Path, *more: Any, **options: Any) -> Any:
        if path not in opened:
            opened[path] = open_network(path, *more, **options)
        return opened[path]

    return find_or_open


@pytest.fixture(scope="session", autouse=True)
def service_login() -> Iterator[None]:
    """Services and workers of the tests log in as one that owns nothing; the tests themselves as the superuser."""
    get_database_url = wiring._get_database_url

    def get_service_url(settings: Settings, process: Process) -> str:
        url = get_database_url(settings, process)
        return url if process is Process.MAINTENANCE else build_service_url(url)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wiring, "_get_database_url", get_service_url)
        yield


@pytest.fixture(scope="session")
def made_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder of the embedded Postgres as a service leaves it, migrated, for copying."""
    folder = tmp_path_factory.mktemp("made")
    with embedded_postgres(folder) as url:
        schema.migrate_database(url, build_service_url(url))
        # What is killed here are processes. A commit that is acknowledged is still written.
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")
    return folder


@pytest.fixture
def data_folder(made_folder: Path, tmp_path: Path) -> Path:
    """The test's folder, where a Postgres was made before. Making one takes seconds."""
    subprocess.run(["cp", "-a", f"{made_folder}/.", str(tmp_path)], check=True)
    return tmp_path


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
