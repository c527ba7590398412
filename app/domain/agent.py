"""The agent: the unit of isolation, and what may be written to it."""

from enum import StrEnum
from typing import Final, NewType
from urllib.parse import quote

AgentId = NewType("AgentId", str)

# One rule for every door, because some carry ASCII only.
AGENT_ID_PATTERN = r"^[\x21-\x7e]{1,128}$"
AGENT_ID_RULE = (
    "1 to 128 printable ASCII characters without blanks; percent-encode others, as in Zo%C3%AB"
)

_ALLOWED: Final = "".join(map(chr, range(0x21, 0x7F)))


def escape_agent_id(name: str) -> AgentId:
    """Return the id of an agent that a person names: other characters are percent-encoded."""
    return AgentId(quote(name, safe=_ALLOWED))


class Mode(StrEnum):
    """The way in which changes are handled (reference 001).

    LIVE makes it, SHADOW turns it into a review, FROZEN writes nothing to memories at all.
    """

    LIVE = "live"
    SHADOW = "shadow"
    FROZEN = "frozen"
