"""How the answer of an embeddings endpoint is read: vectors that can be compared, or what is wrong with them."""

from dataclasses import dataclass, field
from operator import itemgetter
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
    """One vector of so many dimensions for each of so many texts. Whatever the bytes are, the result is a value."""
    entries = field_of(parse_json(body), "data")
    if not isinstance(entries, list):
        return _make_trouble(
            f"did not answer with a list of embeddings{format_detail(find_error_message(body))}"
        )
    if len(entries) != texts:
        return _make_trouble(f"answered with {len(entries)} embeddings for {texts} texts")
    lists = _in_order(entries)
    if lists is None:
        return _make_trouble("did not give each text one embedding by `index`")
    if other := next((len(numbers) for numbers in lists if len(numbers) != dimensions), None):
        return WrongSize(
            Reason.MALFORMED,
            f"The embedding server answered with {other} dimensions instead of {dimensions}.",
            received=other,
            expected=dimensions,
        )
    return _normalise_rows(lists)


def _in_order(entries: list[Any]) -> list[list[Any]] | None:
    """The lists of numbers by their `index`; servers that leave it out answer in the order asked."""
    places: list[Any] = [
        entry.get("index", place) if isinstance(entry, dict) else None
        for place, entry in enumerate(entries)
    ]
    if any(type(place) is not int for place in places) or sorted(places) != list(
        range(len(entries))
    ):
        return None
    lists = [
        entry.get("embedding")
        for _, entry in sorted(zip(places, entries, strict=True), key=itemgetter(0))
    ]
    return lists if all(isinstance(numbers, list) and numbers for numbers in lists) else None


def _normalise_rows(lists: list[list[Any]]) -> Vectors | Trouble:
    try:
        rows = np.array(lists)
    except ValueError:  # lists within lists
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
    scaled = rows / largest  # else the squares of very large or small numbers would leave the range
    return Vectors((scaled / np.linalg.norm(scaled, axis=1, keepdims=True)).astype(np.float32))


def _make_trouble(what: str) -> Trouble:
    return Trouble(Reason.MALFORMED, f"The embedding server {what}.")
