"""The agent: the unit of isolation, and what may be written to it."""

from enum import StrEnum
from typing import NewType

AgentId = NewType("AgentId", str)


class Mode(StrEnum):
    """What becomes of changes (reference 001): they are made; they become reviews; nothing is written at all."""

    LIVE = "live"
    SHADOW = "shadow"
    FROZEN = "frozen"
