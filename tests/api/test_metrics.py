"""What /metrics counts: by route, never by path, and of all workers together."""

import signal
import time
from pathlib import Path
from uuid import uuid4

import httpx
import psutil
import pytest

from app.settings import load_settings
from support.builders import store
from support.service import running
from support.service_process import Served, served


def samples(address: str | httpx.Client) -> dict[str, float]:
    text = (
        address.get("/metrics").text
        if isinstance(address, httpx.Client)
        else httpx.get(f"{address}/metrics").text
    )
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def await_pools(service: Served, size: int) -> None:
    """Readiness is the first worker's; the others may still be starting."""
    for _ in range(600):
        if samples(service.address).get("palimpsest_pool_size") == size:
            return
        time.sleep(0.1)
    raise AssertionError(service.log.read_text())


def find_worker(service: Served) -> psutil.Process:
    """One of the processes that answer calls."""
    children = psutil.Process(service.process.pid).children()
    return next(child for child in children if "spawn_main" in " ".join(child.cmdline()))


def test_requests_are_counted_and_timed_by_route_and_status(client: httpx.Client) -> None:
    ok, gone = (
        f'palimpsest_requests_total{{method="GET",route="/v1/memories/{{memory_id}}",status="{status}"}}'
        for status in (200, 404)
    )
    timed = 'palimpsest_request_seconds_count{route="/v1/memories/{memory_id}"}'
    before = samples(client)
    memory_id = store(client)["memory"]["id"]
    client.get(f"/v1/memories/{memory_id}")
    for _ in range(2):
        client.get(f"/v1/memories/{uuid4()}")
    after = samples(client)
    assert [after[name] - before.get(name, 0) for name in (ok, gone, timed)] == [1, 2, 3]


def test_a_store_that_a_frozen_agent_holds_back_is_counted_among_the_reviews(
    client: httpx.Client,
) -> None:
    client.patch(f"/v1/agents/{client.headers['X-Agent-Id']}", json={"mode": "frozen"})
    held = 'palimpsest_reviews_total{source="frozen"}'
    before = samples(client).get(held, 0)
    for tried in ({"dry_run": True}, {}):
        assert client.post("/v1/memories", json={"content": "Has a dog"} | tried).status_code == (
            200 if tried else 202
        )
    assert samples(client)[held] == before + 1


def test_what_callers_make_up_makes_no_new_series(client: httpx.Client) -> None:
    client.get("/nothing")
    client.request("BREW", "/v1/memories")
    before = samples(client)
    for _ in range(5):
        client.get(f"/{uuid4()}")
        client.get(f"/v1/{uuid4()}?q={uuid4()}")
        client.request(f"X{uuid4().hex[:8].upper()}", "/v1/memories")
    after = samples(client)
    assert {name for name in after if name.startswith("palimpsest_request")} == {
        name for name in before if name.startswith("palimpsest_request")
    }
    unmatched = 'palimpsest_requests_total{method="GET",route="unmatched",status="404"}'
    assert after[unmatched] == before[unmatched] + 10


def test_the_pool_and_the_queue_are_gauges(database_url: str) -> None:
    with running(load_settings(database_url=database_url, pool_size=3)) as address:
        httpx.get(f"{address}/v1/memories")
        now = samples(address)
    assert now["palimpsest_pool_size"] == 3
    assert now["palimpsest_pool_checked_out"] == now["palimpsest_pool_waiting"] == 0
    for kind in ("read", "write", "transfer"):
        assert now[f'palimpsest_queued{{kind="{kind}"}}'] == 0
        assert f'palimpsest_shed_total{{kind="{kind}",reason="queue_full"}}' in now


@pytest.mark.slow
def test_workers_are_counted_together_and_a_dead_one_is_forgotten(tmp_path: Path) -> None:
    with served(tmp_path, "--workers", "2", PALIMPSEST_POOL_SIZE="3") as service:
        await_pools(service, 6)
        for _ in range(20):
            assert httpx.get(f"{service.address}/v1/memories").status_code == 200
        now = samples(service.address)
        assert (
            now['palimpsest_requests_total{method="GET",route="/v1/memories",status="200"}'] == 20
        )
        victim = find_worker(service)
        victim.send_signal(signal.SIGKILL)
        # If it is killed while uvicorn waits for its answer, uvicorn waits out the whole minute.
        victim.wait(120)
        await_pools(service, 6)
        assert (
            samples(service.address)[
                'palimpsest_requests_total{method="GET",route="/v1/memories",status="200"}'
            ]
            == 20
        )
