"""The service behind a transaction pooler: nothing it relies on outlives a transaction."""

import asyncio
import os
import pwd
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from app.database_urls import set_schema
from app.jobs.worker import run_worker
from app.settings import load_settings
from app.store import schema
from app.store.roles import SERVICE_LOGIN, build_service_url
from support.builders import contents, editor, store
from support.service import running
from support.transfers import brought_back, exported, other
from support.urls import name_of

AGENTS = ("one", "two", "three")


@pytest.fixture
def pooled_url(database_url: str) -> Iterator[str]:
    """The database through PgBouncer, which gives two sessions to everybody, one transaction at a time."""
    program = shutil.which("pgbouncer")
    if program is None:
        pytest.skip("PgBouncer is not installed")
    server = psycopg.conninfo.conninfo_to_dict(build_service_url(database_url))
    with tempfile.TemporaryDirectory(prefix="palimpsest-test-") as folder:
        port = free_port()
        configuration = write_configuration(program, Path(folder), server, port)
        # The owner of the socket may not pass through the folders above it, if root started all this.
        socket_folder = server["host"] if server["host"].startswith("/") else None
        process = subprocess.Popen(
            [program, "-q", configuration], cwd=socket_folder, user=find_user(server["host"])
        )
        try:
            wait_for(port, process)
            yield f"postgresql://{SERVICE_LOGIN}@127.0.0.1:{port}/{name_of(database_url)}"
        finally:
            process.terminate()
            process.wait(10)


def write_configuration(program: str, folder: Path, server: dict[str, Any], port: int) -> Path:
    folder.chmod(0o755)
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    version = tuple(map(int, re.findall(r"\d+", said)[:2]))
    # From then on PgBouncer may know which session prepared what.
    forgets = "max_prepared_statements = 0\n" if version >= (1, 21) else ""
    users = folder / "users.txt"
    users.write_text(f'"{SERVICE_LOGIN}" "{server.get("password", "")}"\n')
    configuration = folder / "pgbouncer.ini"
    host = "/proc/self/cwd" if server["host"].startswith("/") else server["host"]
    configuration.write_text(
        f"[databases]\n* = host={host} port={server.get('port', 5432)}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
        f"auth_type = trust\nauth_file = {users}\n"
        f"pool_mode = transaction\ndefault_pool_size = 2\n{forgets}"
    )
    return configuration


def find_user(host: Any) -> int | None:
    """The account that may open the socket: PgBouncer does not run as root."""
    if os.getuid() != 0:
        return None
    owner = os.stat(host).st_uid if str(host).startswith("/") else 0
    return owner or pwd.getpwnam("nobody").pw_uid


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(200):
        assert process.poll() is None, "PgBouncer did not start"
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("PgBouncer does not listen")


def use(address: str, agent: str) -> set[str]:
    """Write, read, change and search as one agent; what it then holds."""
    with httpx.Client(base_url=address, headers={"X-Agent-Id": agent}, timeout=60) as client:
        for number in range(8):
            store(client, f"{agent} knows number {number}")
            store(client, **editor(f"{agent}-{number}"))
            found = client.get("/v1/search", params={"q": "number"}).json()["results"]
            assert all(agent in item["memory"]["content"] for item in found), found
        return contents(client)


def test_agents_stay_apart_behind_a_transaction_pooler(pooled_url: str) -> None:
    settings: dict[str, Any] = {"database_url": pooled_url, "database_pooler": True}
    with (
        running(load_settings(**settings, pool_size=6, use_flush_seconds=0.2)) as address,
        ThreadPoolExecutor(len(AGENTS)) as callers,
    ):
        held = list(callers.map(use, [address] * len(AGENTS), AGENTS))
        for agent, found in zip(AGENTS, held, strict=True):
            assert len(found) == 9, found
            assert all(agent in content for content in found), found
        with (
            httpx.Client(base_url=address, headers={"X-Agent-Id": "one"}, timeout=60) as client,
            other(client, "copy") as copy,
        ):
            brought_back(copy, exported(client))
            assert contents(copy) == held[0]
            items = [{"content": f"one has {number}"} for number in range(50)]
            assert client.post("/v1/memories/batch", json={"items": items}).is_success
            sweep = client.post("/v1/sweeps", json={}).json()["id"]
            asyncio.run(run_worker(load_settings(**settings), until_idle=True))
            assert client.get(f"/v1/sweeps/{sweep}").json()["status"] == "done"
            assert copy.post("/v1/erasures", json={"agent_id": "copy"}).is_success
            assert contents(copy) == set()
            left = contents(copy, include_superseded=True)
            assert left == {None}, "texts are erased, rows stay"
        assert httpx.get(f"{address}/readyz").status_code == 200


