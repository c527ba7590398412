"""The one composition root: the service, a worker and the commands open their services here."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, replace
from datetime import UTC, timedelta
from enum import Enum
from typing import Any, assert_never

import httpx
from sqlalchemy.ext.asyncio import AsyncEngine

from app.classification.cascade import Cascade
from app.classification.local.judge import LocalJudge
from app.classification.local.network import LocalNetwork
from app.classification.model.check import ModelChecker
from app.classification.model.judge import ModelJudge
from app.classification.model.prompt import Form
from app.domain.captures import ExtractBy
from app.domain.dates.zones import find_zone
from app.domain.policy import Policy
from app.domain.strength import HalfLives
from app.embedding import Embedder
from app.embedding.choice import open_embedder
from app.embedding.deferred import DeferredEmbedder
from app.extraction.dates_network import DatesNetwork
from app.extraction.fact_splitter import FactSplitter
from app.extraction.message_network import MessageNetwork
from app.extraction.model.extractor import ModelExtractor
from app.extraction.parts_network import PartsNetwork
from app.networks import FairThreads, find_many_languages
from app.remote.budget import Budget, Limits
from app.remote.chat import ChatClient, ChatOptions
from app.remote.public_http import PublicClient, open_public_http
from app.remote.webhooks import WebhookSender
from app.services.agent_indexes import AgentIndexDirectory, AgentIndexKeeper
from app.services.agent_write import WriteSetup
from app.services.answers import QuestionAnswerer
from app.services.capture_reading import TurnReader
from app.services.capture_runner import CaptureRunner
from app.services.captures import Capturer
from app.services.classify import Classifier, StoreSettings
from app.services.console_sessions import ConsoleSessions
from app.services.context import ContextComposer
from app.services.dating import FactDater
from app.services.deliveries import Deliverer
from app.services.doctor import Doctor
from app.services.erasures import Eraser
from app.services.events import EventFeed
from app.services.explicit import ExplicitChanger
from app.services.idempotency import KeyLocks
from app.services.import_agent import AgentImporter
from app.services.import_history import HistoryImporter
from app.services.key_reader import KeyReader
from app.services.keys import KeyIssuer
from app.services.lifespans import LifespanEnder
from app.services.lists import MemoryLister
from app.services.message_reader import MessageReader
from app.services.metrics import count_read
from app.services.oauth import OAuthGrants
from app.services.oauth_clients import OAuthClients
from app.services.readiness import Readiness
from app.services.reembed import Reembedder
from app.services.relationships import RelationshipWriter
from app.services.remember import Remember
from app.services.retention import Retention, RetentionSettings
from app.services.reverts import Reverter
from app.services.reviews import ReviewDecider
from app.services.search import Searcher
from app.services.sweep_requests import SweepRequests
from app.services.sweeps import Sweeper
from app.services.turn_embedder import TurnEmbedder
from app.services.usage import UsageCounter
from app.services.webhooks import WebhookKeeper
from app.settings import InvalidSettings, Settings
from app.store import schema
from app.store.engine import (
    NoAddress,
    Patience,
    create_engine,
    lower_backend_priority,
    sqlalchemy_url,
)
from app.store.log.archive_files import Archives
from app.store.reads import Reads, ReadSettings, Replica
from app.store.sweeps.queue import Queue
from app.store.transfer.exports import Exports

NICENESS = 10  # of a worker and of its database processes: whoever waits for an answer goes first
WORKER_CONNECTIONS = 6
MAINTENANCE_CONNECTIONS = 3
REPLICA_LOOK_SECONDS = 0.5
# The primary can answer in place of a replica, so nobody waits long for a connection to one.
REPLICA_PATIENCE: dict[str, Any] = {"pool": 1.0, "connect": 2}
# A person watches a maintenance command and can stop it, so nothing else does.
MAINTENANCE_PATIENCE = Patience(pool=30, statement=0, lock=0, idle_transaction=0)


class Process(Enum):
    """The kinds of processes that open the services."""

    SERVICE = "service"
    WORKER = "worker"
    MAINTENANCE = "maintenance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The services over one database, and the few values that entry points need with them."""

    settings: Settings
    engine: AsyncEngine
    reads: Reads
    queue: Queue
    encoder: str
    readiness: Readiness
    half_lives: HalfLives
    key_locks: KeyLocks
    key_reader: KeyReader
    keys: KeyIssuer
    remember: Remember
    messages: MessageReader
    captures: Capturer
    capture_runner: CaptureRunner
    search: Searcher
    lists: MemoryLister
    index_directory: AgentIndexDirectory
    index_keeper: AgentIndexKeeper
    context: ContextComposer
    explicit: ExplicitChanger
    lifespans: LifespanEnder
    relationships: RelationshipWriter
    reviews: ReviewDecider
    answers: QuestionAnswerer
    reverts: Reverter
    erasures: Eraser
    sweeps: Sweeper
    sweep_requests: SweepRequests
    import_agent: AgentImporter
    import_history: HistoryImporter
    exports: Exports
    events: EventFeed
    console_sessions: ConsoleSessions
    oauth_clients: OAuthClients
    oauth_grants: OAuthGrants
    webhooks: WebhookKeeper
    deliveries: Deliverer
    usage: UsageCounter
    turn_embedder: TurnEmbedder
    retention: Retention
    doctor: Doctor
    reembed: Reembedder
    model_checker: ModelChecker | None


