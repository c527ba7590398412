"""Whether two texts give one attribute of one subject values of the same kind."""

from functools import lru_cache

from app.classification.signals.pair import Pair
from app.classification.signals.reading import parse_text
from app.classification.signals.relation import Statement
from app.domain.text import fold

# Signals that were right in 99 of 100 cases at least, on sources that they were not tuned on too.
RELIABLE = frozenset(("single_valued", "cued_attribute", "value_conflict", "identifier_version"))


@lru_cache(maxsize=4096)
def has_values_of_one_kind(stored: str, incoming: str) -> bool:
    """Return True if both texts assert a value of one attribute, both names or both numbers."""
    pair = Pair(parse_text(incoming), parse_text(stored), Statement(incoming), Statement(stored))
    for new, old in pair.frame_pairs:
        if new.is_assertion and old.is_assertion and new.kind == old.kind != "text":
            return True
    return False


@lru_cache(maxsize=4096)
def differs_in_value_only(stored: str, incoming: str) -> bool:
    """Return True if both texts are states in the same words, but for a value of the same kind."""
    pair = Pair(parse_text(incoming), parse_text(stored), Statement(incoming), Statement(stored))
    for new, old in pair.frame_pairs:
        if new.change or old.change or new.kind != old.kind or new.kind == "text":
            continue
        if _leave_out(incoming, new.spoken) == _leave_out(stored, old.spoken):
            return True
    return False


def _leave_out(text: str, value: str) -> str:
    return fold(text.replace(value, "…", 1)).rstrip(".!")
