"""Callers that write while a database is taken away from the service."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from threading import Event

import httpx

from support.service_process import Served

PATIENCE = 60  # seconds until a service works again, far more than it needs


def wait_until(holds: Callable[[], bool], patience: float = PATIENCE) -> None:
    deadline = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.05)


def is_ready(service: Served) -> bool:
    with suppress(httpx.HTTPError):
        return httpx.get(f"{service.address}/readyz", timeout=30).status_code == 200
    return False


def write_until(is_over: Event, service: Served, writer: int) -> set[str]:
    """Store facts, and return those that were acknowledged. A refusal is a 503."""
    acknowledged = set()
    with httpx.Client(base_url=service.address, timeout=60) as client:
        for number in range(100_000):
            if is_over.is_set():
                break
            fact = f"Writer {writer} has fact {number}"
            response = client.post("/v1/memories", json={"content": fact, "classify": False})
            assert response.status_code in {201, 503}, response.text
            if response.status_code == 201:
                acknowledged.add(fact)
    return acknowledged


@contextmanager
def four_writers(service: Served) -> Iterator[set[str]]:
    """Write while the block lasts. The yielded set is filled when it ends."""
    acknowledged: set[str] = set()
    is_over = Event()
    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write_until, is_over, service, number) for number in range(4)]
        try:
            yield acknowledged
        finally:
            is_over.set()
        for writer in writers:
            acknowledged |= writer.result()


def list_contents(service: Served) -> set[str]:
    listed: set[str] = set()
    params: dict[str, str] = {"limit": "1000"}
    while True:
        page = httpx.get(f"{service.address}/v1/memories", params=params, timeout=60).json()
        listed |= {memory["content"] for memory in page["items"]}
        if not page.get("next_cursor"):
            return listed
        params["cursor"] = page["next_cursor"]
