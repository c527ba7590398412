"""`python -m bench.soak [--minutes 60]`: calls at a steady pace while keys rotate, workers are killed and the database restarts.

At the end every acknowledged write is looked for, and the doctor looks at every agent. Prints a JSON object.
"""

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psutil

from bench.servers import free_port

ROOT_KEY = "root-key-of-the-soak-0123456789abcdef"
AGENTS = [f"soak/{number}" for number in range(1, 7)]
CALLS_PER_SECOND = 6
OVERLAP = 20  # seconds for which a replaced key still works
# Shares of the run. Processes are killed until the last one.
ROTATE_EVERY, KILL_EVERY = 0.07, 0.11
DATABASE_DIES_AT, DATABASE_STOPS_AT, KILLS_END_AT = 0.25, 0.5, 0.6


@dataclass
class Soak:
    """What was acknowledged, and what was seen."""

    address: str
    process: psutil.Process
    seconds: float
    key: str = ""
    stored: dict[str, str] = field(default_factory=dict)
    erased: set[str] = field(default_factory=set)
    answers: Counter[str] = field(default_factory=Counter)
    events: list[str] = field(default_factory=list)
    durations: list[tuple[float, float]] = field(default_factory=list)
    memory: list[tuple[float, float]] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    @property
    def age(self) -> float:
        return time.monotonic() - self.started

    def note(self, event: str) -> None:
        self.events.append(f"{self.age:.0f} s: {event}")
        print(self.events[-1], file=sys.stderr, flush=True)

    # --- calls -----------------------------------------------------------------------------------

    def call(
        self, method: str, path: str, agent: str, body: Any = None, key: str | None = None
    ) -> httpx.Response:
        """Repeat the call until it is answered; it has an Idempotency-Key of its own."""
        idempotency = {"Idempotency-Key": uuid4().hex} if method != "GET" else {}
        for _ in range(120):
            headers = {"X-Agent-Id": agent, "X-API-Key": key or self.key, **idempotency}
            started = time.monotonic()
            try:
                response = httpx.request(
                    method, self.address + path, headers=headers, json=body, timeout=60
                )
            except httpx.TransportError as error:
                self.answers[type(error).__name__] += 1
            else:
                self.answers[f"{method} {response.status_code}"] += 1
                if response.status_code not in (401, 429, 503):
                    self.durations.append((self.age, time.monotonic() - started))
                    return response
            time.sleep(1)
        raise RuntimeError(f"{method} {path} was not answered within two minutes")

    def make_call(self, number: int) -> None:
        chance = random.Random(number)
        agent, kind = chance.choice(AGENTS), chance.random()
        own = [memory for memory, of in list(self.stored.items()) if of == agent]
        if kind < 0.40 or not own:
            fact = f"Person {chance.randrange(400)} likes {chance.choice(THINGS)} {number}"
            self.keep(self.call("POST", "/v1/memories", agent, {"content": fact}), agent)
        elif kind < 0.75:
            self.call("POST", "/v1/search", agent, {"query": f"What does person {number} like?"})
        elif kind < 0.85:
            self.call("GET", "/v1/memories?limit=20", agent)
        elif kind < 0.93:
            path = f"/v1/memories/{chance.choice(own)}/supersede"
            body = {"content": f"Likes {chance.choice(THINGS)} now, as of call {number}"}
            self.keep(self.call("POST", path, agent, body), agent)
        elif kind < 0.97:
            self.revert_last(agent)
        else:
            self.erase(chance.choice(own), agent)

    def keep(self, response: httpx.Response, agent: str) -> None:
        if response.is_success and (memory := response.json()["memory"]):
            self.stored[memory["id"]] = agent

    def revert_last(self, agent: str) -> None:
        items = self.call("GET", "/v1/log?limit=1", agent).json()["items"]
        if items:
            self.call("POST", f"/v1/log/{items[0]['id']}/revert", agent)

    def erase(self, memory: str, agent: str) -> None:
        response = self.call("DELETE", f"/v1/memories/{memory}?erase=true&cascade=true", agent)
        if response.is_success:
            self.erased.update([memory, *response.json().get("erased", [])])

    # --- what goes wrong -------------------------------------------------------------------------

    def issue_key(self) -> None:
        body = {
            "name": "soak",
            "scopes": ["read", "write", "review", "erase"],
            "agents": ["soak/*"],
        }
        self.key = self.call("POST", "/v1/keys", "root", body, ROOT_KEY).json()["key"]

    def rotate_key(self) -> None:
        old = self.key
        path = f"/v1/keys/{old.split('_')[1]}/rotate"
        self.key = self.call("POST", path, "root", {"overlap": OVERLAP}, ROOT_KEY).json()["key"]
        time.sleep(OVERLAP + 2)
        response = httpx.get(f"{self.address}/v1/memories", headers={"X-API-Key": old}, timeout=60)
        self.note(f"the key was rotated; the old one is answered {response.status_code}")
        assert response.status_code in (401, 503), response.text

    def kill(self, words: tuple[str, ...], how: signal.Signals, name: str) -> None:
        found = [child for child in self.process.children(recursive=True) if matches(child, words)]
        if not found:
            self.note(f"no {name} to end")
            return
        random.choice(found).send_signal(how)
        self.note(f"{how.name} to {name}, one of {len(found)}")

    def disturb(self) -> None:
        """Rotate keys, kill workers and restart the database until the time is over."""
        last_rotation, kills = 0.0, 0
        is_killed = is_stopped = False
        while self.age < self.seconds:
            time.sleep(2)
            if self.age > last_rotation + ROTATE_EVERY * self.seconds:
                last_rotation = self.age
                self.rotate_key()
            if (
                self.age > (kills + 1) * KILL_EVERY * self.seconds
                and self.age < KILLS_END_AT * self.seconds
            ):
                kills += 1
                words, name = WORKERS[kills % 2]
                self.kill(words, signal.SIGKILL, name)
            if not is_killed and self.age > DATABASE_DIES_AT * self.seconds:
                is_killed = True
                self.end_database(signal.SIGKILL)
            if not is_stopped and self.age > DATABASE_STOPS_AT * self.seconds:
                is_stopped = True
                self.end_database(signal.SIGINT)

    def end_database(self, how: signal.Signals) -> None:
        pid = find_postmaster(self.process)
        os.kill(pid, how)
        self.note(f"{how.name} to Postgres")

    def watch(self) -> None:
        while self.age < self.seconds:
            self.memory.append((self.age, measure_memory(self.process)))
            time.sleep(10)

    # --- the end ---------------------------------------------------------------------------------

    def find_lost(self) -> list[str]:
        lost = []
        for memory, agent in self.stored.items():
            status = self.call("GET", f"/v1/memories/{memory}", agent).status_code
            if status != 200 and memory not in self.erased:
                lost.append(memory)
        return lost

    def examine(self) -> dict[str, Any]:
        return {
            agent: self.call("GET", "/v1/doctor", agent, key=ROOT_KEY).json()["problems"]
            for agent in AGENTS
        }

    def median_by_sixth(self, samples: list[tuple[float, float]]) -> list[float]:
        sixths: list[list[float]] = [[] for _ in range(6)]
        for age, value in samples:
            sixths[min(5, int(6 * age / self.seconds))].append(value)
        return [round(statistics.median(values), 4) if values else 0.0 for values in sixths]


