"""Relationships: links between memories that are not versions of one fact."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID


class LinkType(StrEnum):
    """The role of the source for the target (docs/guide/relationships.md). No link ends anything.

    A new type is a member here and, if it binds, an entry of `BINDING`; the database needs a
    migration for its CHECK.
    """

    REFERENCES = "references"
    CONTRADICTS = "contradicts"
    EXPANDS = "expands"
    SIMILAR = "similar"
    SEQUENTIAL = "sequential"
    CAUSES = "causes"
    ENABLES = "enables"
    SUPERSEDES = "supersedes"
    MERGED_INTO = "merged_into"
    RELATED_TO = "related_to"

    @property
    def strength(self) -> float:
        """How firmly a link of this type ties, from 0 to 1 (reference 003)."""
        return LOOSE_STRENGTH if self in LOOSE else 1.0


LOOSE = (LinkType.SIMILAR, LinkType.RELATED_TO)
LOOSE_STRENGTH = 0.8

BINDING = (
    LinkType.MERGED_INTO,
    LinkType.EXPANDS,
    LinkType.SEQUENTIAL,
    LinkType.CAUSES,
    LinkType.ENABLES,
    LinkType.REFERENCES,
)
"""The types by which a memory rests on another.

If one end of such a link ends, the other end is stale.
"""


@dataclass(frozen=True, slots=True)
class Relationship:
    """From one memory to another."""

    source: UUID
    target: UUID
    type: LinkType
