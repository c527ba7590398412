"""What a phrase of time is to the fact of its text."""

from enum import StrEnum

from app.domain.dates.points import Lean


class Role(StrEnum):
    """What a phrase of time is to the fact, in the order of the network's outputs."""

    STARTED = "started"  # the fact holds from its start on, which has come
    STARTS = "starts"  # the fact holds from its start on, which is to come
    LASTS = "lasts"  # the fact holds in its interval
    EPISODE = "episode"  # the fact held in its interval, and is past
    VALUE = "value"  # it dates something inside the fact
    OPEN = "open"  # it may be either

    @property
    def lean(self) -> Lean:
        """Whether a date without a year or week is the last or the next one."""
        return Lean.FUTURE if self in (Role.STARTS, Role.LASTS) else Lean.PAST

    @property
    def dates(self) -> bool:
        """True if the phrase says when the fact holds or held."""
        return self not in (Role.VALUE, Role.OPEN)

    @property
    def is_start(self) -> bool:
        return self in (Role.STARTED, Role.STARTS)
