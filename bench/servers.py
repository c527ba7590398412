"""The servers under measurement, each a uvicorn process of its own on a free port, started as a user would."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent

SERVICE = "app.main:create_app"
SERVICE_WITHOUT_ENCODER = "bench.floor:create_service_without_encoder"
FLOOR = "bench.floor:create_app"


@contextmanager
def serving(factory: str, *, root: Path = ROOT, **environment: str) -> Iterator[int]:
    """Runs an application factory of the checkout `root` and yields its port. Raises RuntimeError where it does not start."""
    port = free_port()
    options = [
        "--port",
        str(port),
        "--loop",
        "uvloop",
        "--http",
        "httptools",
        "--log-level",
        "warning",
        "--no-access-log",
        "--timeout-keep-alive",
        "600",
    ]
    command = [sys.executable, "-m", "uvicorn", "--factory", factory, *options]
    paths = {"PYTHONPATH": str(root)}
    process = subprocess.Popen(command, cwd=root, env=os.environ | paths | environment)
    try:
        await_port(port, process, factory)
        yield port
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()  # it still works on what a measurement gave up
            process.wait(20)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def await_port(port: int, process: subprocess.Popen[bytes], name: str) -> None:
    """Waits until somebody listens. Raises RuntimeError where the process ends before."""
    for _ in range(600):
        if process.poll() is not None:
            raise RuntimeError(f"{name} ended with status {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"{name} did not listen within 30 seconds")
