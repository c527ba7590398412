"""The application: its routers and middleware, and a lifespan that opens the services."""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache

from fastapi import APIRouter, Depends, FastAPI
from fastapi.routing import APIRoute
from fastapi.telemetry import TelemetryConfig
from fastapi_offline import FastAPIOffline

from app import __version__
from app.api import (
    actor,
    agents,
    beliefs,
    captures,
    context,
    doctor,
    document,
    erasures,
    events,
    export,
    health,
    idempotency,
    import_history,
    insights,
    keys,
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
    webhooks,
    why,
)
from app.api.admission import Admission, EarlyRefusal, build_gates
from app.api.caller_watch import CallerWatch
from app.api.deps import check_scope, document_key
from app.api.key_check import KeyCheck
from app.api.position import PositionReport
from app.api.request_body import TimelyBody
from app.api.request_id import RequestId
from app.api.request_monitor import RequestMonitor
from app.api.secrets import SecretRemover
from app.api.security_headers import SecurityHeaders
from app.api.slashes import TrailingSlash
from app.api.web_pages import NoWebPages, OneHost
from app.console import routes as console_routes
from app.embedding import Embedder
from app.mcp.door import Door
from app.mem0 import routes as mem0_routes
from app.oauth import routes as oauth_routes
from app.settings import Settings, load_settings
from app.wiring import Process, open_services

# Log records of FastAPI itself would hold the messages of errors, which quote facts.
TELEMETRY: TelemetryConfig = {
    "logs": False,
    "metrics": False,
    "operation_spans": False,
    "auto_configure": False,
    "exclude": lambda scope: not scope["path"].startswith("/v1/"),
}

# Collections of the middle generation before a full one; Python's own number is 10.
FULL_COLLECTION_AFTER = 100
# New objects after which the young ones are collected: some calls make a thousand.
COLLECTION_AFTER = 10_000


def create_app(
    settings: Settings | None = None, embedder: Embedder | None = None, *, traced: bool = False
) -> FastAPI:
    """Return the service over the database of the settings, which must be migrated.

    The settings default to those of the environment. The caller closes an embedder of its own;
    without one, the embedder that the settings name is opened. With `traced`, each request is a
    span of the current tracer provider, and the span's query holds the words of a search.
    """
    settings = settings or load_settings()
    # The pages of FastAPIOffline load their scripts from here: many services cannot reach others.
    app = FastAPIOffline(
        version=__version__,
        **document.INFORMATION,
        docs_url=None,
        lifespan=_lifespan,
        generate_unique_id_function=_get_name,
        telemetry={**TELEMETRY, "tracing": traced},
        static_url="/docs/assets",
        redirect_slashes=False,
    )
    app.state.settings = settings
    app.state.embedder = embedder
    app.state.draining = False
    app.state.secrets = SecretRemover.from_settings(settings)
    app.router.routes.extend(_build_routes().routes)
    app.state.mcp = Door(app, settings.max_body_bytes)
    app.router.routes.extend(app.state.mcp.routes)
    app.router.routes.extend(mem0_routes.list_routes(app))
    needs_key = settings.api_key is not None
    if needs_key:
        app.router.routes.extend(oauth_routes.list_routes(app))
    if settings.console:
        app.router.routes.extend(console_routes.list_routes(app, needs_key=needs_key))
    elif needs_key:
        app.router.routes.append(console_routes.serve_assets())  # of the page of OAuth
    document.refine_document(app)
    problems.install_error_handlers(app)
    idempotency.install_replay_handler(app)
    app.state.gates = build_gates(settings.places, settings.max_queue, settings.queue_timeout)
    app.add_middleware(PositionReport)
    app.add_middleware(CallerWatch)
    app.add_middleware(Admission, gates=app.state.gates)
    app.add_middleware(TimelyBody, batch_limit=settings.max_body_bytes)
    app.add_middleware(EarlyRefusal, gates=app.state.gates)
    app.add_middleware(
        KeyCheck,
        root_key=settings.api_key,
        token_secret=settings.token_secret,
        guards_metrics=settings.metrics_need_key,
    )
    if not settings.api_key:
        app.add_middleware(NoWebPages, hosts=settings.allowed_host_names)
    app.add_middleware(OneHost)
    app.add_middleware(TrailingSlash)
    app.add_middleware(RequestMonitor)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(RequestId)
    return app


@cache
def _build_routes() -> APIRouter:
    """Return the routes of the API, which hold no application.

    FastAPI takes a fifth of a second to build them, with the first request. All applications of a
    process share them.
    """
    routes = APIRouter(generate_unique_id_function=_get_name)
    for router in (
        memories.router,
        why.router,
        beliefs.router,
        relationships.router,
        search.router,
        context.router,
        captures.messages_router,
        captures.router,
        reviews.router,
        reviews.shadow_router,
        log.router,
        events.router,
        reverts.log_router,
        reverts.router,
        lifespans.router,
        sweeps.router,
        insights.router,
        import_history.router,
        export.router,
        erasures.router,
        stats.router,  # before agents, whose ids may hold slashes
        agents.router,
        keys.router,
        webhooks.router,
        doctor.router,
    ):
        # One by one: of a router that includes others, FastAPI builds every route twice.
        routes.include_router(
            router,
            dependencies=[Depends(document_key), Depends(check_scope)],
            responses=openapi.document_problems(401, 403, 422, 429, 500, 503),
        )
    routes.include_router(actor.router)
    routes.include_router(document.router)
    routes.include_router(health.router)
    return routes


def _get_name(route: APIRoute) -> str:
    return route.name


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with open_services(
        app.state.settings, Process.SERVICE, embedder=app.state.embedder
    ) as services:
        app.state.services = services
        gc.collect()
        # Everything built at start lives as long as the process; every full collection would
        # otherwise examine all of it again.
        gc.freeze()
        # A full collection while a call handles ten thousand versions keeps all others waiting for
        # 0.15 s. Requests leave little behind, so a hundredth of Python's full collections will do.
        before = gc.get_threshold()
        gc.set_threshold(COLLECTION_AFTER, before[1], FULL_COLLECTION_AFTER)
        try:
            async with app.state.mcp.open(), services.deliveries.deliver_in_background():
                yield
        finally:
            gc.set_threshold(*before)
            gc.unfreeze()
