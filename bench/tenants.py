"""What each attack of one key costs another key: its stores, searches, events, imports, exports and deliveries."""

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from statistics import median

import httpx

from bench.attacks import ATTACKS
from bench.client import read_request
from bench.figures import Report, p95
from bench.overload import start_service
from bench.sentences import questions, sentences
from bench.servers import ROOT
from bench.world import World

ROOT_KEY = "root-key-of-the-bench-of-tenants-0123456789"
SECONDS = 30.0
# Seconds after which an attack counts as begun.
HEAD_START = 3.0
SETTINGS = {
    "PALIMPSEST_API_KEY": ROOT_KEY,
    "PALIMPSEST_WEBHOOKS_ALLOW_HTTP": "true",
    "PALIMPSEST_WEBHOOKS_ALLOW_PRIVATE": "true",
}


def measure(report: Report, world: World, *, seconds: float = SECONDS) -> None:
    """Writes a section: each kind of call of a key, alone and beside each attack of another one."""
    rows = []
    for name in ATTACKS:
        with start_service(world.url, **SETTINGS) as (port, _):
            rows += asyncio.run(_measure_attack(port, name, seconds))
    report.section(
        "Tenants",
        f"A key makes calls of six kinds in turns for {seconds:g} s, alone and beside the attack of another key, whose process shares "
        "the machine with low priority. p95 in milliseconds at the client; a delivery from the store to the receiver, events from the "
        "store to the answer of a poll. Goal: within 3 times idle, none refused.",
        [
            "attack",
            "call",
            "p50 idle",
            "beside",
            "p95 idle",
            "beside",
            "p95 ratio",
            "calls",
            "refused",
        ],
        rows,
    )


async def _measure_attack(port: int, name: str, seconds: float) -> list[list[str]]:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
        evil = await _issue_key(client, "evil")
        victim = await Victim.create(client, await _issue_key(client, "victim"))
        await _fill_agent(client, evil, "evil/big", 1_000)
        async with victim.receive():
            await victim.call_for(3)
            idle = await victim.call_for(seconds / 2)
            victim.refused = 0
            with _attacking(name, port, evil, HEAD_START + seconds):
                await asyncio.sleep(HEAD_START)
                beside = await victim.call_for(seconds)
    rows = []
    for call in idle:
        quiet, loud = idle[call], beside[call]
        values = (median(quiet), median(loud), p95(quiet), p95(loud))
        rows.append(
            [name, call]
            + [f"{value * 1e3:.0f}" for value in values]
            + [f"**{values[3] / values[2]:.1f}**", str(len(loud)), str(victim.refused)]
        )
    return rows


@contextmanager
def _attacking(name: str, port: int, key: str, seconds: float) -> Iterator[None]:
    command = [sys.executable, "-m", "bench.attacks", name, str(port), key, str(seconds)]
    process = subprocess.Popen(command, cwd=ROOT, env=os.environ)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


async def _issue_key(client: httpx.AsyncClient, name: str) -> str:
    body = {"name": name, "scopes": ["read", "write", "admin"], "agents": [f"{name}/*"]}
    answer = await client.post("/v1/keys", json=body, headers=_authorize(ROOT_KEY))
    answer.raise_for_status()
    key: str = answer.json()["key"]
    return key


async def _fill_agent(client: httpx.AsyncClient, key: str, agent: str, count: int) -> None:
    lines = "\n".join(json.dumps({"content": text}) for text in sentences(count))
    headers = _authorize(key, agent) | {"Content-Type": "application/x-ndjson"}
    (await client.post("/v1/import", content=lines, headers=headers)).raise_for_status()


def _authorize(key: str, agent: str = "default") -> dict[str, str]:
    return {"Authorization": f"Bearer {key}", "X-Agent-Id": agent}


