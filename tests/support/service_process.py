"""Palimpsest as processes of their own: its commands, and the service."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx


def palimpsest(
    *words: str, stdin: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "app.cli", *words]
    return subprocess.run(
        command,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=180,  # a machine that does much else at once
        check=False,
        env={**os.environ, **environment},
    )


@dataclass(frozen=True)
class Served:
    """A running service: its process, where it listens and where it writes."""

    process: subprocess.Popen[bytes]
    address: str
    log: Path

    def stop(self) -> int:
        """Asks it to end, and waits; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


@contextmanager
def served(
    folder: Path, *words: str, python: tuple[str, ...] = (), **environment: str
) -> Iterator[Served]:
    """Serves on a free port, over the embedded Postgres of the folder unless the environment names a database.

    A process that is alone, without workers and a Postgres of its own, is killed in the end: ending
    well takes a second of the processor. Tests of the end call `stop`.
    """
    is_alone = "PALIMPSEST_DATABASE_URL" in environment and "--workers" not in words
    port = free_port()
    command = [sys.executable, *python, "-m", "app.cli", "serve", "--port", str(port), *words]
    inherited = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("PALIMPSEST_", "OTEL_", "PROMETHEUS_"))
    }
    ours = {"PALIMPSEST_DATA_DIR": str(folder)}
    log = folder / "service.log"
    with (
        open(log, "ab") as written,
        subprocess.Popen(
            command, env=inherited | ours | environment, stdout=written, stderr=written
        ) as process,
    ):
        try:
            await_ready(f"http://127.0.0.1:{port}", process, log)
            yield Served(process, f"http://127.0.0.1:{port}", log)
        finally:
            if is_alone:
                process.kill()
            process.terminate()
            process.wait(60)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def await_ready(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        assert process.poll() is None, log.read_text()
        try:
            if httpx.get(f"{address}/readyz").is_success:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.1)
    raise AssertionError("not ready in time")


def await_model_check(address: str) -> dict[str, Any]:
    """Waits until the model was checked; what `/readyz` then says of it."""
    for _ in range(600):
        answer = httpx.get(f"{address}/readyz")
        assert answer.status_code == 200
        model: dict[str, Any] = answer.json()["model"]
        if model["checked_at"]:
            return model
        time.sleep(0.1)
    raise AssertionError("the model was not checked in time")


DYING = Path(__file__).parent / "dying_service.py"


@contextmanager
def serve_dying(
    database_url: str, folder: Path
) -> Iterator[tuple[subprocess.Popen[bytes], httpx.Client]]:
    """A service in a process of its own that kills itself, as `dying_service` says."""
    port = free_port()
    command = [sys.executable, str(DYING), str(port)]
    environment = {**os.environ, "PALIMPSEST_DATABASE_URL": database_url}
    log = folder / "service.log"
    with (
        open(log, "ab") as written,
        subprocess.Popen(command, env=environment, stdout=written, stderr=written) as process,
    ):
        try:
            await_ready(f"http://127.0.0.1:{port}", process, log)
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
                yield process, client
        finally:
            process.kill()


def run_dying_worker(database_url: str) -> int:
    """Run a worker that kills itself when it reads a marked message. Return its exit status."""
    environment = {**os.environ, "PALIMPSEST_DATABASE_URL": database_url}
    worker = subprocess.run(
        [sys.executable, str(DYING), "worker"], env=environment, timeout=120, check=False
    )
    return worker.returncode
