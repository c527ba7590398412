"""What a history tells of itself, one statement per section. Everything is counted as believed now; what a section counts is narrowed to
what became known in a window. Ids come newest first, MOST_IDS at most, beside a count of all."""

from app.store.insights.asked import MOST_IDS, Asked, looking_back
from app.store.insights.constraints import stale_constraints
from app.store.insights.judged import BANDS, retire_rates, signals
from app.store.insights.values import chain_lengths, churn, flip_flops, lifetimes

__all__ = [
    "BANDS",
    "MOST_IDS",
    "Asked",
    "chain_lengths",
    "churn",
    "flip_flops",
    "lifetimes",
    "looking_back",
    "retire_rates",
    "signals",
    "stale_constraints",
]
