"""The identity veto: what bears another slot, number or aspect ends nothing."""

from collections.abc import Iterator, Set

from app.classification.signals import lexicon
from app.classification.signals.explicit_change import find_changes
from app.classification.signals.pair import Pair
from app.classification.signals.renames import read_rename
from app.classification.signals.stays import find_home_of_guest

_SPEAKERS = frozenset(("i", "we"))


def find_vetoes(pair: Pair) -> Iterator[str]:
    """Yield the reasons, in words, why the two texts cannot be about the same thing."""
    incoming, stored = pair.incoming, pair.stored
    # A slot from the caller outranks the texts.
    if _differ(incoming.entity, stored.entity):
        yield f"entity {incoming.entity} is not entity {stored.entity}"
    if _differ(incoming.key, stored.key):
        yield f"key {incoming.key} is not key {stored.key}"
    yield from _list_other_identifiers(pair)
    yield from _list_other_labels(pair)
    if len(pair.only_new) + len(pair.only_old) <= 2:
        return
    for new in pair.only_new & lexicon.ASPECTS.keys():
        for old in pair.only_old & lexicon.ASPECTS.keys():
            if lexicon.ASPECTS[new] & lexicon.ASPECTS[old]:
                yield f"{new} is not {old}"


def _differ(new: str | None, old: str | None) -> bool:
    if not new or not old:
        return False
    return new.strip().casefold() != old.strip().casefold()


def find_other_owner(pair: Pair) -> str:
    """Return what keeps signals from judging texts that begin with different people, or "".

    It keeps the local judge from nothing: "My new boss is Ana" is about the speaker's boss too.
    """
    new, old = pair.new.owner, pair.old.owner
    if not new or not old or new == old or pair.frame_pairs or find_home_of_guest(pair):
        return ""
    if read_rename(pair.old.text, pair.new.text):
        return ""
    if any(clause.owner == old for clause in pair.new.clauses):
        return ""
    mine, other = frozenset(new), frozenset(old)
    # "Orla took over the app from Dmitri" names the stored owner, Dmitri, as the former one.
    if any(change.old == other for change in find_changes(pair.new.text)):
        return ""
    is_other_kin = mine & lexicon.KIN != other & lexicon.KIN
    is_by_speaker = bool({new[0], old[0]} & _SPEAKERS)
    # One text must name the owner of the other at all.
    may_be_one = mine <= pair.old.items | other or other <= pair.new.items | mine
    if is_other_kin or is_by_speaker or not may_be_one:
        return f"about {' '.join(new)}, not {' '.join(old)}"
    return ""


def _list_other_identifiers(pair: Pair) -> Iterator[str]:
    """The same name or noun has another number behind it."""
    for head in _shared_heads(pair.new.identifiers, pair.old.identifiers):
        mine = _numbers_behind(head, pair.new.identifiers)
        other = _numbers_behind(head, pair.old.identifiers)
        if mine & other or other & pair.new.items:
            continue
        if not _is_value(pair, mine | other) and not _is_object(pair, mine, other):
            yield f"{head} {min(mine)} is not {head} {min(other)}"


def _list_other_labels(pair: Pair) -> Iterator[str]:
    """The same noun has another number: "item 5" and "item 6"."""
    # The incoming text may name the former value.
    says_change = any(change.old & pair.old.items for change in find_changes(pair.new.text))
    for head in () if says_change else _shared_heads(pair.new.labels, pair.old.labels):
        mine = _numbers_behind(head, pair.new.labels)
        other = _numbers_behind(head, pair.old.labels)
        if not mine & other and not _is_value(pair, mine | other):
            yield f"{head} {min(mine)} is not {head} {min(other)}"


def _shared_heads(new: Set[tuple[str, str]], old: Set[tuple[str, str]]) -> Set[str]:
    return dict(new).keys() & dict(old).keys()


def _numbers_behind(head: str, numbered: Set[tuple[str, str]]) -> set[str]:
    return {number for noun, number in numbered if noun == head}


def _is_value(pair: Pair, numbers: set[str]) -> bool:
    """Return True if the numbers are values of an attribute that both texts give."""
    for new, old in pair.frame_pairs:
        if numbers & (new.value | new.rest | old.value | old.rest):
            return True
    return False


def _is_object(pair: Pair, mine: set[str], other: set[str]) -> bool:
    """Return True if the number is what the subject was upgraded to, runs, or listens on."""
    if "to" in pair.new.words and pair.new.words & lexicon.UPGRADE_VERBS:
        heads = dict(pair.new.identifiers | pair.old.identifiers).keys()
        if pair.shared - heads - mine - other:
            return True
    ends_both = pair.new.order[-1] in mine and pair.old.order[-1] in other
    if pair.only_new != mine or pair.only_old != other or not ends_both:
        return False
    new = pair.new
    has_subject = bool(new.owner) or new.order[0] not in dict(new.identifiers)
    words = {token.norm for token in new.tokens[1:] if token.kind == "word"}
    is_single = sum(token.norm in mine for token in new.tokens) == 1
    return is_single and has_subject and bool(words & lexicon.OCCUPYING_VERBS)
