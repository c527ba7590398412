"""Opposites: both texts match, but where one says a word the other says its opposite."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from app.classification.signals import lexicon
from app.classification.signals.finding import make_finding
from app.classification.signals.pair import Pair
from app.classification.signals.token import Token, find_place
from app.domain.relation import Finding, Relation

_BECOMING = frozenset("be get become go turn".split())
_COMES_IN_MANY = frozenset("come available offer sell buy".split())
_HOLDS_MANY = frozenset("have contain hold include".split())
_POINTING = lexicon.ARTICLES | {"my", "our", "'s"}


def find_antonyms(pair: Pair) -> Iterator[Finding]:
    """Yield a finding if exactly one word differs and the two words exclude each other."""
    if len(pair.only_old) != 1 or not pair.same_owner or not pair.same_order:
        return
    if not (pair.shared or pair.new.owner):
        return
    if (pair.new.negated, pair.new.modal) != (pair.old.negated, pair.old.modal):
        return
    (old,) = pair.only_old
    new = next(iter(pair.only_new)) if len(pair.only_new) == 1 else _new_state(pair)
    if _describes_subject(pair.new.tokens, new) or _describes_subject(pair.old.tokens, old):
        return
    if old in lexicon.ANTONYMS.get(new, ()):
        if not _describes_one_of_many(pair, new):
            reason = f"{new} is the opposite of {old}"
            yield make_finding("antonym", Relation.CONTRADICTION, reason)
    elif new and pair.new.kinds[new] == "word" and not _may_hold_both(pair, new, old):
        groups = lexicon.EXCLUSIVE_GROUPS
        if groups.get(new, frozenset()) & groups.get(old, frozenset()):
            yield make_finding("exclusive_value", Relation.UPDATE, f"{new} excludes {old}")


def _new_state(pair: Pair) -> str:
    """Return the one state that the incoming text asserts, as in "got divorced in June", or ""."""
    tokens = [token for token in pair.new.tokens if token.norm not in lexicon.SUPPORT]
    states = []
    for token, following in pairwise(tokens):
        if token.norm in _BECOMING and following.norm in pair.only_new:
            states.append(following.norm)
    return states[0] if len(states) == 1 and len(pair.only_new) <= 3 else ""


def _may_hold_both(pair: Pair, new: str, old: str) -> bool:
    """Return True if both words can be true of one thing.

    Things come in many colours, and some words only describe a thing ("red wine", "white wine").
    """
    words = pair.old.words
    if "be" in words or {"use", "for"} <= words:
        return False
    if words & (lexicon.MANY_VALUED_VERBS - {"have"}) or words & _COMES_IN_MANY:
        return True
    return _is_attributive(pair.new.tokens, new) or _is_attributive(pair.old.tokens, old)


def _describes_one_of_many(pair: Pair, new: str) -> bool:
    """Return True if both words describe things of which there may be several: "a small dog"."""
    (old,) = pair.only_old
    if not _is_attributive(pair.new.tokens, new) or not _is_attributive(pair.old.tokens, old):
        return False
    if "be" in pair.old.words:
        return False
    before = {token.norm for token, following in pairwise(pair.new.tokens) if following.norm == new}
    if before & {"a", "an", "another"}:
        return True
    return bool(pair.old.words & (lexicon.MANY_VALUED_VERBS - _HOLDS_MANY))


def _is_attributive(tokens: Sequence[Token], word: str) -> bool:
    """Return True if a noun follows that the word belongs to."""
    place = find_place(tokens, (word,))
    if place is None or place + 1 == len(tokens):
        return False
    following = tokens[place + 1]
    is_noun = following.kind in ("word", "name")
    return is_noun and following.norm not in lexicon.FUNCTION_WORDS | lexicon.SUPPORT


def _describes_subject(tokens: Sequence[Token], word: str) -> bool:
    """Return True if the word only tells which thing is meant: "the small table is …"."""
    place = find_place(tokens, (word,)) or 0
    return 0 < place <= 2 and tokens[place - 1].norm in _POINTING
