"""How fast a worker sweeps with rules and signals, and what that costs those who search meanwhile."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

import psycopg

from bench.client import Client
from bench.figures import Report, p95
from bench.servers import ROOT, SERVICE, serving
from bench.world import World, asked_texts

SEARCHES = 300


def measure(report: Report, world: World) -> None:
    """Writes a section: every agent beside the measured ones swept by one worker, and searches before and meanwhile."""
    with serving(SERVICE, PALIMPSEST_DATABASE_URL=world.url) as port:
        _search(port, 30)
        idle = _search(port, SEARCHES)
        for agent in world.others:
            _ask_for_sweep(port, agent)
        with sweeping_worker(world.url):
            await_first_sweep(world.url)
            started, beside = time.perf_counter(), []
            examined = _examined(world.url)
            while _open(world.url):
                beside += _search(port, 50)
            seconds = time.perf_counter() - started
            examined = _examined(world.url) - examined
    report.section(
        "A sweep of everything",
        f"One worker over {len(world.others)} agents, rules and signals, no model; meanwhile `POST /v1/search` in an agent of 1,000 "
        "memories, one after the other. Goal: p95 within 1.5 of idle.",
        [
            "memories",
            "memories/s",
            "searches beside",
            "p50 idle ms",
            "p50 beside",
            "p95 idle",
            "p95 beside",
            "p95 ratio",
        ],
        [
            [str(examined), f"**{examined / seconds:.0f}**", str(len(beside))]
            + [
                f"{value * 1e3:.2f}"
                for value in (median(idle), median(beside), p95(idle), p95(beside))
            ]
            + [f"**{p95(beside) / p95(idle):.2f}**"]
        ],
    )


def _search(port: int, times: int) -> list[float]:
    client = Client(port, World.SMALL)
    queries = [client.prepare("/v1/search", {"query": text}) for text in asked_texts()[:times]]
    taken = [client.timed(queries[i % len(queries)])[0] for i in range(times)]
    client.close()
    return taken


def _ask_for_sweep(port: int, agent: str) -> None:
    client = Client(port, agent)
    assert json.loads(client.post("/v1/sweeps", {}))["status"] == "queued"
    client.close()


@contextmanager
def sweeping_worker(url: str) -> Iterator[None]:
    command = [sys.executable, "-m", "app.cli", "worker"]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | {"PALIMPSEST_DATABASE_URL": url},
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


def await_first_sweep(url: str) -> None:
    while not _examined(url):
        time.sleep(0.1)


def _examined(url: str) -> int:
    return _number(url, "SELECT coalesce(sum(examined), 0) FROM sweeps")


def _open(url: str) -> int:
    return _number(url, "SELECT count(*) FROM sweeps WHERE status IN ('queued', 'running')")


def _number(url: str, statement: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute(statement).fetchone()
    assert row
    return int(row[0])