def call_at_once(address: str) -> list[httpx.Response]:
    """The answers to 80 calls of eight agents, two in three of which write."""

    def call(number: int) -> httpx.Response:
        headers = {"X-Agent-Id": f"agent-{number % 8}"}
        with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
            if number % 3:
                return client.post("/v1/memories", json={"content": f"Has number {number}"})
            return client.get("/v1/search", params={"q": f"number {number}"})

    with ThreadPoolExecutor(80) as callers:
        return list(callers.map(call, range(80)))


@pytest.mark.parametrize("option", ["", "?pgbouncer=true"])
def test_a_pooler_without_its_setting_is_noticed_and_every_call_is_served(
    pooled_url: str, option: str, caplog: pytest.LogCaptureFixture
) -> None:
    settings = load_settings(database_url=pooled_url + option, pool_size=6, use_flush_seconds=0.2)
    with running(settings) as address:
        answers = [answer for _ in range(3) for answer in call_at_once(address)]
        with httpx.Client(base_url=address, headers={"X-Agent-Id": "one"}, timeout=60) as client:
            assert client.post("/v1/sweeps", json={}).is_success
            worker = load_settings(database_url=pooled_url + option)
            asyncio.run(run_worker(worker, until_idle=True))
    assert {answer.status_code for answer in answers} <= {200, 201}
    notices = [line for line in caplog.messages if "PALIMPSEST_DATABASE_POOLER" in line]
    assert len(notices) == (0 if option else 2), "once for the service, once for the worker"


def test_a_pooler_that_answers_in_the_name_of_the_server_is_noticed_by_its_first_mistake(
    pooled_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.store.engine._leads_to_pooler", lambda *_: False)
    settings = load_settings(database_url=pooled_url, pool_size=6, use_flush_seconds=0.2)
    with running(settings) as address:
        first = [answer.status_code for _ in range(3) for answer in call_at_once(address)]
        later = [answer.status_code for answer in call_at_once(address)]
    assert set(first) <= {200, 201, 503}
    assert 503 in first, "nothing was prepared twice, so this shows nothing"
    assert set(later) <= {200, 201}


def test_two_services_behind_one_pooler_see_their_own_rows_alone(
    pooled_url: str, database_url: str
) -> None:
    """Both have the same two sessions, and agents of the same names."""
    owner, login = database_url, build_service_url(database_url)
    schema.migrate_database(set_schema(owner, "second"), set_schema(login, "second"))
    pooled = {"database_pooler": True, "pool_size": 6, "use_flush_seconds": 0.2}
    with (
        running(load_settings(database_url=pooled_url, **pooled)) as first,
        running(
            load_settings(database_url=pooled_url, database_schema="second", **pooled)
        ) as second,
        ThreadPoolExecutor(4) as callers,
    ):
        using = [
            callers.submit(use, address, agent) for agent in AGENTS for address in (first, second)
        ]
        assert all(len(one.result()) == 9 for one in using)
        with httpx.Client(base_url=second, headers={"X-Agent-Id": "one"}, timeout=60) as client:
            assert client.post("/v1/erasures", json={"agent_id": "one"}).is_success
            store(client, "Only in the second one")
            assert contents(client) == {"Only in the second one"}
        with httpx.Client(base_url=first, headers={"X-Agent-Id": "one"}, timeout=60) as client:
            assert "Only in the second one" not in contents(client)
            assert len(contents(client)) == 9