@asynccontextmanager
async def open_services(
    settings: Settings, process: Process, *, embedder: Embedder | None = None
) -> AsyncIterator[Services]:
    """Open the services over the database of the settings, and close them at the end.

    The database must be migrated. The caller closes an embedder of its own; without one, the
    embedder that the settings name is opened. Raises InvalidSettings and UnfitDatabase.
    """
    database_url = _get_database_url(settings, process)
    async with AsyncExitStack() as opened:
        engine = _create_engine(settings, database_url, process)
        opened.push_async_callback(engine.dispose)
        reads = _build_reads(settings, engine, process)
        http = await opened.enter_async_context(httpx.AsyncClient())
        public_http = await opened.enter_async_context(open_public_http())
        threads = opened.enter_context(closing(FairThreads(settings.network_threads)))
        if embedder is None:
            embedder = await _open_embedder(settings, process, threads, opened)
        if process is Process.SERVICE:
            await asyncio.to_thread(
                schema.claim_encoder, database_url, embedder.name, embedder.dimensions
            )
        local_judge = _open_local_judge(settings, process, threads)
        language_oid = await asyncio.to_thread(
            schema.get_language_oid, database_url, settings.text_language
        )
        queue = Queue(database_url, behind_pooler=settings.database_pooler)
        await opened.enter_async_context(queue.app.open_async())
        services = _build_services(
            settings,
            engine=engine,
            reads=reads,
            queue=queue,
            embedder=embedder,
            local_judge=local_judge,
            threads=threads,
            chat=build_chat(settings, http),
            public_http=public_http,
            language_oid=language_oid,
        )
        await opened.enter_async_context(reads.watch_in_background())
        opened.push_async_callback(services.events.close)
        opened.push_async_callback(services.sweep_requests.wait_until_idle)
        await opened.enter_async_context(services.usage.flush_in_background())
        await opened.enter_async_context(services.key_reader.write_uses_in_background())
        yield services


def _get_database_url(settings: Settings, process: Process) -> str:
    """Return the address of the database. Raises InvalidSettings if the settings name none."""
    if settings.database_url is not None:
        return settings.database_url
    match process:
        case Process.SERVICE:
            advice = "`palimpsest serve` starts an embedded Postgres by itself."
        case Process.WORKER:
            advice = "With the embedded Postgres, `palimpsest serve` runs a worker by itself."
        case Process.MAINTENANCE:
            advice = "The commands of `palimpsest` start an embedded Postgres by themselves."
        case _:
            assert_never(process)
    raise InvalidSettings(f"PALIMPSEST_DATABASE_URL: not set. {advice}")


