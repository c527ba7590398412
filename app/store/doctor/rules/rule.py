"""A rule of stored data, as a statement that finds what breaks it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.planning.audit.checks import Remedy


@dataclass(frozen=True, slots=True)
class Rule:
    """A statement whose rows break the rule. `ids` of a row are those of the fault; the sentence is filled from all its columns."""

    check: str
    sentence: str
    statement: str
    remedy: Callable[[Mapping[str, Any]], Remedy | None] = lambda _: None