THINGS = "coffee tea jazz hiking chess Porto Lisbon Vim Emacs cats dogs rain snow curry".split()
WORKERS = (
    (("multiprocessing", "spawn"), "a process of the service"),
    (("worker",), "the worker of sweeps"),
)


def matches(process: psutil.Process, words: tuple[str, ...]) -> bool:
    try:
        line = " ".join(process.cmdline())
    except psutil.Error:
        return False
    return all(word in line for word in words) and "resource_tracker" not in line


def find_postmaster(process: psutil.Process) -> int:
    folder = Path(process.environ()["PALIMPSEST_DATA_DIR"])
    [pidfile] = folder.rglob("postmaster.pid")
    return int(pidfile.read_text().split()[0])


def measure_memory(process: psutil.Process) -> float:
    """Return the MiB of the service's processes, Postgres apart."""
    total = 0
    for one in [process, *process.children(recursive=True)]:
        try:
            if "postgres" not in one.name():
                total += one.memory_info().rss
        except psutil.Error:
            continue
    return total / 2**20


def run(minutes: float, folder: Path) -> dict[str, Any]:
    port = free_port()
    command = [sys.executable, "-m", "app.cli", "serve", "--port", str(port), "--workers", "2"]
    environment = os.environ | {
        "PALIMPSEST_DATA_DIR": str(folder),
        "PALIMPSEST_API_KEY": ROOT_KEY,
    }
    with open(folder / "service.log", "ab") as log:
        served = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    soak = Soak(f"http://127.0.0.1:{port}", psutil.Process(served.pid), minutes * 60)
    try:
        await_ready(soak.address)
        return drive(soak)
    finally:
        served.terminate()
        served.wait(60)


def await_ready(address: str) -> None:
    for _ in range(600):
        try:
            if httpx.get(f"{address}/readyz").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise RuntimeError("the service is not ready after two minutes")


def drive(soak: Soak) -> dict[str, Any]:
    soak.started = time.monotonic()
    soak.issue_key()
    others = [threading.Thread(target=soak.disturb), threading.Thread(target=soak.watch)]
    for thread in others:
        thread.start()
    calls = []
    with ThreadPoolExecutor(12) as callers:
        number = 0
        while soak.age < soak.seconds:
            calls.append(callers.submit(soak.make_call, number))
            number += 1
            time.sleep(max(0.0, number / CALLS_PER_SECOND - soak.age))
    for thread in others:
        thread.join()
    failed = [repr(call.exception()) for call in calls if call.exception()]
    lost = soak.find_lost()
    return {
        "minutes": soak.seconds / 60,
        "calls": len(calls),
        "failed": failed[:5],
        "acknowledged": len(soak.stored),
        "erased": len(soak.erased),
        "lost": lost,
        "problems": soak.examine(),
        "answers": dict(sorted(soak.answers.items())),
        "memory_mib_by_sixth": soak.median_by_sixth(soak.memory),
        "p50_seconds_by_sixth": soak.median_by_sixth(soak.durations),
        "events": soak.events,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    minutes = parser.parse_args().minutes
    with tempfile.TemporaryDirectory(prefix="palimpsest-soak-") as folder:
        print(json.dumps(run(minutes, Path(folder)), indent=2))


if __name__ == "__main__":
    main()
