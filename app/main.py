"""create_app() and its lifespan: everything is built here and handed down."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

import httpx
from fastapi import APIRouter, Depends, FastAPI
from fastapi.telemetry import TelemetryConfig
from fastapi_offline import FastAPIOffline

from app import __version__
from app.api import (
    agents,
    context,
    doctor,
    erasures,
    export,
    health,
    idempotency,
    import_history,
    insights,
    lifespans,
    log,
    memories,
    openapi,
    problems,
    relationships,
    reverts,
    reviews,
    search,
    stats,
    sweeps,
    why,
)
from app.api.admission import Admission
from app.api.deps import Parts, require_key
from app.api.middleware import BoundedBody, RequestId
from app.api.request_monitor import RequestMonitor
from app.classification.cascade import Cascade
from app.domain.strength import HalfLives
from app.embedding import Embedder
from app.embedding.choice import open_embedder
from app.services.agent_write import WriteSetup
from app.services.classify import Classifier
from app.services.context import ContextComposer
from app.services.doctor import Doctor
from app.services.erasures import Eraser
from app.services.explicit import ExplicitChanger
from app.services.idempotency import KeyLocks
from app.services.import_agent import AgentImporter
from app.services.import_history import HistoryImporter
from app.services.lifespans import LifespanEnder
from app.services.relationships import RelationshipWriter
from app.services.remember import Remember
from app.services.reverts import Reverter
from app.services.reviews import ReviewDecider
from app.services.search import Searcher
from app.services.sweep_requests import SweepRequests
from app.services.usage import UsageCounter
from app.settings import InvalidSettings, Settings, load_settings
from app.store import schema
from app.store.engine import create_engine
from app.store.log.archive_files import Archives
from app.store.sweeps.queue import Queue
from app.store.transfer.exports import Exports
from app.wiring import build_model_judge, build_patience, build_policy, build_store_settings

DESCRIPTION = """The memory service for agents that knows when facts change: store a fact, store its change, and read what is true now,
what was true then (`as_of`), and what was believed at any earlier moment (`known_at`)."""

# FastAPI's own log records would hold the words of errors, which quote facts.
TELEMETRY: TelemetryConfig = {
    "logs": False,
    "metrics": False,
    "operation_spans": False,
    "auto_configure": False,
    "exclude": lambda scope: not scope["path"].startswith("/v1/"),
}


def create_app(
    settings: Settings | None = None, embedder: Embedder | None = None, *, traced: bool = False
) -> FastAPI:
    """The service over the database of the settings (default: of the environment), which must be migrated.

    Without an embedder of the caller's, who then closes it, that of the settings is opened. `traced` requests are spans of the tracer
    provider in place; their queries hold what was searched for.
    """
    settings = settings or load_settings()
    app = FastAPIOffline(  # its pages bring their scripts with them: many a service has no way out
        title="Palimpsest",
        version=__version__,
        description=DESCRIPTION,
        lifespan=_lifespan,
        generate_unique_id_function=lambda r: r.name,
        telemetry={**TELEMETRY, "tracing": traced},
        static_url="/docs/assets",
    )
    app.state.settings, app.state.embedder, app.state.draining = settings, embedder, False
    guarded = APIRouter(
        dependencies=[Depends(require_key)],
        responses=openapi.document_problems(401, 422, 500, 503),
    )
    for router in (
        memories.router,
        relationships.router,
        why.router,
        search.router,
        context.router,
        export.router,
        import_history.router,
        log.router,
        reverts.log_router,
        reviews.router,
        erasures.router,
        stats.router,  # before agents, whose ids may hold slashes
        agents.router,
        sweeps.router,
        doctor.router,
        lifespans.router,
        insights.router,
        reverts.router,
        reviews.shadow_router,
    ):
        guarded.include_router(router)
    app.include_router(guarded)
    app.include_router(health.router)
    openapi.describe_words(app)
    problems.install_error_handlers(app)
    idempotency.install_replay_handler(app)
    app.add_middleware(BoundedBody, limit=settings.max_body_bytes)
    app.add_middleware(
        Admission, places=settings.places, queue=settings.max_queue, patience=settings.queue_timeout
    )
    app.add_middleware(RequestMonitor)
    app.add_middleware(RequestId)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    settings: Settings = app.state.settings
    if settings.database_url is None:
        raise InvalidSettings(
            "PALIMPSEST_DATABASE_URL: not set. `palimpsest serve` starts an embedded Postgres by itself."
        )
    engine = create_engine(
        settings.database_url, pool_size=settings.pool_size, patience=build_patience(settings)
    )
    opened = AsyncExitStack()
    embedder: Embedder = app.state.embedder or await opened.enter_async_context(
        open_embedder(settings)
    )
    http = httpx.AsyncClient()
    try:
        await asyncio.to_thread(
            schema.claim_encoder, settings.database_url, embedder.name, embedder.dimensions
        )
        language_oid = await asyncio.to_thread(
            schema.get_language_oid, settings.database_url, settings.text_language
        )
        policy = build_policy(settings)
        rules = build_store_settings(settings, policy)
        cascade = Cascade(policy, build_model_judge(settings, http))
        using = UsageCounter(engine, every=settings.use_flush_seconds)
        searcher = Searcher(engine, embedder, using, language=settings.text_language)
        queue = Queue(settings.database_url)
        waking = SweepRequests(engine, queue, looks_again=settings.supersession_enabled)
        await opened.enter_async_context(queue.app.open_async())
        opened.push_async_callback(waking.wait_until_idle)
        setup = WriteSetup(policy, language_oid, waking.wake_for_marks)
        remember = Remember(
            engine, embedder, Classifier(engine, embedder, cascade, rules), rules, setup
        )
        archives = Archives(settings.archive_folder, may_make=settings.archive_dir is None)
        half_lives = HalfLives(settings.half_life_days_semantic, settings.half_life_days_core)
        await opened.enter_async_context(using.flush_in_background())
        app.state.parts = Parts(
            settings=settings,
            engine=engine,
            encoder=embedder.name,
            remember=remember,
            reviews=ReviewDecider(
                engine,
                embedder,
                remember,
                setup,
                expires_after=timedelta(days=settings.review_days),
            ),
            erase=Eraser(engine, archives),
            reverts=Reverter(engine, embedder, setup),
            explicit=ExplicitChanger(engine, embedder, setup),
            search=searcher,
            import_history=HistoryImporter(engine, embedder, setup),
            turns=KeyLocks(),
            context=ContextComposer(engine, searcher, using, half_lives),
            half_lives=half_lives,
            import_agent=AgentImporter(engine, embedder, setup),
            exports=Exports(engine, at_once=max(1, settings.pool_size // 2)),
            doctor=Doctor(engine, archives),
            lifespans=LifespanEnder(engine, setup),
            sweeps=waking,
            relationships=RelationshipWriter(engine, setup),
        )
        gc.collect()
        gc.freeze()  # what was built at start lives as long as the process; a full collection would look at all of it again and again
        yield
    finally:
        gc.unfreeze()
        await opened.aclose()
        await http.aclose()
        await engine.dispose()
