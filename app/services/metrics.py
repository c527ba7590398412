"""Counters for /metrics, of this process or of all worker processes.

All processes share the folder that PROMETHEUS_MULTIPROC_DIR names, if it is set.
"""

import asyncio
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import psutil
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from sqlalchemy.ext.asyncio import AsyncEngine

from app.classification.model.check import ModelChecker
from app.domain.relation import ModelCost
from app.planning.plan import Plan
from app.services.webhooks import WebhookKeeper
from app.store.engine import Pool
from app.store.reads import Reads

# Seconds that figures wait for the database.
_PATIENCE = 1.0

REGISTRY = CollectorRegistry()
_OPERATIONS = Counter(
    "palimpsest_operations",
    "Operations by what they did and who decided",
    ["operation", "relation", "decided_by"],
    registry=REGISTRY,
)
_REVIEWS = Counter("palimpsest_reviews", "Reviews left, by why", ["source"], registry=REGISTRY)
_CALLS = Counter("palimpsest_model_calls", "HTTP calls to the model", registry=REGISTRY)
_TOKENS = Counter(
    "palimpsest_model_tokens",
    "Tokens that the model's server counted",
    ["kind"],
    registry=REGISTRY,
)
_SECONDS = Histogram(
    "palimpsest_model_seconds",
    "Seconds that asking the model took, retries included",
    registry=REGISTRY,
)
_TROUBLE = Counter(
    "palimpsest_model_trouble",
    "Questions to the model without a usable answer to every part",
    registry=REGISTRY,
)


def count_operations(plans: Iterable[Plan]) -> None:
    """Count operations that were committed."""
    for plan in plans:
        _OPERATIONS.labels(plan.operation, plan.decision.relation, plan.decision.decided_by).inc()
        if plan.review:
            _REVIEWS.labels(plan.review.source).inc()
        if plan.model_cost:
            count_model_cost(plan.model_cost)


def count_model_cost(cost: ModelCost) -> None:
    """Count a question to the model."""
    _CALLS.inc(cost.llm_calls)
    _TOKENS.labels("prompt").inc(cost.prompt_tokens)
    _TOKENS.labels("completion").inc(cost.completion_tokens)
    _SECONDS.observe(cost.ms / 1e3)
    if cost.trouble:
        _TROUBLE.inc()


_CAPPED = Counter(
    "palimpsest_capped_closures",
    "Memories that judges would have ended beyond what they may within an hour",
    registry=REGISTRY,
)


def count_capped_closures(closures: int) -> None:
    """Count what a plan would have ended, had it not become a question because of the cap."""
    _CAPPED.inc(closures)


def count_erasure() -> None:
    """Count an erasure that was committed."""
    _OPERATIONS.labels("ERASE", "NONE", "caller").inc()


_POOL = {
    name: Gauge(f"palimpsest_pool_{name}", meaning, registry=REGISTRY, multiprocess_mode="livesum")
    for name, meaning in (
        ("size", "Database connections there may be"),
        ("checked_out", "Database connections in use"),
        ("waiting", "Requests that wait for a database connection"),
    )
}


_READS = Counter(
    "palimpsest_reads",
    "Reads of the database by who answered: the primary or a replica",
    ["server"],
    registry=REGISTRY,
)
_FALLBACKS = Counter(
    "palimpsest_replica_fallbacks",
    "Reads that the primary answered because a replica could not, by why",
    ["replica", "reason"],
    registry=REGISTRY,
)
_REPLICA_LAG = Gauge(
    "palimpsest_replica_lag_seconds",
    "Seconds by which the answer of a replica may be old, at most",
    ["replica"],
    registry=REGISTRY,
    multiprocess_mode="livemax",
)
_REPLICA_USED = Gauge(
    "palimpsest_replica_used",
    "1 if reads go to the replica, otherwise 0; of several workers, the least",
    ["replica"],
    registry=REGISTRY,
    multiprocess_mode="livemin",
)


def count_read(server: str, trouble: str | None) -> None:
    """Count a read that this server answered, or had to leave to the primary."""
    if trouble is None:
        _READS.labels(server).inc()
    else:
        _FALLBACKS.labels(server, trouble).inc()


def update_replica_gauges(reads: Reads) -> None:
    """Set the gauges of the replicas to their present state."""
    for replica in reads.replicas:
        _REPLICA_LAG.labels(replica.name).set(replica.compute_lag())
        _REPLICA_USED.labels(replica.name).set(reads.is_used(replica))


_MODEL_USABLE = Gauge(
    "palimpsest_model_usable",
    "1 if the model passed its latest check, otherwise 0; of several workers, the least",
    ["model"],
    registry=REGISTRY,
    multiprocess_mode="livemin",
)


def update_model_gauge(checker: ModelChecker | None) -> None:
    """Set the gauge of the model to its latest check. Without a check there is none."""
    if checker and checker.report:
        _MODEL_USABLE.labels(checker.model).set(checker.report.is_usable)


_WEBHOOKS_UNREADABLE = Gauge(
    "palimpsest_webhooks_unreadable_agents",
    "Agents whose events cannot be read, so that no webhook gets them",
    registry=REGISTRY,
    multiprocess_mode="livemostrecent",
)


async def update_webhooks_gauge(keeper: WebhookKeeper) -> None:
    """Set the gauge of agents that webhooks cannot read. Without the database it stays as it is."""
    with suppress(Exception):
        async with asyncio.timeout(_PATIENCE):
            _WEBHOOKS_UNREADABLE.set(await keeper.count_unreadable_agents())


def update_pool_gauges(engine: AsyncEngine) -> None:
    """Set the gauges of the pool to its present state."""
    pool = engine.sync_engine.pool
    assert isinstance(pool, Pool)
    _POOL["size"].set(pool.size())
    _POOL["checked_out"].set(pool.checkedout())
    _POOL["waiting"].set(pool.waiting)


def render_metrics() -> bytes:
    """Return everything counted so far, in the text format of Prometheus."""
    folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    if folder is None:
        return generate_latest(REGISTRY)
    # Gauges of killed workers would count as still in use.
    for gauges in Path(folder).glob("gauge_live*_*.db"):
        pid = int(gauges.stem.rpartition("_")[2])
        if not psutil.pid_exists(pid):
            mark_process_dead(pid, folder)  # type: ignore[no-untyped-call]
    everyone = CollectorRegistry()
    MultiProcessCollector(everyone, folder)  # type: ignore[no-untyped-call]
    return generate_latest(everyone)
