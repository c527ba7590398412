"""Plans of Postgres, as EXPLAIN (ANALYZE, FORMAT JSON) shows them."""

from collections.abc import Mapping
from typing import Any


def count_rows_in_plan(node: Mapping[str, Any], table: str) -> int:
    """Return how many rows of a table the scans of a plan read, those that failed included."""
    inner = sum(count_rows_in_plan(one, table) for one in node.get("Plans", ()))
    if node.get("Relation Name") != table or node["Node Type"] == "Bitmap Index Scan":
        return inner
    rows = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
    return inner + round(rows * node["Actual Loops"])
