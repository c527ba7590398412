"""The answer of an embeddings endpoint: vectors that can be compared, or a trouble."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.remote.trouble import (
    CallOutcome,
    Reason,
    Trouble,
    field_of,
    find_error_message,
    format_detail,
    parse_json,
)


@dataclass(frozen=True, slots=True)
class Vectors(CallOutcome):
    """Rows of unit length in the order of the texts: (texts, dimensions)."""

    rows: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class WrongSize(Trouble):
    """The vectors have another size than the settings say."""

    received: int = field(kw_only=True)
    expected: int = field(kw_only=True)


def read_vectors(body: bytes, *, texts: int, dimensions: int) -> Vectors | Trouble:
    """Return one vector of that many dimensions for each text, or a trouble for any other body."""
    entries = field_of(parse_json(body), "data")
    if not isinstance(entries, list):
        detail = format_detail(find_error_message(body))
        return _make_trouble(f"did not answer with a list of embeddings{detail}")
    if len(entries) != texts:
        return _make_trouble(f"answered with {len(entries)} embeddings for {texts} texts")
    vectors = _order_by_index(entries)
    if vectors is None:
        return _make_trouble("did not give each text one embedding by `index`")
    for numbers in vectors:
        if len(numbers) != dimensions:
            return WrongSize(
                Reason.MALFORMED,
                f"The embedding server answered with {len(numbers)} dimensions "
                f"instead of {dimensions}.",
                received=len(numbers),
                expected=dimensions,
            )
    return normalise_rows(vectors)


def _order_by_index(entries: list[Any]) -> list[list[Any]] | None:
    """Return the lists of numbers by their `index`, or None if not every text has one.

    Servers that leave out `index` answer in the order of the texts.
    """
    by_index: dict[int, list[Any]] = {}
    for place, entry in enumerate(entries):
        if not isinstance(entry, dict):
            return None
        index = entry.get("index", place)
        numbers = entry.get("embedding")
        is_place = type(index) is int and 0 <= index < len(entries)  # True would count as 1
        if not is_place or index in by_index or not isinstance(numbers, list) or not numbers:
            return None
        by_index[index] = numbers
    return [by_index[index] for index in range(len(entries))]


def normalise_rows(lists: list[list[Any]] | NDArray[np.float32]) -> Vectors | Trouble:
    """Return vectors of unit length, or a trouble for what is no vector with a direction."""
    try:
        rows = np.array(lists)
    except ValueError:  # for lists within lists
        return _make_trouble("answered with embeddings that are not lists of numbers")
    if rows.dtype.kind not in "if" or rows.ndim != 2:
        return _make_trouble("answered with embeddings that are not lists of numbers")
    if not np.isfinite(rows).all():
        return _make_trouble("answered with an embedding that is not finite (NaN or infinity)")
    largest = np.abs(rows.astype(np.float64)).max(axis=1, keepdims=True)
    if not largest.all():
        return _make_trouble(
            "answered with an embedding of nothing but zeros, which points nowhere"
        )
    # Without this step the squares of very large or very small numbers would leave the range.
    scaled = rows / largest
    normalised = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    return Vectors(normalised.astype(np.float32))


def _make_trouble(what: str) -> Trouble:
    return Trouble(Reason.MALFORMED, f"The embedding server {what}.")
