"""Insights into an agent's history, one statement for each section.

Everything is counted as believed now, and narrowed to what became known in a window. Ids come
newest first, MOST_IDS at most, next to a count of all.
"""

from app.store.insights.counted import (
    CountedInsights,
    Rows,
    find_counted_insights,
    forget_insights,
    read_section,
    refresh_insights,
)
from app.store.insights.outcomes import BANDS
from app.store.insights.scope import (
    MOST_EXAMINED,
    MOST_IDS,
    InsightsScope,
    narrow_scope,
    open_insights_snapshot,
)

__all__ = [
    "BANDS",
    "MOST_EXAMINED",
    "MOST_IDS",
    "CountedInsights",
    "InsightsScope",
    "Rows",
    "find_counted_insights",
    "forget_insights",
    "narrow_scope",
    "open_insights_snapshot",
    "read_section",
    "refresh_insights",
]
