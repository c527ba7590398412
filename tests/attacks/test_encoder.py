"""F4: one caller's texts, however long, keep the encoder from nobody, and not after they hung up."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from statistics import median
from uuid import uuid4

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray

from app.embedding.local import MOST_WINDOWS, LocalEmbedder
from app.networks import FairThreads
from app.settings import load_settings
from support.builders import contents
from support.service import running

# The tokenizer makes a token of each of these characters.
HOSTILE = "\u0390" * 15_990
TEXTS = 40


class CountingEmbedder(LocalEmbedder):
    """Counts the windows that it encodes."""

    windows = 0

    def encode_window(self, tokens: NDArray[np.int64]) -> NDArray[np.float32]:
        self.windows += 1
        return super().encode_window(tokens)


@pytest.fixture
def embedder() -> Iterator[CountingEmbedder]:
    with closing(FairThreads(1)) as threads:
        yield CountingEmbedder(threads)


@pytest.fixture
def address(database_url: str, embedder: CountingEmbedder) -> Iterator[str]:
    with running(load_settings(database_url=database_url), embedder) as address:
        yield address


@pytest.fixture
def neighbour(address: str) -> Iterator[httpx.Client]:
    """A client with an agent of its own, which holds a few facts."""
    headers = {"X-Agent-Id": f"neighbour-{uuid4().hex}"}
    with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
        for animal in ("cat", "dog", "parrot"):
            assert client.post("/v1/memories", json={"content": f"Has a {animal}"}).is_success
        yield client


@pytest.fixture
def hostile(address: str, embedder: CountingEmbedder) -> Iterator[socket.socket]:
    """A caller whose batch keeps the encoder busy, until they hang up."""
    items = [{"content": f"{number} {HOSTILE}"} for number in range(TEXTS)]
    body = json.dumps({"items": items}).encode()
    head = (
        "POST /v1/memories/batch HTTP/1.1\r\nHost: localhost\r\nX-Agent-Id: hostile\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    url = httpx.URL(address)
    with socket.create_connection((url.host, url.port or 80), 10) as caller:
        # On a thread of its own: the service reads no faster than it can.
        threading.Thread(target=caller.sendall, args=(head.encode() + body,), daemon=True).start()
        await_windows(embedder, embedder.windows + 5)
        yield caller


def await_windows(embedder: CountingEmbedder, count: int) -> None:
    while embedder.windows < count:
        time.sleep(0.005)


def time_search(client: httpx.Client) -> float:
    started = time.perf_counter()
    assert client.post("/v1/search", json={"query": "pets"}).is_success
    return time.perf_counter() - started


def count_windows_of_search(embedder: CountingEmbedder, neighbour: httpx.Client) -> int:
    before = embedder.windows
    time_search(neighbour)
    return embedder.windows - before


def test_a_search_waits_for_a_window_of_the_others_and_not_for_a_text(
    neighbour: httpx.Client, embedder: CountingEmbedder, hostile: socket.socket
) -> None:
    assert hostile
    counts = [count_windows_of_search(embedder, neighbour) for _ in range(9)]
    # Besides its own: the one under way, and those encoded while the database searches.
    assert median(counts) < MOST_WINDOWS / 2
    assert max(counts) > 1  # the batch was encoded meanwhile


def test_the_work_of_a_caller_who_hung_up_is_dropped(
    neighbour: httpx.Client, embedder: CountingEmbedder, hostile: socket.socket
) -> None:
    hostile.close()
    deadline = time.monotonic() + 30
    while count_windows_of_search(embedder, neighbour) > 1:
        assert time.monotonic() < deadline, "the batch is still encoded"
    assert embedder.windows < TEXTS * MOST_WINDOWS
    assert contents(neighbour) == {"Has a cat", "Has a dog", "Has a parrot"}
    with httpx.Client(base_url=neighbour.base_url, headers={"X-Agent-Id": "hostile"}) as agent:
        assert contents(agent) == set()


def test_a_write_whose_caller_hangs_up_later_is_whole(
    neighbour: httpx.Client, address: str
) -> None:
    """Whoever hangs up has all items or none, whenever it was."""
    url = httpx.URL(address)
    for place, pause in enumerate((0.0, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16)):
        agent = f"leaves-{place}"
        items = [{"content": f"Owns book number {number}"} for number in range(4)]
        body = json.dumps({"items": items})
        with socket.create_connection((url.host, url.port or 80), 10) as caller:
            caller.sendall(
                (
                    "POST /v1/memories/batch HTTP/1.1\r\nHost: localhost\r\n"
                    f"X-Agent-Id: {agent}\r\nContent-Type: application/json\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n{body}"
                ).encode()
            )
            time.sleep(pause)
        time_search(neighbour)
    time.sleep(0.5)
    for place in range(7):
        with httpx.Client(base_url=address, headers={"X-Agent-Id": f"leaves-{place}"}) as agent:
            assert len(contents(agent)) in (0, 4)