def _create_engine(settings: Settings, database_url: str, process: Process) -> AsyncEngine:
    patience = MAINTENANCE_PATIENCE if process is Process.MAINTENANCE else build_patience(settings)
    engine = create_engine(
        database_url,
        pool_size=_get_pool_size(settings, process),
        patience=patience,
        behind_pooler=settings.database_pooler,
    )
    if process is Process.WORKER:
        lower_backend_priority(engine, NICENESS)
    return engine


def _build_reads(settings: Settings, engine: AsyncEngine, process: Process) -> Reads:
    """Return the door of reads. Raises InvalidSettings. Only the service reads from replicas."""
    urls = settings.replica_url_list if process is Process.SERVICE else []
    return Reads(
        engine,
        [_build_replica(settings, url) for url in urls],
        ReadSettings(
            max_lag=settings.replica_max_lag,
            wait=settings.replica_wait,
            every=min(REPLICA_LOOK_SECONDS, settings.replica_max_lag / 4),
        ),
        count_read,
    )


def _build_replica(settings: Settings, url: str) -> Replica:
    try:
        address = sqlalchemy_url(url)
    except NoAddress as problem:
        raise InvalidSettings(f"PALIMPSEST_REPLICA_URLS: {problem}") from None
    engine = create_engine(
        url,
        pool_size=settings.pool_size,
        patience=replace(build_patience(settings), **REPLICA_PATIENCE),
        behind_pooler=settings.database_pooler,
    )
    host = address.host or address.query.get("host", "")
    port = address.port or address.query.get("port", 5432)
    return Replica(f"{host}:{port}", engine)


def _get_pool_size(settings: Settings, process: Process) -> int:
    match process:
        case Process.SERVICE:
            return settings.pool_size
        case Process.WORKER:
            return WORKER_CONNECTIONS
        case Process.MAINTENANCE:
            return MAINTENANCE_CONNECTIONS
        case _:
            assert_never(process)


async def _open_embedder(
    settings: Settings, process: Process, threads: FairThreads, opened: AsyncExitStack
) -> Embedder:
    """Return the encoder of the settings, closed with `opened`.

    The service loads the encoder at its start, so that no caller waits for it. Most of what
    the other processes do needs no encoder, so there it is loaded with the first text.
    """
    if process is Process.SERVICE:
        return await opened.enter_async_context(open_embedder(settings, threads))
    return DeferredEmbedder(settings, threads, opened)


def _open_local_judge(
    settings: Settings, process: Process, threads: FairThreads
) -> LocalJudge | None:
    """Return the local judge, or None if it is off.

    Maintenance judges nothing, so it does not load the network.
    """
    if not settings.local_judge or process is Process.MAINTENANCE:
        return None
    english = LocalNetwork(threads)
    if settings.languages == "english":
        return LocalJudge(english)
    return LocalJudge(english, LocalNetwork(threads, find_many_languages()))


