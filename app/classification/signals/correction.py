"""A text that says of itself that it corrects another: "Actually, Y"."""

from collections.abc import Iterator

from app.classification.signals import lexicon
from app.classification.signals.finding import make_finding
from app.classification.signals.pair import Pair
from app.classification.signals.relation import Finding, Relation
from app.domain.corrections import is_correction


def find_correction(pair: Pair) -> Iterator[Finding]:
    """Yield an update if a text marked as a correction says the same of the same owner with another
    value.
    """
    if (
        not is_correction(pair.new.text)
        or not pair.only_new
        or not pair.only_old
        or pair.new.is_question
    ):
        return
    shared = pair.shared - frozenset(pair.new.owner) - lexicon.LIGHT_WORDS
    if shared and pair.one_span and _is_one_value(pair) and pair.same_order and pair.same_owner:
        yield make_finding(
            "correction", Relation.UPDATE, f"corrects {' '.join(sorted(pair.only_old))}"
        )


def _is_one_value(pair: Pair) -> bool:
    """Return True if no typed value differs, or nothing but one."""
    typed = any(pair.new.is_value(i) for i in pair.only_new) or any(
        pair.old.is_value(i) for i in pair.only_old
    )
    return not typed or len(pair.only_new) == len(pair.only_old) == 1
