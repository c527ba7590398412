"""Plans of Postgres, as EXPLAIN (ANALYZE, FORMAT JSON) shows them."""

from collections.abc import Mapping
from typing import Any


def count_rows_in_plan(node: Mapping[str, Any], table: str) -> int:
    """Return how many rows of a table or CTE a plan's scans read, those that failed included."""
    inner = sum(count_rows_in_plan(one, table) for one in node.get("Plans", ()))
    if table not in (node.get("Relation Name"), node.get("CTE Name")):
        return inner
    rows = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
    return inner + round(rows * node["Actual Loops"])