class Victim:
    """A key that makes a call of each kind in turns, a little slower than it could."""

    def __init__(self, client: httpx.AsyncClient, key: str) -> None:
        self._client = client
        self._key = key
        self._arrivals: asyncio.Queue[float] = asyncio.Queue()
        self._questions = questions(500)
        self._number = 0
        self._random = random.Random(1)
        self.refused = 0

    @classmethod
    async def create(cls, client: httpx.AsyncClient, key: str) -> "Victim":
        await _fill_agent(client, key, "victim/big", 300)
        return cls(client, key)

    def receive(self) -> "_Receiver":
        return _Receiver(self)

    async def call_for(self, seconds: float) -> dict[str, list[float]]:
        """The seconds that each call took, by its name."""
        calls: dict[str, Callable[[], Awaitable[float | None]]] = {
            "store": self._store,
            "search": self._search,
            "events": self._follow,
            "import": self._import,
            "export": self._export,
            "delivery": self._await_delivery,
        }
        taken: dict[str, list[float]] = {name: [] for name in calls}
        end = time.monotonic() + seconds
        while time.monotonic() < end or not all(taken.values()):
            self._number += 1
            for name, call in calls.items():
                seconds_taken = await call()
                if seconds_taken is not None:
                    taken[name].append(seconds_taken)
                await asyncio.sleep(0.02)
        return taken

    async def _ask(self, method: str, path: str, agent: str, **body: object) -> float:
        started = time.perf_counter()
        headers = _authorize(self._key, agent)
        if "content" in body:
            headers["Content-Type"] = "application/x-ndjson"
        answer = await self._client.request(method, path, headers=headers, **body)  # type: ignore[arg-type]
        if answer.status_code >= 400:
            self.refused += 1
            print(path, answer.status_code, answer.text[:200], file=sys.stderr)
        return time.perf_counter() - started

    async def _store(self) -> float:
        return await self._ask("POST", "/v1/memories", "victim/a", json=self._build_fact())

    def _build_fact(self) -> dict[str, str]:
        return {
            "content": f"Ticket {time.monotonic_ns()} is about {self._questions[self._number % 500]}"
        }

    async def _search(self) -> float:
        query = {"query": self._questions[self._number % 500]}
        return await self._ask("POST", "/v1/search", "victim/big", json=query)

    async def _follow(self) -> float:
        poll = asyncio.create_task(
            self._ask("GET", "/v1/events?after=latest&wait=30", "victim/events")
        )
        await asyncio.sleep(0.2)
        started = time.perf_counter()
        await self._ask("POST", "/v1/memories", "victim/events", json=self._build_fact())
        await poll
        return time.perf_counter() - started

    async def _import(self) -> float:
        lines = "\n".join(json.dumps(self._build_fact()) for _ in range(20))
        return await self._ask("POST", "/v1/import", "victim/imports", content=lines)

    async def _export(self) -> float:
        return await self._ask("GET", "/v1/export?vectors=false", "victim/big")

    async def _await_delivery(self) -> float | None:
        if self._number % 3:  # it takes a second
            return None
        while not self._arrivals.empty():
            self._arrivals.get_nowait()
        # The service looks once a second what is to be sent, at any time of this one's rounds.
        await asyncio.sleep(self._random.random())
        started = time.perf_counter()
        await self._ask("POST", "/v1/memories", "victim/hook", json=self._build_fact())
        try:
            async with asyncio.timeout(60):
                return await self._arrivals.get() - started
        except TimeoutError:
            self.refused += 1
            return 60.0

    async def take_delivery(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with suppress(asyncio.IncompleteReadError):
            while True:
                await read_request(reader)
                self._arrivals.put_nowait(time.perf_counter())
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    async def subscribe(self, port: int) -> None:
        body = {"url": f"http://127.0.0.1:{port}/", "agents": "victim/hook"}
        await self._ask("POST", "/v1/webhooks", "victim/hook", json=body)


class _Receiver:
    """The receiver of a victim's webhook, during the block."""

    def __init__(self, victim: Victim) -> None:
        self._victim = victim

    async def __aenter__(self) -> None:
        self._server = await asyncio.start_server(self._victim.take_delivery, "127.0.0.1", 0)
        await self._victim.subscribe(self._server.sockets[0].getsockname()[1])

    async def __aexit__(self, *problem: object) -> None:
        self._server.close()
