"""What is left of the service when ten times as much is asked of it as it can do: answers per second, and memory."""

import asyncio
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import psutil
import uvloop

from bench.figures import Report, p95
from bench.sentences import questions, sentences
from bench.servers import ROOT, await_port, free_port
from bench.world import World

TIMES = 10
STORES = 5  # one of so many requests stores, the others search
WRITERS = 20
MOST_CONNECTIONS = 2_000
TICK = 0.005


@dataclass(slots=True)
class Load:
    """What came back while a load was on: seconds of each answer by its status."""

    seconds: float
    sent: int = 0
    late: int = 0
    cpu: float = 0.0
    taken: dict[int, list[float]] = field(default_factory=dict)

    @property
    def good(self) -> list[float]:
        return [
            seconds
            for status, all_of_it in self.taken.items()
            if 200 <= status < 300
            for seconds in all_of_it
        ]

    @property
    def goodput(self) -> float:
        """Good answers per second."""
        return len(self.good) / self.seconds

    @property
    def per_cpu_second(self) -> float:
        """Good answers per second that the service's process was running: what neighbours on the machine take is left out."""
        return len(self.good) / self.cpu

    def count(self, status: int) -> int:
        return len(self.taken.get(status, ()))


def measure(report: Report, world: World, *, seconds: float, rounds: int) -> None:
    """Writes a section: the most that waiting callers get out of the service, and what is left at ten times that."""
    rows = []
    for _ in range(rounds):
        with start_service(world.url) as (port, process):
            rows.append(uvloop.run(_round(port, process, seconds)))
    report.section(
        "Overload",
        "Four searches for each store. Peak: as many callers who wait for their answers as get most (of 8, 16, 32), "
        f"{seconds:g} s before and after. Between: {TIMES} times that for {seconds * 2:g} s from a process that does not wait, over at "
        f"most {MOST_CONNECTIONS:,} connections. Goal: goodput (good answers per second) at least 0.8 of the peak, memory bounded. What is "
        "said per CPU second of the service's process leaves out what other work on the machine took.",
        [
            "peak/s",
            "offered/peak",
            "goodput/peak",
            "per CPU second/peak",
            "refused",
            "failed",
            "p95 at peak ms",
            "p95 of the good",
            "MB before",
            "most",
            "after",
        ],
        rows,
    )


async def _round(port: int, process: psutil.Process, seconds: float) -> list[str]:
    await _closed(port, 8, 1.0)  # warms up
    tried = {callers: await _closed(port, callers, seconds / 2) for callers in (8, 16, 32)}
    best = max(tried, key=lambda callers: tried[callers].goodput)
    first = await _worked(process, _closed(port, best, seconds))
    before = _megabytes(process)
    under_way: set[asyncio.Task[None]] = set()
    async with _watched(process) as memory:
        over = await _worked(process, _open(port, first.goodput * TIMES, seconds * 2, under_way))
        await asyncio.wait(under_way, timeout=15)
    second = await _worked(process, _closed(port, best, seconds))
    peak = Load(
        first.seconds + second.seconds,
        cpu=first.cpu + second.cpu,
        taken={200: [*first.good, *second.good]},
    )
    failed = over.sent - len(over.good) - over.late - over.count(503)
    return [
        f"{peak.goodput:.0f}",
        f"{over.sent / over.seconds / peak.goodput:.1f}",
        f"**{over.goodput / peak.goodput:.2f}**",
        f"{over.per_cpu_second / peak.per_cpu_second:.2f}",
        f"{over.count(503):,}",
        f"{failed:,}",
        f"{p95(peak.good) * 1e3:.0f}",
        f"{p95(over.good) * 1e3:.0f}",
        *(f"{size:.0f}" for size in (before, max(memory), _megabytes(process))),
    ]


async def _worked(process: psutil.Process, load: Awaitable[Load]) -> Load:
    """A load with the processor time that the service spent on it."""
    before = sum(process.cpu_times()[:2])
    result = await load
    result.cpu = sum(process.cpu_times()[:2]) - before
    return result


async def _closed(port: int, callers: int, seconds: float) -> Load:
    """So many callers, each of whom asks again when answered."""
    load, requests, end = Load(seconds), _requests(), time.perf_counter() + seconds

    async def call() -> None:
        connection = await _connect(port)
        while time.perf_counter() < end:
            await _send(connection, next(requests), load, end)
        connection.close()

    await asyncio.gather(*(call() for _ in range(callers)))
    return load