def _build_services(
    settings: Settings,
    *,
    engine: AsyncEngine,
    reads: Reads,
    queue: Queue,
    embedder: Embedder,
    local_judge: LocalJudge | None,
    threads: FairThreads,
    chat: ChatClient | None,
    public_http: httpx.AsyncClient,
    language_oid: int,
) -> Services:
    """Compose the services. `language_oid` names the text search configuration in the database."""
    policy = build_policy(settings)
    store_settings = build_store_settings(settings, policy)
    sweep_requests = SweepRequests(engine, queue, looks_again=settings.supersession_enabled)
    sender = WebhookSender(
        PublicClient(
            http=public_http,
            allows_http=settings.webhooks_allow_http,
            allows_private=settings.webhooks_allow_private,
        )
    )
    setup = WriteSetup(policy, language_oid, sweep_requests.wake_for_marks)
    # A sweep leaves marks for a later one and wakes no worker, which could take them up at once.
    sweep_setup = WriteSetup(policy, language_oid)
    budget = build_budget(settings)
    cascade = Cascade(local_judge, build_model_judge(settings, chat, budget))
    extractor = ModelExtractor(chat, budget) if chat else None
    splitter = FactSplitter(PartsNetwork(threads))
    many = find_many_languages() if settings.languages == "many" else None
    messages = MessageReader(
        engine, extractor, MessageNetwork(threads, many), default=choose_extractor(settings)
    )
    indexes = AgentIndexDirectory(engine)
    classifier = Classifier(engine, embedder, cascade, store_settings, indexes)
    zone = find_zone(settings.timezone) or UTC
    dates = DatesNetwork(threads, many)
    dater = FactDater(engine, dates, zone=zone, is_on=settings.read_dates)
    remember = Remember(engine, splitter, dater, classifier, store_settings, setup)
    usage = UsageCounter(engine, every=settings.use_flush_seconds)
    search = Searcher(
        reads,
        embedder,
        dater,
        usage,
        indexes,
        language=settings.text_language,
        max_answer_bytes=settings.max_answer_bytes,
    )
    half_lives = HalfLives(settings.half_life_days_semantic, settings.half_life_days_core)
    reverts = Reverter(engine, embedder, setup)
    reviews = ReviewDecider(
        engine, embedder, remember, setup, expires_after=timedelta(days=settings.review_days)
    )
    captures = Capturer(
        engine,
        remember,
        reverts,
        TurnReader(engine, messages, splitter),
        quiet=timedelta(seconds=settings.capture_quiet_seconds),
        language_oid=language_oid,
    )
    archives = Archives(settings.archive_folder, may_make=settings.archive_dir is None)
    return Services(
        settings=settings,
        engine=engine,
        reads=reads,
        queue=queue,
        encoder=embedder.name,
        readiness=Readiness(engine, embedder.name),
        half_lives=half_lives,
        key_locks=KeyLocks(),
        key_reader=KeyReader(engine),
        keys=KeyIssuer(engine),
        remember=remember,
        messages=messages,
        captures=captures,
        capture_runner=CaptureRunner(engine, captures),
        search=search,
        lists=MemoryLister(reads, indexes, half_lives, settings.max_answer_bytes),
        index_directory=indexes,
        index_keeper=AgentIndexKeeper(
            engine,
            half_lives,
            from_live=settings.agent_index_from,
            most=settings.max_agent_indexes,
            memory=f"{settings.agent_index_memory}MB",
        ),
        context=ContextComposer(
            reads, search, usage, indexes, policy, half_lives, settings.max_answer_bytes
        ),
        explicit=ExplicitChanger(engine, embedder, dater, setup),
        lifespans=LifespanEnder(engine, setup),
        relationships=RelationshipWriter(engine, setup),
        reviews=reviews,
        answers=QuestionAnswerer(engine, reviews),
        reverts=reverts,
        erasures=Eraser(engine, archives),
        sweeps=Sweeper(
            engine,
            dater,
            classifier,
            store_settings,
            sweep_setup,
            indexes,
            batch=settings.supersession_batch,
        ),
        sweep_requests=sweep_requests,
        import_agent=AgentImporter(engine, embedder, setup),
        import_history=HistoryImporter(engine, embedder, setup),
        exports=Exports(engine),
        events=EventFeed(engine),
        console_sessions=ConsoleSessions(engine),
        oauth_clients=OAuthClients(PublicClient(http=public_http)),
        oauth_grants=OAuthGrants(engine),
        webhooks=WebhookKeeper(engine, sender),
        deliveries=Deliverer(engine, sender),
        usage=usage,
        turn_embedder=TurnEmbedder(engine, embedder, is_on=settings.message_vectors),
        retention=Retention(engine, archives, build_retention_settings(settings)),
        doctor=Doctor(engine, archives),
        reembed=Reembedder(engine, embedder),
        model_checker=build_model_checker(settings, chat, budget),
    )


