"""The incoming text repeats the stored one and goes on with detail."""

from collections.abc import Iterator

from app.classification.signals.finding import make_finding
from app.classification.signals.pair import Pair
from app.classification.signals.relation import Finding, Relation


def find_complement(pair: Pair) -> Iterator[Finding]:
    """Yield a complement if the incoming text says all of the stored one first and then adds detail
    of its own.
    """
    if (
        not pair.only_new
        or pair.only_old
        or not pair.new.owner
        or not pair.same_owner
        or len(pair.shared) < 3
    ):
        return
    if (
        pair.new.order[: len(pair.old.order)] == pair.old.order
        and _same_manner(pair)
        and not _goes_on_listing(pair)
    ):
        yield make_finding(
            "added_detail", Relation.COMPLEMENT, f"adds {' '.join(sorted(pair.only_new))}"
        )


def _same_manner(pair: Pair) -> bool:
    new, old = pair.new, pair.old
    return (
        not any(c.negated or c.modal for c in (*new.clauses, *old.clauses))
        and new.quantifiers == old.quantifiers
    )


def _goes_on_listing(pair: Pair) -> bool:
    """Return True if what is added is one more of a list, or part of a longer name, rather than
    detail.
    """
    place = next(i for i, t in enumerate(pair.new.tokens) if t.norm in pair.only_new)
    return pair.new.tokens[place - 1].norm in (",", "and", "or", ":", "of")
