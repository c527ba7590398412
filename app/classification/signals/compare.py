"""Return True if two values of one attribute are the same, differ, or cannot be compared."""

from enum import Enum

from app.classification.signals.frame import Frame
from app.classification.signals.pair import Pair
from app.classification.signals.token import CALENDAR


class ValueComparison(Enum):
    """The outcome of comparing two values."""

    SAME = "same"
    DIFFERS = "differs"
    UNCLEAR = "unclear"


def compare_values(pair: Pair, new: Frame, old: Frame) -> ValueComparison:
    """Compare the value of `new` with the value of `old`."""
    if new.value == old.value:
        return ValueComparison.SAME
    if "constant" in (new.kind, old.kind):
        is_unclear = "ended" in new.value and "open" not in old.value
        return ValueComparison.UNCLEAR if is_unclear else ValueComparison.DIFFERS
    if new.kind in CALENDAR or old.kind in CALENDAR:
        return _compare_calendar(pair, new, old)
    if new.kind in ("text", "name") or old.kind in ("text", "name"):
        return _compare_phrases(pair, new, old)
    return ValueComparison.DIFFERS


def _compare_calendar(pair: Pair, new: Frame, old: Frame) -> ValueComparison:
    for kind in CALENDAR:
        mine = {v for v in new.value if pair.new.kinds.get(v) == kind}
        other = {v for v in old.value if pair.old.kinds.get(v) == kind}
        if mine and other and mine != other:
            # Forms of equal length are equally exact, so that they can be compared.
            comparable = kind != "date" or len({*map(len, mine), *map(len, other)}) == 1
            return ValueComparison.DIFFERS if comparable else ValueComparison.UNCLEAR
    return ValueComparison.UNCLEAR


def _compare_phrases(pair: Pair, new: Frame, old: Frame) -> ValueComparison:
    if new.value <= old.value or old.value <= new.value:
        return ValueComparison.UNCLEAR
    if new.change or not new.value & old.value:
        return ValueComparison.DIFFERS
    telling = [
        _is_telling(pair.new.kinds, new.value - old.value),
        _is_telling(pair.old.kinds, old.value - new.value),
    ]
    return ValueComparison.DIFFERS if all(telling) else ValueComparison.UNCLEAR


def _is_telling(kinds: dict[str, str], items: frozenset[str]) -> bool:
    return any(kinds.get(i, "marker") != "word" for i in items)
