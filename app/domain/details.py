"""The free JSON of a memory (`details`), and its bounds."""

import math
from typing import Any

from app.domain.text import is_storable

MAX_DETAILS_DEPTH = 8
MAX_DETAILS_SIZE = 2_000
MAX_DETAILS_DIGITS = 30
MAX_DETAIL_TEXT = 16_000  # characters
# Postgres writes a number such as 1e300 as an integer.
_STORED_DIGITS = 309


def check_details(details: dict[str, Any]) -> None:
    """Raise ValueError if these are not details that a call may send."""
    _check_details(details, most=MAX_DETAILS_SIZE, digits=MAX_DETAILS_DIGITS)


def check_stored_details(details: dict[str, Any]) -> None:
    """Raise ValueError if these are not details that are stored.

    Those of a merged memory hold the values of all its sources.
    """
    _check_details(details, most=math.inf, digits=_STORED_DIGITS)


def _check_details(details: dict[str, Any], *, most: float, digits: int) -> None:
    layer: list[tuple[int, Any]] = [(1, details)]
    while layer:
        depth, value = layer.pop()
        inner_values = _list_inner_values(value)
        most -= len(inner_values)
        if depth > MAX_DETAILS_DEPTH or most < 1:
            raise ValueError(
                f"must hold at most {MAX_DETAILS_SIZE} values, "
                f"nested at most {MAX_DETAILS_DEPTH} deep"
            )
        _check_detail(value, digits)
        layer += [(depth + 1, inner) for inner in inner_values]


def _list_inner_values(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _check_detail(value: Any, digits: int) -> None:
    """Raise ValueError if Postgres could not hold the value, whatever is nested in it."""
    if isinstance(value, str):
        _check_detail_text(value)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError("must not contain NaN or Infinity")
    elif isinstance(value, int) and abs(value) >= 10**digits:
        raise ValueError(f"must not contain integers of more than {digits} digits")
    elif isinstance(value, dict):
        for name in value:
            _check_detail_text(name)


def _check_detail_text(text: str) -> None:
    if not is_storable(text):
        raise ValueError("must not contain NUL characters or lone surrogates")
    if len(text) > MAX_DETAIL_TEXT:
        raise ValueError(f"must not contain texts of more than {MAX_DETAIL_TEXT} characters")
