"""The agent: the unit of isolation, and what may be written to it."""

from enum import StrEnum
from typing import NewType

AgentId = NewType("AgentId", str)


class Mode(StrEnum):
    """The way in which changes are handled (reference 001).

    LIVE makes it, SHADOW turns it into a review, FROZEN writes nothing to memories at all.
    """

    LIVE = "live"
    SHADOW = "shadow"
    FROZEN = "frozen"
