"""F3: nothing that a caller sends keeps the event loop from others for long.

The probe counts the processor time that the loop's thread spends between two of its turns. Other
work of the machine does not count, so a bound of ten times the goal of 50 ms never fails by chance.
"""

import asyncio
import gc
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from app.main import create_app
from app.settings import load_settings
from support.transfers import NDJSON

MOST_SECONDS = 0.5
JSON = {"Content-Type": "application/json"}


@asynccontextmanager
async def open_client(database_url: str) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(load_settings(database_url=database_url))
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=120) as client,
    ):
        await client.post("/v1/memories", json={"content": "Has a cat"})
        yield client


@asynccontextmanager
async def watch_loop() -> AsyncIterator[list[float]]:
    """Yield the seconds of processor time of every stretch in which nobody else had a turn."""
    stretches: list[float] = []

    async def tick() -> None:
        before = time.thread_time()
        while True:
            await asyncio.sleep(0.001)
            now = time.thread_time()
            stretches.append(now - before)
            before = now

    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0.01)
    try:
        yield stretches
    finally:
        await asyncio.sleep(0.01)
        ticking.cancel()
        with suppress(asyncio.CancelledError):
            await ticking


def measure_stretch(
    database_url: str, call: Callable[[httpx.AsyncClient], Awaitable[httpx.Response]]
) -> tuple[float, httpx.Response]:
    """Return the longest stretch during the call, and its answer.

    The garbage of the other tests, which no service has, is not looked through meanwhile.
    """

    async def run() -> tuple[float, httpx.Response]:
        async with open_client(database_url) as client:
            async with watch_loop() as stretches:
                response = await call(client)
            return max(stretches), response

    gc.collect()
    gc.freeze()
    try:
        return asyncio.run(run())
    finally:
        gc.unfreeze()


def build_unknown_fields(count: int) -> str:
    return ",".join(f'"k{number}":1' for number in range(count))


def build_batches() -> dict[str, str]:
    unknown = build_unknown_fields(1_000_000)
    item = f'{{"content":"x",{build_unknown_fields(95)}}}'
    return {
        "one item of a million unknown fields": f'{{"items":[{{"content":"x",{unknown}}}]}}',
        "a million unknown fields": f'{{"items":[{{"content":"x"}}],{unknown}}}',
        "items of unknown fields": f'{{"items":[{",".join([item] * 1_000)}]}}',
        "nulls": f'{{"items":[{",".join(["null"] * 3_000_000)}]}}',
        "lists of lists": f'{{"items":[{",".join(["[" * 200 + "]" * 200] * 30_000)}]}}',
    }


BATCHES = build_batches()


@pytest.mark.parametrize("name", BATCHES)
def test_no_batch_keeps_the_loop_busy(database_url: str, name: str) -> None:
    body = BATCHES[name].encode()
    assert len(body) < 16 * 2**20
    stretch, response = measure_stretch(
        database_url,
        lambda client: client.post("/v1/memories/batch", content=body, headers=JSON),
    )
    assert response.status_code in (200, 413, 422)
    assert stretch < MOST_SECONDS


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/search", "/v1/reverts", "/v1/erasures"])
def test_no_unknown_fields_keep_the_loop_busy(database_url: str, path: str) -> None:
    body = f'{{"content":"x","query":"x",{build_unknown_fields(24_000)}}}'.encode()
    stretch, response = measure_stretch(
        database_url, lambda client: client.post(path, content=body, headers=JSON)
    )
    assert response.status_code == 422
    assert "100 fields" in response.json()["detail"]
    assert stretch < MOST_SECONDS


def test_no_unknown_parameters_keep_the_loop_busy(database_url: str) -> None:
    query = "&".join(f"k{number}=" for number in range(8_000))
    stretch, response = measure_stretch(
        database_url, lambda client: client.get(f"/v1/search?q=x&{query}")
    )
    assert response.status_code == 422
    assert stretch < MOST_SECONDS


