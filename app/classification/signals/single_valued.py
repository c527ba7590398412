"""Another value for an attribute that holds one value at a time."""

from collections.abc import Iterator

from app.classification.signals import lexicon
from app.classification.signals.compare import ValueComparison, compare_values
from app.classification.signals.finding import make_finding
from app.classification.signals.frame import Frame
from app.classification.signals.pair import Pair
from app.domain.relation import Finding, Relation

_SEVERAL = lexicon.KIN | lexicon.MANY_VALUED_NOUNS
_TELLING = frozenset(("name", "code", "number", "version"))


def find_single_valued_change(pair: Pair) -> Iterator[Finding]:
    """Yield a finding if an attribute of the same subject has a value that excludes the old one."""
    for new, old in pair.frame_pairs:
        if not new.is_assertion or not old.is_assertion:
            continue
        # "In the suburbs" after "in Boston" is of another kind. About what never changes, such as a
        # birthplace, a person is asked in any case.
        is_of_another_kind = (old.kind, new.kind) == ("name", "text") and not new.fixed
        if is_of_another_kind or _of_other_things(pair, new, old):
            continue
        if compare_values(pair, new, old) is not ValueComparison.DIFFERS:
            continue
        attribute = new.attribute.removeprefix("noun:").replace("_", " ")
        explanation = f"{attribute}: {old.spoken} before, {new.spoken} now"
        relation = Relation.CONTRADICTION if new.fixed else Relation.UPDATE
        yield make_finding(_find_name(new, old), relation, explanation)


def _find_name(new: Frame, old: Frame) -> str:
    if new.fixed:
        return "fixed_attribute"
    # One of several that the owner may have: my cat, my son.
    is_one_of_several = new.attribute == "name" and new.subject & _SEVERAL
    if not new.single or is_one_of_several:
        return "loose_attribute"
    if new.cued or old.cued:
        return "cued_attribute"
    if new.change or old.change:
        return "changed_attribute"
    return "named_attribute" if new.is_built else "single_valued"


def _of_other_things(pair: Pair, new: Frame, old: Frame) -> bool:
    """Return True if the rest tells them apart, such as "for node-b" and "for node-a"."""
    mine = new.rest - old.rest - lexicon.LIGHT_WORDS
    other = old.rest - new.rest - lexicon.LIGHT_WORDS
    if new.kind not in ("text", "name", "constant"):
        return bool(mine and other)
    return any(pair.new.kinds.get(i) in _TELLING for i in mine) and any(
        pair.old.kinds.get(i) in _TELLING for i in other
    )
