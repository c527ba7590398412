"""Another value for an attribute that holds one value at a time."""

from collections.abc import Iterator

from app.classification.signals import lexicon
from app.classification.signals.compare import ValueComparison, compare_values
from app.classification.signals.finding import make_finding
from app.classification.signals.frame import Frame
from app.classification.signals.pair import Pair
from app.classification.signals.relation import Finding, Relation


def find_single_valued_change(pair: Pair) -> Iterator[Finding]:
    """Yield a finding if an attribute of the same subject has a value that excludes the old one."""
    for new, old in pair.frame_pairs:
        if not new.is_assertion or not old.is_assertion:
            continue
        if _is_of_another_kind(new, old) or _of_other_things(pair, new, old):
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
    if not new.single or _names_one_of_several(new):
        return "loose_attribute"
    if new.cued or old.cued:
        return "cued_attribute"
    if new.change or old.change:
        return "changed_attribute"
    return "named_attribute" if new.is_built else "single_valued"


def _is_of_another_kind(new: Frame, old: Frame) -> bool:
    """Return True if plain words follow a name: "in the suburbs" after "in Boston".

    About what never changes, such as a birthplace, a person is asked in any case.
    """
    return old.kind == "name" and new.kind == "text" and not new.fixed


def _names_one_of_several(frame: Frame) -> bool:
    """Return True if it names one of several that the owner may have: my cat, my son."""
    return frame.attribute == "name" and bool(
        frame.subject & (lexicon.KIN | lexicon.MANY_VALUED_NOUNS)
    )


def _of_other_things(pair: Pair, new: Frame, old: Frame) -> bool:
    """Return True if the rest tells them apart, such as "for node-b" and "for node-a"."""
    mine, other = (
        new.rest - old.rest - lexicon.LIGHT_WORDS,
        old.rest - new.rest - lexicon.LIGHT_WORDS,
    )
    if new.kind not in ("text", "name", "constant"):
        return bool(mine and other)
    return any(pair.new.kinds.get(i) in _TELLING for i in mine) and any(
        pair.old.kinds.get(i) in _TELLING for i in other
    )


_TELLING = frozenset(("name", "code", "number", "version"))
