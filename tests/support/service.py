"""The service in a thread of the test's process."""

import asyncio
import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import uvicorn
from fastapi.dependencies import models

from app.connections import BoundedConnection
from app.embedding import Embedder
from app.main import create_app
from app.settings import Settings, load_settings


class PromptServer(uvicorn.Server):
    """A server that looks every hundredth of a second whether it should end, not every tenth."""

    async def main_loop(self) -> None:
        for counter in itertools.count():
            if await self.on_tick(counter):
                return
            await asyncio.sleep(0.01)


@contextmanager
def running(settings: Settings, embedder: Embedder | None = None) -> Iterator[str]:
    """The service on a port of its own, in a thread; yields its address."""
    app = create_app(settings, embedder)
    server = PromptServer(
        uvicorn.Config(
            app,
            port=0,
            http=BoundedConnection,
            log_level="warning",
            lifespan="on",
            timeout_keep_alive=60,  # a test on a busy machine may pause for longer than usual
        )
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise RuntimeError("the service did not start")
        time.sleep(0.01)
    address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    # FastAPI builds its routes at the first request, with warnings off for the whole process.
    httpx.get(f"{address}/livez", timeout=60)
    try:
        yield address
    finally:
        server.should_exit = True
        thread.join(10)
        _forget_endpoints()


@contextmanager
def serving(database_url: str) -> Iterator[httpx.Client]:
    """A client of a service over the database, such as the one that follows a service that was killed."""
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        yield client


def _forget_endpoints() -> None:
    """Empty the caches in which FastAPI holds endpoints, and these their application: 5 MB each."""
    for cached in vars(models).values():
        if hasattr(cached, "cache_clear"):
            cached.cache_clear()
