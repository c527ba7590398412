"""The phrases of time that a text may hold."""

from dataclasses import dataclass
from datetime import time
from enum import Enum, auto

from app.domain.dates.names import Unit
from app.domain.dates.points import Point


class PhraseKind(Enum):
    """What a phrase says of its points."""

    SINCE = auto()  # "since March": from the start of the point on
    FROM = auto()  # "from 1 May", "starting Monday"
    UNTIL = auto()  # "until Friday": to the start of the point
    THROUGH = auto()  # "through Friday": to the end of the point
    BETWEEN = auto()  # "from May to June", "between 2010 and 2014"
    LASTING = auto()  # "for three weeks"
    REST = auto()  # "for the rest of the month": from the saying to the end of the point
    WHOLE = auto()  # "all last week", "throughout the eighties"
    DURING = auto()  # "in March", "last month", "on Friday"
    BY = auto()  # "by Friday"
    AROUND = auto()  # "before June", "after June"
    VAGUE = auto()  # "the other day", "a few weeks ago"


@dataclass(frozen=True, slots=True)
class Phrase:
    """One phrase of time. `first` and `end` are the places of its words, half-open.

    `point` is its only or first point and `until` its last one. A phrase that lasts has `count` and
    `unit` instead. `is_vague` is True if the words do not say when the time starts or ends.
    """

    kind: PhraseKind
    first: int
    end: int
    point: Point | None = None
    until: Point | None = None
    is_through: bool = False
    count: int = 0
    unit: Unit = Unit.DAY
    is_vague: bool = False
    hour: time | None = None