async def _open(port: int, rate: float, seconds: float, under_way: set[asyncio.Task[None]]) -> Load:
    """So many requests a second, whatever comes back; those without an answer at the end stay under way."""
    load, requests = Load(seconds), _requests()
    free: list[_Connection] = []
    started = time.perf_counter()
    end = started + seconds

    async def call(request: bytes) -> None:
        connection = free.pop() if free else await _connect(port)
        await _send(connection, request, load, end)
        free.append(connection)

    begun = 0
    while (now := time.perf_counter()) < end:
        due = int((now - started) * rate)
        for _ in range(due - begun):
            if len(under_way) < MOST_CONNECTIONS:
                task = asyncio.create_task(call(next(requests)))
                under_way.add(task)
                task.add_done_callback(under_way.discard)
        begun = due
        await asyncio.sleep(TICK)
    return load


async def _send(connection: "_Connection", request: bytes, load: Load, end: float) -> None:
    started = time.perf_counter()
    load.sent += 1
    try:
        status = await connection.ask(request)
    except ConnectionError:
        status = 0
    now = time.perf_counter()
    if now > end and 200 <= status < 300:
        load.late += 1
    else:
        load.taken.setdefault(status, []).append(now - started)


class _Connection(asyncio.Protocol):
    """One kept connection; expects a Content-Length."""

    def __init__(self) -> None:
        self._received = bytearray()
        self._answer: asyncio.Future[int] | None = None
        self._transport: Any

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._received[:end])
        length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
        if len(self._received) >= end + 4 + length and self._answer:
            self._received.clear()
            answer, self._answer = self._answer, None
            answer.set_result(int(head[9:12]))

    def connection_lost(self, _error: Exception | None) -> None:
        if self._answer and not self._answer.done():
            self._answer.set_exception(ConnectionError())

    def ask(self, request: bytes) -> asyncio.Future[int]:
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return self._answer

    def close(self) -> None:
        self._transport.close()


async def _connect(port: int) -> _Connection:
    _, connection = await asyncio.get_running_loop().create_connection(
        _Connection, "127.0.0.1", port
    )
    return connection


def _requests() -> Iterator[bytes]:
    """The mix, for ever: texts are used again under another number."""
    texts, asked = sentences(2_000), questions(400)
    for number in itertools.count():
        if number % STORES == 0:
            text = f"{texts[number % len(texts)]} Ticket {os.getpid()}-{time.monotonic_ns()}."
            yield _post("/v1/memories", {"content": text}, f"writer-{number % WRITERS}")
        else:
            yield _post(
                "/v1/search", {"query": asked[number % len(asked)], "limit": 10}, World.SMALL
            )


def _post(path: str, body: dict[str, object], agent: str) -> bytes:
    content = json.dumps(body).encode()
    head = [
        "Host: x",
        f"X-Agent-Id: {agent}",
        "Content-Type: application/json",
        f"Content-Length: {len(content)}",
    ]
    return "\r\n".join([f"POST {path} HTTP/1.1", *head, "", ""]).encode() + content


@contextmanager
def start_service(url: str, **settings: str) -> Iterator[tuple[int, psutil.Process]]:
    """`palimpsest serve` as it is, with its log in a file."""
    port = free_port()
    command = [sys.executable, "-m", "app.cli", "serve", "--port", str(port)]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=os.environ | {"PALIMPSEST_DATABASE_URL": url} | settings,
            stdout=log,
            stderr=log,
        )
        try:
            await_port(port, process, "palimpsest serve")
            yield port, psutil.Process(process.pid)
        finally:
            process.terminate()
            process.wait(60)


@asynccontextmanager
async def _watched(process: psutil.Process) -> AsyncIterator[list[float]]:
    """Megabytes of memory, looked at five times a second."""
    sizes = [_megabytes(process)]

    async def watch() -> None:
        while True:
            sizes.append(_megabytes(process))
            await asyncio.sleep(0.2)

    task = asyncio.create_task(watch())
    yield sizes
    task.cancel()


def _megabytes(process: psutil.Process) -> float:
    size: int = process.memory_info().rss
    return size / 2**20
