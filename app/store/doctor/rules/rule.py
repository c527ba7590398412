"""A rule of stored data, as a statement that finds the rows that break it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.planning.audit.faults import Remedy


@dataclass(frozen=True, slots=True)
class Rule:
    """A statement that returns a row for each fault.

    The column `ids` has the ids of the fault. The sentence is filled from all columns of the row.
    """

    check: str
    sentence: str
    statement: str
    remedy: Callable[[Mapping[str, Any]], Remedy | None] = lambda _: None
