"""`palimpsest sweep` and the worker that `palimpsest serve` runs beside it."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import httpx
import psutil
import psycopg
import pytest

from app.commands.client import sweeps
from app.commands.client.calling import Failure
from support.builders import editor
from support.service_process import Served, palimpsest, served
from support.sweeps import Place


def store_unjudged(service: str, agent: str, *values: str) -> None:
    items = [editor(value) | {"classify": False} for value in values]
    httpx.post(
        f"{service}/v1/memories/batch", json={"items": items}, headers={"X-Agent-Id": agent}
    ).raise_for_status()


def worker_of(service: Served) -> psutil.Process:
    [worker] = [
        child
        for child in psutil.Process(service.process.pid).children()
        if "worker" in child.cmdline()
    ]
    return worker


@pytest.mark.slow
def test_a_sweep_is_carried_out_by_the_worker_beside_the_service(data_folder: Path) -> None:
    with served(data_folder) as service:
        words = ("--url", service.address, "--agent", "swept")
        store_unjudged(service.address, "swept", "Vim", "Nano")
        tried = palimpsest("sweep", "--dry-run", "--key", "editor", "--category", "tooling", *words)
        assert "done (dry run)" in tried.stdout, (
            tried.stdout + tried.stderr + service.log.read_text()
        )
        assert "“Uses Vim as editor”" in tried.stdout
        assert "“Uses Nano as editor”" in tried.stdout
        done = palimpsest("sweep", *words)
        assert "1 superseded" in done.stdout, done.stdout + done.stderr
        assert "SUPERSEDE" in done.stdout
        [found] = json.loads(palimpsest("search", "editor", *words, "--json").stdout)["results"]
        assert found["memory"]["value"] == "Nano"
        sweep_id = done.stdout.split("sweep ")[1].split(":")[0]
        assert "REVERT" in palimpsest("revert", "--sweep", sweep_id, *words).stdout
        assert (
            len(json.loads(palimpsest("search", "editor", *words, "--json").stdout)["results"]) == 2
        )
        assert "nothing" in palimpsest("revert", "--sweep", sweep_id, *words).stdout
        counted = httpx.get(f"{service.address}/metrics").text
        assert (
            'palimpsest_operations_total{decided_by="sweep",operation="SUPERSEDE",relation="UPDATE"} 1.0'
            in counted
        )


@pytest.mark.slow
def test_the_worker_goes_with_its_service_even_when_that_is_killed(data_folder: Path) -> None:
    with served(data_folder) as service:
        worker = worker_of(service)
        service.process.kill()
        service.process.wait(30)
        psutil.wait_procs([worker], timeout=30)
        assert not worker.is_running()
    with served(data_folder) as service:  # its Postgres outlived the kill; this one stops it
        worker = worker_of(service)
        assert service.stop() == 0
        assert not worker.is_running()


@pytest.mark.slow
def test_a_worker_that_died_is_followed_by_another(data_folder: Path) -> None:
    with served(data_folder) as service:
        first = worker_of(service)
        first.kill()
        for _ in range(100):
            if [
                child
                for child in psutil.Process(service.process.pid).children()
                if child.pid != first.pid and "worker" in child.cmdline()
            ]:
                break
            time.sleep(0.2)
        store_unjudged(service.address, "swept", "Vim", "Nano")
        done = palimpsest("sweep", "--url", service.address, "--agent", "swept")
        assert "1 superseded" in done.stdout, done.stdout + done.stderr + service.log.read_text()
        assert "another one takes its place" in service.log.read_text()


def test_a_sweep_that_nobody_waits_for_is_told_as_queued(service: str) -> None:
    words = ("--url", service, "--agent", f"cli-{uuid4().hex}")
    assert palimpsest("sweep", "--detach", *words).stdout.startswith("queued sweep")
    refused = palimpsest("sweep", "--entity", "Alice", *words)
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert "--key" in refused.stderr


def test_a_sweep_is_cancelled(service: str) -> None:
    words = ("--url", service, "--agent", f"cli-{uuid4().hex}")
    sweep_id = json.loads(palimpsest("sweep", "--detach", "--json", *words).stdout)["id"]
    both = palimpsest("sweep", "--cancel", sweep_id, "--dry-run", *words)
    assert (both.returncode, both.stderr.count("\n")) == (1, 1)
    assert palimpsest("sweep", "--cancel", sweep_id, *words).stdout.startswith("cancelled sweep")


def asked(place: Place) -> None:
    sweeps.sweep(url=str(place.client.base_url), agent="default")


def test_without_a_worker_it_says_so(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeps, "PATIENCE", 0.3)
    with pytest.raises(Failure, match="palimpsest worker"):
        asked(place)


def test_behind_another_that_gets_on_it_waits(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeps, "PATIENCE", 0.3)
    ahead = place.client.post("/v1/sweeps").json()["id"]
    with psycopg.connect(place.url, autocommit=True) as connection, ThreadPoolExecutor() as pool:
        waiting = pool.submit(asked, place)
        for examined in range(20):
            connection.execute(
                "UPDATE sweeps SET status = 'running', examined = %s WHERE id = %s",
                (examined, ahead),
            )
            time.sleep(0.1)
        assert not waiting.done()
        connection.execute("UPDATE sweeps SET status = 'cancelled'")
        waiting.result(10)


def test_a_worker_without_a_database_says_what_to_do() -> None:
    refused = palimpsest("worker")
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert "PALIMPSEST_DATABASE_URL" in refused.stderr


def test_a_worker_needs_no_key_because_it_listens_nowhere() -> None:
    refused = palimpsest("worker", PALIMPSEST_HOST="0.0.0.0")
    assert "PALIMPSEST_DATABASE_URL" in refused.stderr
