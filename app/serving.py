"""The application as `palimpsest serve` runs it.

It announces its end before it ends, sends traces on request, checks the model, and keeps its gauges
fresh. An application that embeds `create_app()` decides about these things itself.
"""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext

from fastapi import FastAPI

from app.advice import advise_on_model
from app.connections import raise_descriptor_limit
from app.main import create_app
from app.services.metrics import update_model_gauge, update_pool_gauges, update_replica_gauges
from app.settings import load_settings, should_trace

# Seconds. One worker answers /metrics, and it cannot look into the other ones.
GAUGES_EVERY = 5.0
MODEL_AGAIN_AFTER = 300.0

logger = logging.getLogger(__name__)


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
            checks = asyncio.create_task(_check_model(app))
            yield
            gauges.cancel()
            checks.cancel()

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
        update_model_gauge(app.state.services.model_checker)
        await asyncio.sleep(GAUGES_EVERY)


async def _check_model(app: FastAPI) -> None:
    """Check the model, and again as long as it does not answer. Log what is found and what changes.

    A model that answers, readably or not, is checked once: more answers would cost tokens.
    """
    checker = app.state.services.model_checker
    if checker is None:
        return
    logged = None
    while True:
        report = await checker.check()
        trouble = advise_on_model(report)
        if trouble and trouble != logged:
            logger.warning(trouble)
        logged = trouble
        if not report.failure or report.usage.prompt_tokens:
            break
        await asyncio.sleep(MODEL_AGAIN_AFTER)
    if report.is_usable:
        right, all_pairs = report.right, len(report.pairs)
        logger.info(
            "The model %s answers: %d of %d known pairs right", report.model, right, all_pairs
        )
