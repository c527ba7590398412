"""Workers that race, and workers that die: nothing is done twice, nothing is left half done."""

import asyncio
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx
import psycopg
import pytest

from app.jobs.worker import open_jobs, run_worker
from app.settings import Settings, load_settings
from app.store.engine import begin_as_operator
from app.store.sweeps import runs as sweep_runs
from support.builders import editor
from support.depth import DEEP
from support.doctor_check import assert_healthy
from support.service import running
from support.urls import name_of

KILLS = 25 if DEEP else 1  # each kills three workers

PAIRS = [
    ("Lives in Porto", "Moved from Porto to Lisbon"),
    ("Works at Initech", "No longer works at Initech"),
    ("The budget is 300 euros", "The budget is 450 euros"),
    ("The launch is on 3 May 2026", "The launch is on 9 June 2026"),
]


def history() -> list[dict[str, Any]]:
    """Facts of slots and without, in an order of their own, each with its date and none judged."""
    slots = [
        editor(f"Editor {n}")
        | {"key": f"editor-{n % 7}", "valid_from": f"20{10 + n // 7}-01-0{1 + n % 7}"}
        for n in range(56)
    ]
    pairs = [
        {"content": text, "valid_from": f"202{place}-06-01"}
        for pair in PAIRS
        for place, text in enumerate(pair)
    ]
    others = [
        {
            "content": f"Note number {n}: {'abcdefgh'[n % 8] * 5} was here",
            "valid_from": "2020-02-02",
        }
        for n in range(30)
    ]
    facts = [fact | {"classify": False} for fact in (*slots, *pairs, *others)]
    random.Random(1).shuffle(facts)
    return facts


def store_all(client: httpx.Client, agent: str, facts: list[dict[str, Any]]) -> None:
    client.post(
        "/v1/memories/batch", json={"items": facts}, headers={"X-Agent-Id": agent}
    ).raise_for_status()


def told(client: httpx.Client, agent: str, path: str, **params: Any) -> Any:
    answer = client.get(path, params=params, headers={"X-Agent-Id": agent})
    assert answer.is_success, answer.text
    return answer.json()


def sweep(client: httpx.Client, agent: str) -> str:
    answer = client.post("/v1/sweeps", headers={"X-Agent-Id": agent})
    assert answer.status_code == 202, answer.text
    sweep_id: str = answer.json()["id"]
    return sweep_id


def standing(client: httpx.Client, agent: str) -> Counter[tuple[str, str, str | None]]:
    """How each memory stands, without its id."""
    items = told(client, agent, "/v1/memories", include_superseded=True, limit=1000)["items"]
    return Counter((m["content"], m["status"], m["valid_until"]) for m in items)


def changes(client: httpx.Client, agent: str) -> Counter[tuple[str, ...]]:
    """What the sweep did, by what it did it to."""
    items = told(client, agent, "/v1/log", decided_by="sweep", limit=1000)["items"]
    return Counter((entry["operation"], *sorted(entry["source_memory_ids"])) for entry in items)


@pytest.mark.parametrize("kill", range(KILLS))
def test_a_sweep_whose_workers_are_killed_comes_to_the_same_end(
    kill: int, database_url: str
) -> None:
    pick = random.Random(kill)
    environment = os.environ | {
        "PALIMPSEST_DATABASE_URL": database_url,
        "PALIMPSEST_SUPERSESSION_BATCH": "7",
    }
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        for agent in ("killed", "spared"):
            store_all(client, agent, history())
        swept = sweep(client, "killed")
        for _ in range(3):
            with subprocess.Popen(
                [sys.executable, "-m", "app.cli", "worker"],
                env=environment,
                stderr=subprocess.DEVNULL,
            ) as worker:
                _until_taken(client, swept)
                time.sleep(pick.random() * 0.5)
                worker.kill()
            _as_if_long_ago(database_url)
        sweep(client, "spared")
        asyncio.run(run_worker(load_settings(database_url=database_url), until_idle=True))
        assert told(client, "killed", f"/v1/sweeps/{swept}")["status"] == "done"
        assert standing(client, "killed") == standing(client, "spared")
        assert max(changes(client, "killed").values()) == 1
    assert_healthy(database_url)


def _until_taken(client: httpx.Client, swept: str) -> None:
    for _ in range(600):
        if told(client, "killed", f"/v1/sweeps/{swept}")["status"] != "queued":
            return
        time.sleep(0.02)
    raise AssertionError("no worker took the sweep")


def _as_if_long_ago(database_url: str) -> None:
    """A worker counts as dead only some time after its last sign of life; here it was long ago."""
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE sweeps SET alive_at = '2000-01-01' WHERE status = 'running'")


@pytest.mark.parametrize("away", [1, 20])
def test_a_worker_whose_database_goes_away_ends_with_one_line_and_a_status_of_failure(
    away: int, server_url: str, database_url: str
) -> None:
    """Supervisors go by the status: `--restart on-failure` leaves a worker that ended with 0 alone."""
    name = name_of(database_url)
    with (
        _listening_worker(database_url) as worker,
        psycopg.connect(server_url, autocommit=True) as connection,
    ):
        connection.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false'.encode())
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name]
        )
        with suppress(subprocess.TimeoutExpired):
            worker.wait(away)
        connection.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true'.encode())
        _, written = worker.communicate(timeout=30)
    assert worker.returncode == 1
    told = [line for line in written.splitlines() if not line.startswith("{")]  # the log is JSON
    assert told == ["palimpsest: The worker lost its database and ended. Start it again."]


