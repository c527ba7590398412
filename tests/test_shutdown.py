"""SIGTERM: told first, then what is under way ends, then everything else."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from support.scripted_model import ScriptedModel, judges, knows
from support.service_process import Served, served

pytestmark = pytest.mark.slow

SLOW = replace(judges(), delay=4.0)


def readiness(service: Served) -> int | None:
    """The status of /readyz; None where nobody listens any more."""
    try:
        return httpx.get(f"{service.address}/readyz", timeout=30).status_code
    except httpx.TransportError:
        return None


def until(holds: Callable[[], bool]) -> None:
    for _ in range(1000):
        if holds():
            return
        time.sleep(0.02)
    raise AssertionError("it never happened")


@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_under_way_ends_well_while_readiness_is_withdrawn(
    data_folder: Path, workers: int
) -> None:
    with (
        ScriptedModel(knows) as model,
        served(
            data_folder,
            "--workers",
            str(workers),
            PALIMPSEST_LLM_BASE_URL=model.url,
            PALIMPSEST_SHUTDOWN_DELAY="2",
        ) as service,
        httpx.Client(base_url=service.address, timeout=60) as client,
        ThreadPoolExecutor(1) as pool,
    ):
        until(lambda: len(model.requests) >= 3 * workers)  # each checked the model
        model.then(SLOW)
        assert (
            client.post(
                "/v1/memories", json={"content": "Has a dog", "classify": False}
            ).status_code
            == 201
        )
        slow = pool.submit(
            httpx.post,
            f"{service.address}/v1/memories",
            json={"content": "Has a pet", "classify": "model"},
            timeout=60,
        )
        until(lambda: bool(model.requests))
        assert (data_folder / "postgres" / "postmaster.pid").exists()
        service.process.terminate()
        until(lambda: readiness(service) == 503)
        assert not slow.done()
        answered = httpx.post(
            f"{service.address}/v1/memories", json={"content": "Has a cat", "classify": False}
        )
        assert answered.status_code == 201, (
            "whoever comes before the balancer has noticed is served"
        )
        assert slow.result(60).status_code == 201
        assert service.process.wait(60) == 0
        assert readiness(service) is None
    assert not (data_folder / "postgres" / "postmaster.pid").exists(), (
        "the embedded Postgres has been stopped"
    )
    assert "exception" not in service.log.read_text()


def test_what_takes_longer_than_it_may_is_given_up(data_folder: Path) -> None:
    with (
        ScriptedModel(knows) as model,
        served(
            data_folder,
            PALIMPSEST_LLM_BASE_URL=model.url,
            PALIMPSEST_LLM_TOTAL_TIMEOUT="60",
            PALIMPSEST_SHUTDOWN_TIMEOUT="1",
        ) as service,
        ThreadPoolExecutor(1) as pool,
    ):
        until(lambda: len(model.requests) >= 3)  # the check of the model
        model.then(replace(SLOW, delay=60.0))
        address = f"{service.address}/v1/memories"
        httpx.post(address, json={"content": "Has a dog", "classify": False})
        slow = pool.submit(
            httpx.post, address, json={"content": "Has a pet", "classify": "model"}, timeout=60
        )
        until(lambda: bool(model.requests))
        assert service.stop() == 0
        assert (
            isinstance(slow.exception(60), httpx.TransportError) or slow.result().status_code >= 500
        )
