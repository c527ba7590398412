"""The free JSON of a memory (`details`), and its bounds."""

import math
from typing import Any

from app.domain.text import is_storable

MAX_DETAILS_DEPTH = 8
MAX_DETAILS_SIZE = 2_000
MAX_DETAIL_TEXT = 16_000  # characters


def check_details(details: dict[str, Any], *, most: float = math.inf) -> None:
    """Raise ValueError if details hold more than `most` values, or what no read could answer.

    The details of a merged memory are those of all its sources, so that no bound holds for them.
    """
    layer: list[tuple[int, Any]] = [(1, details)]
    while layer:
        depth, value = layer.pop()
        inner_values = _list_inner_values(value)
        most -= len(inner_values)
        if depth > MAX_DETAILS_DEPTH:
            raise ValueError(f"must hold values nested at most {MAX_DETAILS_DEPTH} deep")
        if most < 1:
            raise ValueError(f"must hold at most {MAX_DETAILS_SIZE} values")
        _check_detail(value)
        layer += [(depth + 1, inner) for inner in inner_values]


def _list_inner_values(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _check_detail(value: Any) -> None:
    """Raise ValueError if Postgres could not hold the value, whatever is nested in it."""
    if isinstance(value, str):
        _check_detail_text(value)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError("must not contain NaN or Infinity")
    elif isinstance(value, int) and abs(value) >= 10**30:
        raise ValueError("must not contain integers of more than 30 digits")
    elif isinstance(value, dict):
        for name in value:
            _check_detail_text(name)


def _check_detail_text(text: str) -> None:
    if not is_storable(text):
        raise ValueError("must not contain NUL characters or lone surrogates")
    if len(text) > MAX_DETAIL_TEXT:
        raise ValueError(f"must not contain texts of more than {MAX_DETAIL_TEXT} characters")
