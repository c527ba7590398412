"""Opposites: both texts match, but where one says a word the other says its opposite."""

from collections.abc import Iterator
from itertools import pairwise

from app.classification.signals import lexicon
from app.classification.signals.finding import make_finding
from app.classification.signals.pair import Pair
from app.classification.signals.relation import Finding, Relation
from app.classification.signals.token import Token


def find_antonyms(pair: Pair) -> Iterator[Finding]:
    """CONTRADICTION where exactly one word differs and the two exclude each other."""
    if len(pair.only_old) != 1 or (not pair.shared and not pair.new.owner) or not pair.same_owner:
        return
    (old,) = pair.only_old
    new = next(iter(pair.only_new)) if len(pair.only_new) == 1 else _new_state(pair)
    same_polarity = pair.new.negated == pair.old.negated and pair.new.modal == pair.old.modal
    if not same_polarity or not pair.same_order:
        return
    if _describes_subject(pair.new.tokens, new) or _describes_subject(pair.old.tokens, old):
        return
    if old in lexicon.ANTONYMS.get(new, ()):
        if _describes_one_of_many(pair, new, old):
            return
        yield make_finding("antonym", Relation.CONTRADICTION, f"{new} is the opposite of {old}")
    elif (
        new
        and not _may_hold_both(pair, new, old)
        and pair.new.kinds[new] == "word"
        and lexicon.EXCLUSIVE_GROUPS.get(new, frozenset())
        & lexicon.EXCLUSIVE_GROUPS.get(old, frozenset())
    ):
        yield make_finding("exclusive_value", Relation.UPDATE, f"{new} excludes {old}")


def _new_state(pair: Pair) -> str:
    """The state that the incoming text asserts among other news: "got divorced in June"; "" where it asserts none."""
    tokens = [t for t in pair.new.tokens if t.norm not in lexicon.SUPPORT]
    states = [
        b.norm for a, b in pairwise(tokens) if a.norm in _BECOMING and b.norm in pair.only_new
    ]
    return states[0] if len(states) == 1 and len(pair.only_new) <= 3 else ""


_BECOMING = frozenset("be get become go turn".split())


def _may_hold_both(pair: Pair, new: str, old: str) -> bool:
    """Whether both can be: things that come in many colours, and a word that only describes a thing ("red wine", "white wine")."""
    if "be" in pair.old.words or ("use" in pair.old.words and "for" in pair.old.words):
        return False
    if (
        pair.old.words & lexicon.MANY_VALUED_VERBS - {"have"}
        or {"come", "available", "offer", "sell", "buy"} & pair.old.words
    ):
        return True
    return _is_attributive(pair.new.tokens, new) or _is_attributive(pair.old.tokens, old)


def _describes_one_of_many(pair: Pair, new: str, old: str) -> bool:
    """Whether both describe things of which there may be several: "a small dog", "likes hot tea"."""
    if not (_is_attributive(pair.new.tokens, new) and _is_attributive(pair.old.tokens, old)):
        return False
    if "be" in pair.old.words:
        return False
    before = {a.norm for a, b in pairwise(pair.new.tokens) if b.norm == new}
    return bool(before & {"a", "an", "another"}) or bool(
        (pair.old.words & lexicon.MANY_VALUED_VERBS) - {"have", "contain", "hold", "include"}
    )


def _is_attributive(tokens: tuple[Token, ...], word: str) -> bool:
    """Whether a noun follows that the word belongs to."""
    following = next((b for a, b in pairwise(tokens) if a.norm == word), None)
    return (
        following is not None
        and following.kind in ("word", "name")
        and following.norm not in lexicon.FUNCTION_WORDS | lexicon.SUPPORT
    )


def _describes_subject(tokens: tuple[Token, ...], word: str) -> bool:
    """Whether the word only tells which thing is meant: "the small table is …"."""
    place = next((i for i, t in enumerate(tokens) if t.norm == word), 0)
    after_article = place > 0 and (
        tokens[place - 1].norm in lexicon.ARTICLES or tokens[place - 1].norm in ("my", "our", "'s")
    )
    return after_article and place <= 2