def build_patience(settings: Settings) -> Patience:
    return Patience(
        pool=settings.pool_timeout,
        connect=settings.connect_timeout,
        statement=settings.statement_timeout,
        lock=settings.lock_timeout,
        idle_transaction=settings.idle_transaction_timeout,
    )


def build_policy(settings: Settings) -> Policy:
    return Policy(
        max_closures=settings.max_closures_per_store,
        max_closures_per_hour=settings.max_closures_per_hour,
        core_inheritance=settings.core_inheritance,
        signals_sure=settings.supersession_min_confidence,
        model_sure=settings.confidence_threshold,
        may_merge=settings.enable_merge,
        may_supersede=settings.enable_supersede,
        may_delete=settings.enable_delete,
        fallback=settings.fallback_action,
        mode=settings.mode,
        human_review=settings.require_human_review,
    )


def build_store_settings(settings: Settings, policy: Policy) -> StoreSettings:
    return StoreSettings(
        policy,
        classify=settings.classify,
        has_model=settings.has_model_judge,
        fuzzy=settings.fuzzy_dedupe,
        max_candidates=settings.max_candidates,
        min_importance=settings.candidate_min_importance,
        similarity_floor=settings.similarity_floor,
        language=settings.text_language,
        looks_again=settings.supersession_enabled,
    )


def build_retention_settings(settings: Settings) -> RetentionSettings:
    cold_days, archive_days = settings.cold_after_days, settings.audit_retention_days
    message_days = settings.message_retention_days
    return RetentionSettings(
        cold_after=timedelta(days=cold_days) if cold_days else None,
        archive_after=timedelta(days=archive_days) if archive_days else None,
        empty_turns_after=timedelta(days=message_days) if message_days else None,
    )


def build_chat(settings: Settings, http: httpx.AsyncClient) -> ChatClient | None:
    """Return the client of the model's endpoint, if one is set."""
    if settings.llm_base_url is None:
        return None
    options = ChatOptions(
        base_url=settings.llm_base_url,
        model=settings.llm_model,
        api_key=settings.llm_api_key,
        connect_timeout=settings.llm_connect_timeout,
        read_timeout=settings.llm_read_timeout,
        total_timeout=settings.llm_total_timeout,
        concurrency=settings.llm_concurrency,
        tries=settings.llm_tries,
        answer_tokens=settings.llm_answer_tokens,
    )
    return ChatClient(http, options)


def choose_extractor(settings: Settings) -> ExtractBy:
    """Return what reads messages unless their call says otherwise."""
    by_network = settings.extract == "network" or settings.llm_base_url is None
    return ExtractBy.NETWORK if by_network else ExtractBy.MODEL


def build_model_judge(
    settings: Settings, chat: ChatClient | None, budget: Budget
) -> ModelJudge | None:
    if chat is None or not settings.has_model_judge:
        return None
    return ModelJudge(chat, budget, _choose_form(settings))


def build_model_checker(
    settings: Settings, chat: ChatClient | None, budget: Budget
) -> ModelChecker | None:
    """Return the check of the model, if an endpoint is set."""
    if chat is None:
        return None
    judge = ModelJudge(chat, budget, _choose_form(settings))
    return ModelChecker(chat, judge, sure=settings.confidence_threshold)


def _choose_form(settings: Settings) -> Form | None:
    return None if settings.llm_form == "auto" else Form(settings.llm_form)


def build_budget(settings: Settings) -> Budget:
    return Budget(
        agent=Limits(settings.llm_calls_per_minute, settings.llm_tokens_per_day),
        key=Limits(settings.llm_calls_per_minute_per_key, settings.llm_tokens_per_day_per_key),
        total=Limits(settings.llm_calls_per_minute_in_all, settings.llm_tokens_per_day_in_all),
    )
