"""Parts made out of settings alone, for the service and for workers."""

from datetime import timedelta

import httpx
from sqlalchemy.ext.asyncio import AsyncEngine

from app.classification.model.budget import Budget
from app.classification.model.chat import ChatClient, ChatOptions
from app.classification.model.judge import ModelJudge
from app.domain.policy import Policy
from app.services.classify import StoreSettings
from app.services.retention import Retention, RetentionSettings
from app.settings import Settings
from app.store.engine import Patience
from app.store.log.archive_files import Archives


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
        fuzzy=settings.fuzzy_dedupe,
        max_candidates=settings.max_candidates,
        min_importance=settings.candidate_min_importance,
        similarity_floor=settings.similarity_floor,
        language=settings.text_language,
        looks_again=settings.supersession_enabled,
    )


def build_retention(engine: AsyncEngine, settings: Settings) -> Retention:
    cold, archive = settings.cold_after_days, settings.audit_retention_days
    retention = RetentionSettings(
        cold_after=timedelta(days=cold) if cold else None,
        archive_after=timedelta(days=archive) if archive else None,
    )
    archives = Archives(settings.archive_folder, may_make=settings.archive_dir is None)
    return Retention(engine, archives, retention)


def build_model_judge(settings: Settings, http: httpx.AsyncClient) -> ModelJudge | None:
    """The model judge, where an endpoint is set and both switches of reference 001 are on."""
    if settings.llm_base_url is None or not (
        settings.semantic_contradiction_enabled and settings.supersession_semantic_fallback
    ):
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
    )
    budget = Budget(
        calls_per_minute=settings.llm_calls_per_minute, tokens_per_day=settings.llm_tokens_per_day
    )
    return ModelJudge(ChatClient(http, options), budget)
