"""`palimpsest mcp` as a process that starts its own service."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest


def wait_for(look: Callable[[], object], log: Path) -> str:
    """Return what `look` sees first, within two minutes."""
    for _ in range(1200):
        if seen := look():
            return str(seen)
        time.sleep(0.1)
    raise AssertionError(log.read_text())


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell of a parent's end")
def test_a_killed_command_leaves_no_service(data_folder: Path) -> None:
    log = data_folder / "mcp.log"
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("PALIMPSEST_")}
    with (
        open(log, "wb") as written,
        subprocess.Popen(
            [sys.executable, "-m", "app.cli", "mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=written,
            env=inherited | {"PALIMPSEST_DATA_DIR": str(data_folder)},
        ) as process,
    ):
        ready = re.compile(r"Ready: (http://[\d.:]+)")
        address = wait_for(lambda: (m := ready.search(log.read_text())) and m[1], log)
        assert httpx.get(f"{address}/readyz").is_success
        process.send_signal(signal.SIGKILL)
        process.wait()

    def is_gone() -> bool:
        try:
            httpx.get(f"{address}/readyz")
        except httpx.TransportError:
            return True
        return False

    wait_for(is_gone, log)
