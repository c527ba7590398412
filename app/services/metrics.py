"""What is counted, for /metrics. Of this process only."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from app.domain.plan import Plan

REGISTRY = CollectorRegistry()
_OPERATIONS = Counter(
    "palimpsest_operations", "Operations by what they did and who decided", ["operation", "relation", "decided_by"], registry=REGISTRY
)
_REVIEWS = Counter("palimpsest_reviews", "Reviews left, by why", ["source"], registry=REGISTRY)
_CALLS = Counter("palimpsest_model_calls", "HTTP calls to the model", registry=REGISTRY)
_TOKENS = Counter("palimpsest_model_tokens", "Tokens that the model's server counted", ["kind"], registry=REGISTRY)
_SECONDS = Histogram("palimpsest_model_seconds", "Seconds that asking the model took, retries included", registry=REGISTRY)
_TROUBLE = Counter("palimpsest_model_trouble", "Questions to the model without a usable answer to every part", registry=REGISTRY)


def count(plans: Iterable[Plan]) -> None:
    """Counts what was committed."""
    for plan in plans:
        _OPERATIONS.labels(plan.operation, plan.decision.relation, plan.decision.decided_by).inc()
        if plan.review:
            _REVIEWS.labels(plan.review.source).inc()
        if plan.asked:
            _CALLS.inc(plan.asked.llm_calls)
            _TOKENS.labels("prompt").inc(plan.asked.prompt_tokens)
            _TOKENS.labels("completion").inc(plan.asked.completion_tokens)
            _SECONDS.observe(plan.asked.ms / 1e3)
            if plan.asked.trouble:
                _TROUBLE.inc()


def count_erasure() -> None:
    """Counts an erasure that was committed."""
    _OPERATIONS.labels("ERASE", "NONE", "caller").inc()


def exposition() -> bytes:
    """Everything counted so far, in the text format of Prometheus."""
    return generate_latest(REGISTRY)
