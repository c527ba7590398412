"""Faults that the doctor finds, and the remedies that put some of them right."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class RemedyTable(StrEnum):
    """The tables in which a remedy can change a row."""

    AGENT = "agent"
    MEMORY = "memory"
    USAGE = "usage"
    OPERATION = "operation"


@dataclass(frozen=True, slots=True)
class Remedy:
    """The right values of some columns of one row, as computed from the other stored data.

    `id` is None for the agent's own row.
    """

    place: RemedyTable
    id: str | None
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """A broken rule: its name, a sentence, and the ids that break it.

    The ids are those of memories, operations or reviews.
    """

    check: str
    ids: tuple[str, ...]
    sentence: str
    remedy: Remedy | None = None
