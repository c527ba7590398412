"""The application as `palimpsest serve` runs it.

It announces its end before it ends, sends traces on request, and keeps its gauges fresh. An
application that embeds `create_app()` decides about these things itself.
"""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext

from fastapi import FastAPI

from app.connections import raise_descriptor_limit
from app.main import create_app
from app.services.metrics import update_pool_gauges, update_replica_gauges
from app.settings import load_settings, should_trace

# Seconds. One worker answers /metrics, and it cannot look into the other ones.
GAUGES_EVERY = 5.0


def served_app() -> FastAPI:
    """Return the application over the settings of the environment, for one worker process."""
    settings = load_settings()
    traced = should_trace()
    raise_descriptor_limit(settings)
    app = create_app(settings, traced=traced)
    open_app = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        tracing = _run_tracing() if traced else nullcontext()
        async with tracing, open_app(app):
            _drain_on_sigterm(app, settings.shutdown_delay)
            gauges = asyncio.create_task(_keep_gauges_fresh(app))
            yield
            gauges.cancel()

    app.router.lifespan_context = lifespan
    return app


@asynccontextmanager
async def _run_tracing() -> AsyncIterator[None]:
    from app import traces

    provider = traces.start_tracing()
    try:
        yield
    finally:
        await asyncio.to_thread(provider.shutdown)  # sends what is left


def _drain_on_sigterm(app: FastAPI, delay: float) -> None:
    """At SIGTERM, let /readyz answer 503, and let uvicorn shut down after `delay` seconds.

    uvicorn has installed its signal handler by now.
    """
    loop = asyncio.get_running_loop()
    shut_down = signal.getsignal(signal.SIGTERM)
    assert callable(shut_down)

    def start_draining(number: int, _frame: object) -> None:
        # A second signal comes from somebody who does not want to wait.
        wait = 0.0 if app.state.draining else delay
        app.state.draining = True
        loop.call_soon_threadsafe(loop.call_later, wait, shut_down, number, None)

    signal.signal(signal.SIGTERM, start_draining)


async def _keep_gauges_fresh(app: FastAPI) -> None:
    while True:
        update_pool_gauges(app.state.services.engine)
        update_replica_gauges(app.state.services.reads)
        await asyncio.sleep(GAUGES_EVERY)
