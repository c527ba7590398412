"""A text that says of itself that it corrects another: "Actually, Y"."""

from collections.abc import Iterator

from app.classification.signals import lexicon
from app.classification.signals.finding import make_finding
from app.classification.signals.pair import Pair
from app.domain.corrections import is_correction
from app.domain.relation import Finding, Relation


def find_correction(pair: Pair) -> Iterator[Finding]:
    """Yield an update if a text marked as a correction says the same of the same owner with another
    value.
    """
    if not is_correction(pair.new.text) or pair.new.is_question:
        return
    if not pair.only_new or not pair.only_old:
        return
    # No typed value differs, or nothing but one.
    is_typed = any(map(pair.new.is_value, pair.only_new))
    is_typed = is_typed or any(map(pair.old.is_value, pair.only_old))
    if is_typed and not len(pair.only_new) == len(pair.only_old) == 1:
        return
    shared = pair.shared - frozenset(pair.new.owner) - lexicon.LIGHT_WORDS
    if shared and pair.one_span and pair.same_order and pair.same_owner:
        reason = f"corrects {' '.join(sorted(pair.only_old))}"
        yield make_finding("correction", Relation.UPDATE, reason)
