"""Insights into an agent's history, one statement for each section.

Everything is counted as believed now, and narrowed to what became known in a window. Ids come
newest first, MOST_IDS at most, next to a count of all.
"""

from app.store.insights.constraints import read_stale_constraints
from app.store.insights.outcomes import BANDS, read_retire_rates, read_signal_outcomes
from app.store.insights.scope import MOST_IDS, InsightsScope, open_insights_snapshot
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
