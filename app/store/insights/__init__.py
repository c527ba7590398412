"""What a history tells of itself, one statement per section. Everything is counted as believed now; what a section counts is narrowed to
what became known in a window. Ids come newest first, MOST_IDS at most, beside a count of all."""

from app.store.insights.asked import MOST_IDS, InsightsScope, open_insights_snapshot
from app.store.insights.constraints import read_stale_constraints
from app.store.insights.judged import BANDS, read_retire_rates, read_signal_outcomes
from app.store.insights.values import (
    read_chain_lengths,
    read_churn,
    read_flip_flops,
    read_lifetimes,
)

__all__ = [
    "BANDS",
    "MOST_IDS",
    "InsightsScope",
    "open_insights_snapshot",
    "read_chain_lengths",
    "read_churn",
    "read_flip_flops",
    "read_lifetimes",
    "read_retire_rates",
    "read_signal_outcomes",
    "read_stale_constraints",
]
