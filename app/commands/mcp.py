"""MCP over standard input and output: between a host on this machine and a service."""

import asyncio
import ctypes
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress

import httpx
from mcp.server.stdio import stdio_server

from app.commands.client.calling import DEFAULT_URL, build_client
from app.commands.client.demo import find_free_port
from app.domain.agent import escape_agent_id
from app.mcp.server import Context, ServiceNotStarted, build_server
from palimpsest_client import AsyncClient

START_PATIENCE = 180.0  # seconds; the first start makes a database
END_PATIENCE = 30.0


def serve_stdio(url: str | None, agent: str | None, api_key: str | None) -> None:
    """Speak MCP until standard input ends.

    Without `url`, an embedded service is started meanwhile: hosts give up soon if `initialize` is
    not answered, so only the first call of a tool waits for it.
    """
    # As an exit, the signal lets the embedded service be stopped too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    agent = escape_agent_id(agent) if agent else None
    # Before a service is started: no header can carry some ids and keys.
    build_client(DEFAULT_URL, agent=agent, api_key=api_key).close()
    with nullcontext((url, None)) if url else _run_service() as (address, process):
        asyncio.run(_speak(address, process, agent, api_key))


async def _speak(
    address: str,
    process: subprocess.Popen[bytes] | None,
    agent: str | None,
    api_key: str | None,
) -> None:
    """Answer a host. `process` is the embedded service, which may still be starting."""
    async with AsyncClient(address, agent=agent, api_key=api_key) as client:
        ready = asyncio.create_task(_await_readiness(process, address)) if process else None

        @asynccontextmanager
        async def open_client(_: Context) -> AsyncIterator[AsyncClient]:
            if ready:
                await asyncio.shield(ready)  # a call that is cancelled ends only its own waiting
            yield client

        server = build_server(open_client, has_all_rights=process is not None)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
        if ready:
            ready.cancel()


@contextmanager
def _run_service() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    port = find_free_port()
    command = [sys.executable, "-m", "app.cli", "serve", "--host", "127.0.0.1"]
    # Standard output belongs to the protocol.
    process = subprocess.Popen(  # noqa: S603 - the command is our own
        [*command, "--port", str(port)],
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        # This process has no threads yet.
        preexec_fn=_end_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509
    )
    try:
        yield f"http://127.0.0.1:{port}", process
    finally:
        process.terminate()
        process.wait(END_PATIENCE)


_PR_SET_PDEATHSIG = 1  # of prctl(2)


def _end_with_parent() -> None:
    """Let Linux stop this process when its parent is gone, however that ended."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


async def _await_readiness(process: subprocess.Popen[bytes], address: str) -> None:
    """Return when the service answers at its address. Raises ServiceNotStarted."""
    deadline = time.monotonic() + START_PATIENCE
    async with httpx.AsyncClient() as client:
        while time.monotonic() < deadline and process.poll() is None:
            with suppress(httpx.TransportError):
                if (await client.get(f"{address}/readyz")).is_success:
                    return
            await asyncio.sleep(0.1)
    raise ServiceNotStarted("The memory service did not start: `palimpsest serve` says why.")
