"""The same fact told again."""

from collections.abc import Iterator

from app.classification.signals import lexicon
from app.classification.signals.compare import ValueComparison, compare_values
from app.classification.signals.finding import make_finding
from app.classification.signals.frames import find_frames
from app.classification.signals.lemma import IRREGULAR
from app.classification.signals.pair import Pair
from app.classification.signals.reading import Reading
from app.domain.relation import Finding, Relation

_MODAL_WORDS = frozenset("can could may might must should would will".split())


def find_duplicate(pair: Pair) -> Iterator[Finding]:
    """Yield a duplicate if the incoming text says nothing that the stored one does not."""
    if pair.new.folded == pair.old.folded:
        yield make_finding("same_text", Relation.DUPLICATE, "the same words")
    elif _is_same_frame(pair):
        cued = any(f.cued or g.cued for f, g in pair.frame_pairs)
        yield make_finding(
            "same_cued_value" if cued else "same_value",
            Relation.DUPLICATE,
            "the same value for the same attribute",
        )
    elif _is_same_bag(pair):
        same_voice = _is_passive(pair.new) == _is_passive(pair.old)
        if pair.same_owner and pair.same_order and same_voice:
            reason = "the same content in other words"
            yield make_finding("same_content", Relation.DUPLICATE, reason)
        elif not same_voice or _is_rotated(pair):
            reason = "the same content in another order"
            yield make_finding("same_content_turned", Relation.DUPLICATE, reason)


def _is_same_frame(pair: Pair) -> bool:
    mine = find_frames(pair.new)
    if len(mine) != 1 or len(pair.frame_pairs) != 1 or len(pair.new.clauses) > 1:
        return False
    new, old = pair.frame_pairs[0]
    if (new.negated, new.modal) != (old.negated, old.modal):
        return False
    is_same = compare_values(pair, new, old) is ValueComparison.SAME
    return is_same and new.rest - lexicon.LIGHT_WORDS - _FILLER <= pair.old.items


_FILLER = frozenset("most recent build version release newest latest".split())


def _is_same_bag(pair: Pair) -> bool:
    if pair.new.items != pair.old.items or not pair.shared:
        return False
    if _is_past_tense(pair.new) != _is_past_tense(pair.old):
        return False
    return _describe_manner(pair.new) == _describe_manner(pair.old)


def _is_passive(reading: Reading) -> bool:
    norms = [t.norm for t in reading.tokens]
    return "by" in norms and "be" in norms[: norms.index("by")]


def _is_rotated(pair: Pair) -> bool:
    """Return True if only the place is put first."""
    new, old = pair.new.order, pair.old.order
    fronted = any(r.tokens[0].norm in lexicon.PREPOSITIONS for r in (pair.new, pair.old))
    return fronted and any(new[i:] + new[:i] == old for i in range(1, len(new)))


_DIRECTIONS = frozenset(
    "to from for until till since up down out off into with via than like as".split()
)
_PEOPLE = {
    form: who
    for who, forms in {
        "he": "he him his",
        "she": "she her hers",
        "they": "they them their theirs",
        "you": "you your yours",
    }.items()
    for form in forms.split()
}


def _describe_manner(reading: Reading) -> tuple[object, ...]:
    """Polarity, modality and quantifiers: what changes a meaning without changing its content."""
    polarity = tuple(c.negated for c in reading.clauses if c.negated)
    return (
        polarity,
        reading.words & _MODAL_WORDS,
        reading.quantifiers,
        "no" in reading.words,
        reading.words & _DIRECTIONS,
        tuple(_PEOPLE[t.norm] for t in reading.tokens if t.norm in _PEOPLE),
    )


def _is_past_tense(reading: Reading) -> bool:
    for text in (t.text.lower() for t in reading.tokens if t.kind == "word"):
        is_base = text in (IRREGULAR.get(text, text), "is", "are", "am", "has", "been")
        if text.endswith("ed") or not (is_base or text.endswith(("s", "ing"))):
            return True
    return False
