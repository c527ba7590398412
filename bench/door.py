"""`python -m bench.door`: stores and searches beside callers who send half a request, or nothing.

Prints the p95 of each crowd as a multiple of the idle one, measured in turns.
"""

import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import httpx

from bench.servers import free_port
from bench.soak import await_ready

KEY = "key-of-the-measurement-0123456789abcdef"
ROUNDS = 4
CALLS = 60
HALF = (
    "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    "{key}Content-Length: 1000\r\n\r\n{{"
)
WITHOUT_KEY = HALF.format(path="/v1/memories", key="").encode()
WITH_KEY = HALF.format(path="/v1/search", key=f"X-API-Key: {KEY}\r\n").encode()
CROWDS = {
    "idle": (0, b""),
    "5 half-sent stores without a key": (5, WITHOUT_KEY),
    "20 half-sent searches with the key": (20, WITH_KEY),
    "1,100 half-sent stores without a key": (1_100, WITHOUT_KEY),
    "1,100 silent connections": (1_100, b""),
}


def gather(stack: ExitStack, port: int, count: int, sent: bytes) -> None:
    for _ in range(count):
        caller = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
        try:
            caller.sendall(sent)
        except OSError:
            continue


def measure(client: httpx.Client) -> list[float]:
    seconds = []
    for number in range(CALLS):
        started = time.perf_counter()
        if number % 2:
            response = client.post("/v1/search", json={"query": f"fact {number}"})
        else:
            fact = {"content": f"Fact {time.time_ns()}", "classify": False}
            response = client.post("/v1/memories", json=fact)
        response.raise_for_status()
        seconds.append(time.perf_counter() - started)
    return seconds


def main() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (4_096, resource.getrlimit(7)[1]))
    with tempfile.TemporaryDirectory(prefix="palimpsest-door-") as folder:
        port = free_port()
        environment = os.environ | {"PALIMPSEST_DATA_DIR": folder, "PALIMPSEST_API_KEY": KEY}
        command = [sys.executable, "-m", "app.cli", "serve", "--port", str(port)]
        with open(Path(folder) / "log", "wb") as log:
            served = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            await_ready(f"http://127.0.0.1:{port}")
            report(port)
        finally:
            served.terminate()
            served.wait(60)


def report(port: int) -> None:
    seconds: dict[str, list[float]] = {name: [] for name in CROWDS}
    for _ in range(ROUNDS):
        for name, (count, sent) in CROWDS.items():
            with (
                ExitStack() as stack,
                httpx.Client(
                    base_url=f"http://127.0.0.1:{port}", headers={"X-API-Key": KEY}, timeout=60
                ) as client,
            ):
                client.get("/v1/memories")
                gather(stack, port, count, sent)
                seconds[name] += measure(client)
    idle = p95(seconds["idle"])
    for name, values in seconds.items():
        print(f"{name}: p95 {1000 * p95(values):.0f} ms, {p95(values) / idle:.2f} of idle")


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


if __name__ == "__main__":
    main()