def test_no_details_keep_the_loop_busy(database_url: str) -> None:
    details = {f"{number:x}": 0 for number in range(20_000)}
    stretch, response = measure_stretch(
        database_url,
        lambda client: client.post("/v1/memories", json={"content": "x", "details": details}),
    )
    assert response.status_code == 422
    assert stretch < MOST_SECONDS


async def stream_blank_lines() -> AsyncIterator[bytes]:
    """Yield three million blank lines in pieces of the size that a server passes on."""
    for _ in range(46):
        yield b"\n" * 65_536


def test_no_blank_lines_keep_the_loop_busy(database_url: str) -> None:
    seconds = []

    async def send(client: httpx.AsyncClient) -> httpx.Response:
        started = time.thread_time()
        response = await client.post("/v1/import", content=stream_blank_lines(), headers=NDJSON)
        seconds.append(time.thread_time() - started)
        return response

    stretch, response = measure_stretch(database_url, send)
    assert response.status_code in (200, 422)
    assert stretch < MOST_SECONDS
    assert seconds[0] < 10


def test_no_line_of_unknown_fields_keeps_the_loop_busy(database_url: str) -> None:
    line = f'{{"content":"x",{build_unknown_fields(70_000)}}}\n'.encode()
    assert len(line) < 2**20
    stretch, response = measure_stretch(
        database_url, lambda client: client.post("/v1/import", content=line, headers=NDJSON)
    )
    assert response.status_code == 422
    assert stretch < MOST_SECONDS


# Texts that one reading or another once took quadratic time for.
SLOW_UNITS = ["A ", "1/1/", "A\u200b", ") ", "Anna ", "is ", "Mr. ", "and i "]


@pytest.mark.parametrize("unit", SLOW_UNITS)
def test_no_text_among_ten_alike_keeps_the_loop_busy(database_url: str, unit: str) -> None:
    text = (unit * 2_000)[:1_980]

    async def store_among_alike(client: httpx.AsyncClient) -> httpx.Response:
        items = [{"content": f"{text} {number}", "classify": False} for number in range(10)]
        assert (await client.post("/v1/memories/batch", json={"items": items})).is_success
        return await client.post("/v1/memories", json={"content": f"{text} end"})

    stretch, response = measure_stretch(database_url, store_among_alike)
    assert response.is_success
    assert stretch < MOST_SECONDS


async def fill_slot(client: httpx.AsyncClient, count: int) -> None:
    """Import one chain of so many versions, an hour each."""
    start = datetime(2000, 1, 1, tzinfo=UTC)
    lines: list[str] = []
    for number in range(count):
        line = {"content": f"Level {number}", "key": "level", "value": str(number)}
        line["valid_from"] = (start + timedelta(hours=number)).isoformat()
        lines.append(json.dumps(line))
    response = await client.post("/v1/import", content="\n".join(lines), headers=NDJSON)
    assert response.is_success


def build_values(count: int) -> dict[str, Any]:
    """Build a batch of values of one slot."""
    items = [{"content": f"At {n}", "key": "level", "value": f"at {n}"} for n in range(count)]
    return {"items": items}


def test_no_batch_of_one_slot_keeps_the_loop_busy(database_url: str) -> None:
    stretch, response = measure_stretch(
        database_url, lambda client: client.post("/v1/memories/batch", json=build_values(1_000))
    )
    assert response.is_success
    assert stretch < MOST_SECONDS


def test_no_long_chain_keeps_the_loop_busy(database_url: str) -> None:
    """Each of these calls reads all versions of the chain."""

    async def call_each(client: httpx.AsyncClient) -> httpx.Response:
        await fill_slot(client, 6_000)
        response = await client.post("/v1/memories/batch", json=build_values(50))
        memory = f"/v1/memories/{response.json()['results'][-1]['memory']['id']}"
        for answer in (
            await client.patch(memory, json={"tags": ["high"]}),
            await client.post(f"{memory}/supersede", json={"content": "At the end"}),
            await client.get(f"{memory}/why"),
            await client.get(f"{memory}/history"),
            await client.get("/v1/context"),
        ):
            assert answer.is_success
        return response

    stretch, response = measure_stretch(database_url, call_each)
    assert response.is_success
    assert stretch < MOST_SECONDS
