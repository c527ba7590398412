"""Another value for an attribute that holds one value at a time."""

from collections.abc import Iterator

from app.classification.signals import lexicon
from app.classification.signals.compare import ValueComparison, compare_values
from app.classification.signals.finding import make_finding
from app.classification.signals.frame import Frame
from app.classification.signals.pair import Pair
from app.classification.signals.relation import Finding, Relation


def find_single_valued_change(pair: Pair) -> Iterator[Finding]:
    """UPDATE where the same attribute of the same subject gets a value that excludes the old one."""
    for new, old in pair.frame_pairs:
        if (
            not (new.is_assertion and old.is_assertion)
            or compare_values(pair, new, old) is not ValueComparison.DIFFERS
            or _of_other_things(pair, new, old)
        ):
            continue
        said = f"{new.attribute.removeprefix('noun:').replace('_', ' ')}: {old.spoken} before, {new.spoken} now"
        if new.fixed:
            yield make_finding("fixed_attribute", Relation.CONTRADICTION, said)
        elif not new.single or _names_one_of_several(new):
            yield make_finding("loose_attribute", Relation.UPDATE, said)
        elif new.cued or old.cued:
            yield make_finding("cued_attribute", Relation.UPDATE, said)
        elif new.is_built:
            yield make_finding("named_attribute", Relation.UPDATE, said)
        else:
            yield make_finding("single_valued", Relation.UPDATE, said)


def _names_one_of_several(frame: Frame) -> bool:
    """Return True if it names one of several that the owner may have: my cat, my son."""
    return frame.attribute == "name" and bool(
        frame.subject & (lexicon.KIN | lexicon.MANY_VALUED_NOUNS)
    )


def _of_other_things(pair: Pair, new: Frame, old: Frame) -> bool:
    """Return True if what is said besides tells them apart: 40 ms "for node-b", 60 ms "for node-a"."""
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
