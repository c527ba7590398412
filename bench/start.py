"""How long `palimpsest serve` takes from the start of its process to the first stored fact."""

import os
import subprocess
import sys
import tempfile
import time
from statistics import median

from bench.client import Client
from bench.figures import Report
from bench.servers import ROOT, free_port
from bench.world import World


def measure(report: Report, world: World, *, times: int) -> None:
    """Writes a section: an empty data folder, one that was used before, and an external database."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-bench-start-") as folder:
        fresh = (_started({"PALIMPSEST_DATA_DIR": f"{folder}/{number}"}) for number in range(times))
        taken = {"an empty data folder": list(fresh)}
        taken["a data folder used before"] = [
            _started({"PALIMPSEST_DATA_DIR": f"{folder}/0"}) for _ in range(times)
        ]
    taken["an external database"] = [
        _started({"PALIMPSEST_DATABASE_URL": world.url}) for _ in range(times)
    ]
    report.section(
        "Cold start",
        f"Seconds from the start of `palimpsest serve` to the first 201 of `POST /v1/memories`; {times} starts each, files cached.",
        ["over", "median", "fastest", "slowest"],
        [
            [over, f"{median(seconds):.2f}", f"{min(seconds):.2f}", f"{max(seconds):.2f}"]
            for over, seconds in taken.items()
        ],
    )


def _started(environment: dict[str, str]) -> float:
    port = free_port()
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "app.cli", "serve", "--port", str(port)],
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while process.poll() is None:
            try:
                Client(port, "starting").post(
                    "/v1/memories", {"content": f"Process {process.pid} was started"}
                )
            except ConnectionRefusedError:
                time.sleep(0.005)
            else:
                return time.perf_counter() - started
        raise RuntimeError(f"palimpsest serve ended with status {process.returncode}")
    finally:
        process.terminate()
        process.wait(60)
