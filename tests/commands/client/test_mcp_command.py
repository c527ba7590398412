"""`palimpsest mcp` as a process that starts its own service."""

import asyncio
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
from mcp import Client, StdioServerParameters


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


@pytest.mark.slow
def test_a_host_is_answered_before_the_service_is_up(data_folder: Path) -> None:
    """A call waits for the service; one that cannot start is said in a sentence."""
    taken = data_folder / "taken"
    taken.write_text("no folder")

    async def talk(folder: Path) -> tuple[float, float, str, bool]:
        variables = {"PYTHONPATH": os.pathsep.join(sys.path), "PALIMPSEST_DATA_DIR": str(folder)}
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "app.cli", "mcp"], env=os.environ | variables
        )
        start = time.monotonic()
        async with Client(server) as host:
            tools = (await host.list_tools()).tools
            listed = time.monotonic() - start
            assert len(tools) == 9
            called = await host.call_tool("memory_context", {})
            [block] = called.content
            return listed, time.monotonic() - start, getattr(block, "text", ""), called.is_error

    listed, called, text, is_error = asyncio.run(talk(data_folder / "data"))
    assert (text, is_error) == ("Nothing is known yet.", False)
    assert listed < called / 2
    *_, text, is_error = asyncio.run(talk(taken))
    assert is_error
    assert text.startswith("The memory service did not start: ")
