"""Pages bounded in bytes: a thousand rows may hold gigabytes, and an answer is built in memory."""

from collections.abc import Mapping, Sequence
from typing import Any

# For pages of which only ids are used.
ANY_SIZE = 2**62


JSON_BYTES = "octet_length(CAST(to_json(page) AS text))"


def bound_page(page: str, order: str, size: str = JSON_BYTES) -> str:
    """Return the SELECT of the page's rows, in this order, until they reach `:max_bytes`.

    `size` is the expression for the bytes of a row of `page`. The first row always comes, whatever
    its size. Each row carries `page_rows`, the number of rows that the page has.
    """
    return f"""
        SELECT * FROM (
            SELECT page.*,
                count(*) OVER () AS page_rows,
                coalesce(
                    sum({size}) OVER (
                        ORDER BY {order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                    ), 0
                ) AS bytes_before
            FROM ({page}) AS page
        ) AS sized
        WHERE bytes_before < :max_bytes
    """


def is_cut(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return True if the bound left out rows of the page. A page without a bound is whole."""
    return bool(rows) and rows[0].get("page_rows", 0) > len(rows)
