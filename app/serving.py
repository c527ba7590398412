"""The application as `palimpsest serve` runs it: it announces its end before it ends, sends traces where it is asked to, and keeps its
gauges fresh. Whoever embeds `create_app()` decides about these things alone."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext

from fastapi import FastAPI

from app.main import create_app
from app.services.metrics import update_pool_gauges
from app.settings import load_settings, should_trace

GAUGES_EVERY = 5.0  # seconds; /metrics is answered by one worker, which cannot look into the others


def served_app() -> FastAPI:
    """The application over the settings of the environment, for one worker process."""
    settings, traced = load_settings(), should_trace()
    app = create_app(settings, traced=traced)
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with _run_tracing() if traced else nullcontext(), inner(app):
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
    """Turns /readyz to 503 at SIGTERM and lets uvicorn, whose signal handler is in place by now, shut down after `delay` seconds."""
    loop, shut_down = asyncio.get_running_loop(), signal.getsignal(signal.SIGTERM)
    assert callable(shut_down)

    def start_draining(number: int, _frame: object) -> None:
        wait = 0.0 if app.state.draining else delay  # whoever asks twice does not want to wait
        app.state.draining = True
        loop.call_soon_threadsafe(loop.call_later, wait, shut_down, number, None)

    signal.signal(signal.SIGTERM, start_draining)


async def _keep_gauges_fresh(app: FastAPI) -> None:
    while True:
        update_pool_gauges(app.state.services.engine)
        await asyncio.sleep(GAUGES_EVERY)