def test_a_worker_that_is_told_to_end_ends_well(database_url: str) -> None:
    with _listening_worker(database_url) as worker:
        worker.terminate()
        worker.communicate(timeout=30)
    assert worker.returncode == 0


@contextmanager
def _listening_worker(database_url: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-m", "app.cli", "worker"],
        env=os.environ | {"PALIMPSEST_DATABASE_URL": database_url},
        stderr=subprocess.PIPE,
        text=True,
    ) as worker:
        try:
            _until_someone_listens(database_url)
            yield worker
        finally:
            worker.kill()


def _until_someone_listens(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        for _ in range(600):
            if connection.execute(
                "SELECT 1 FROM pg_stat_activity"
                " WHERE datname = current_database() AND query ILIKE 'LISTEN%'"
            ).fetchone():
                return
            time.sleep(0.05)
    raise AssertionError("no worker listens")


def test_many_workers_and_many_sweeps_of_one_agent_do_each_thing_once(database_url: str) -> None:
    settings = load_settings(database_url=database_url, supersession_batch=5)
    with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        for agent in ("swept", "alone"):
            store_all(client, agent, history())
        started = [sweep(client, "swept") for _ in range(4)]

        async def many() -> None:
            await asyncio.gather(*(run_worker(settings, until_idle=True) for _ in range(3)))

        asyncio.run(many())
        sweep(client, "alone")
        asyncio.run(run_worker(settings, until_idle=True))
        assert {told(client, "swept", f"/v1/sweeps/{i}")["status"] for i in started} == {"done"}
        assert standing(client, "swept") == standing(client, "alone")
        assert max(changes(client, "swept").values()) == 1
    assert_healthy(database_url)


def test_stores_go_on_while_an_agent_is_swept(database_url: str) -> None:
    settings = load_settings(database_url=database_url, supersession_batch=3)
    with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        store_all(client, "busy", history())
        sweep(client, "busy")

        def write(number: int) -> None:
            for n in range(25):
                body = editor(f"Live {number}-{n}") | {"key": f"editor-{n % 7}"}
                answer = client.post("/v1/memories", json=body, headers={"X-Agent-Id": "busy"})
                assert answer.is_success, answer.text

        writers = [threading.Thread(target=write, args=(number,)) for number in range(3)]
        for writer in writers:
            writer.start()
        asyncio.run(run_worker(settings, until_idle=True))
        for writer in writers:
            writer.join()
        sweep(client, "busy")
        asyncio.run(run_worker(settings, until_idle=True))
        holding = Counter(
            m["key"] for m in told(client, "busy", "/v1/memories", limit=1000)["items"] if m["key"]
        )
        assert set(holding.values()) == {1}, "one value in each slot"
    assert_healthy(database_url)


def test_by_the_clock_each_agent_with_news_is_swept_and_the_others_are_not(
    database_url: str,
) -> None:
    settings = load_settings(database_url=database_url)
    with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        for agent in ("one", "two"):
            store_all(client, agent, history())
        assert by_the_clock(settings) == {"one", "two"}
        asyncio.run(run_worker(settings, until_idle=True))
        assert by_the_clock(settings) == set()
        store_all(client, "two", [{"content": "Something new", "classify": False}])
        assert by_the_clock(settings) == {"two"}
        asyncio.run(run_worker(settings, until_idle=True))
        [newest, first] = told(client, "two", "/v1/sweeps")["items"]
        assert (newest["origin"], newest["since"], first["since"]) == (
            "schedule",
            first["created_at"],
            None,
        )
        assert newest["examined"] < first["examined"]
        store_all(client, "two", [{"content": "Something newer", "classify": False}])
        assert by_the_clock(settings) == {"two"}
        asyncio.run(run_worker(settings, until_idle=True))
        [latest, kept] = told(client, "two", "/v1/sweeps")["items"]
        assert (latest["since"], kept) == (newest["created_at"], first), (
            "the last one says when it was, the first one found something"
        )


def by_the_clock(settings: Settings) -> set[str]:
    """The agents for which the clock starts a sweep now."""

    async def started() -> set[str]:
        async with (
            open_jobs(settings) as jobs,
            begin_as_operator(jobs.services.engine) as connection,
        ):
            await jobs.start_sweeps(0)
            return {str(agent) for agent, _ in await sweep_runs.list_waiting_sweeps(connection)}

    return asyncio.run(started())


def test_a_worker_keeps_what_ended_long_ago_cheap(database_url: str) -> None:
    settings = load_settings(database_url=database_url, cold_after_days=1e-6)
    with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        for value in ("Vim", "Nano"):
            client.post("/v1/memories", json=editor(value)).raise_for_status()
        time.sleep(0.2)

        async def retained() -> None:
            async with open_jobs(settings) as jobs:
                await jobs.retain_every_agent(0)

        asyncio.run(retained())
        with psycopg.connect(database_url) as connection:
            cold = connection.execute("SELECT value FROM memories WHERE cold").fetchall()
        assert cold == [("Vim",)]
