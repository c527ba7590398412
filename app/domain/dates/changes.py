"""Tells verbs after which a new state holds from verbs of a moment."""

from collections.abc import Sequence
from itertools import pairwise

from app.domain.dates import verbs
from app.domain.dates.names import NUMBERS, WEEKDAYS
from app.domain.dates.scan import get_low, get_word
from app.domain.dates.verb_groups import VerbGroup
from app.domain.dates.words import Word, WordKind


def is_change_verb(words: Sequence[Word], verb: VerbGroup) -> bool:
    """Return True if a new state holds after the verb: "moved to Lisbon", "was promoted"."""
    if verb.first < 0:
        return False
    low, following = get_low(words, verb.head), get_word(words, verb.head + 1)
    if verb.is_being or (low == "got" and following.low in verbs.PASSIVE_CHANGES):
        return low in verbs.PASSIVE_CHANGES or following.low in verbs.PASSIVE_CHANGES
    return low in verbs.CHANGES and _is_active_change(words, verb, low)


def is_coming_ending(words: Sequence[Word], verb: VerbGroup) -> bool:
    """Return True if something ends after the verb, at a time to come: "I'm leaving Acme"."""
    past = verbs.COMING_ENDS.get(get_low(words, verb.head))
    return past is not None and _is_active_change(words, verb, past)


def is_ending(words: Sequence[Word], verb: VerbGroup) -> bool:
    """Return True if something ends after the verb, at whatever time."""
    low = get_low(words, verb.head)
    return low in verbs.COMING_ENDS or low in verbs.COMING_ENDS.values()


def _is_active_change(words: Sequence[Word], verb: VerbGroup, low: str) -> bool:
    """Return True for a change; `low` is the past form of the verb."""
    following = get_word(words, verb.head + 1)
    things = _list_object(words, verb)
    if _is_momentary(low, things):
        return False
    if low in verbs.OWNING and _is_possession(things, low):
        return True
    if low in verbs.CHANGES_OF and (things or low not in verbs.CHANGES_WITHOUT_OBJECT):
        return _is_change_of(words, verb, low, things)
    if low == "turned" and (following.kind is WordKind.NUMBER or following.low in NUMBERS):
        return following.low not in ("a", "an")
    if low in verbs.TRANSFERS and following.low in verbs.POSSESSIVES:
        return _is_transfer(words, verb)
    return _is_change_before(low, following)


def _is_momentary(low: str, things: Sequence[str]) -> bool:
    """Return True for "changed my mind" and "hired a van"."""
    momentary = verbs.MOMENTARY_THINGS | verbs.NO_CHANGES_OF.get(low, frozenset())
    return not momentary.isdisjoint(things)


def _is_change_before(low: str, following: Word) -> bool:
    if following.low in verbs.NO_CHANGES_BEFORE.get(low, frozenset()):
        return False
    allowed = verbs.CHANGES_BEFORE.get(low)
    return allowed is None or following.low in allowed


# The words of an object behind a verb, at most.
_LONGEST_OBJECT = 5


def _list_object(words: Sequence[Word], verb: VerbGroup) -> list[str]:
    """Return the words of the object behind a verb: "a", "new", "job"."""
    things: list[str] = []
    for word in words[verb.head + 1 : verb.head + 1 + _LONGEST_OBJECT]:
        if word.kind is not WordKind.WORD or word.low in verbs.BEHIND_OBJECTS:
            break
        things.append(word.low)
    return things


def _is_possession(things: Sequence[str], low: str) -> bool:
    """Return True for "got a new car" and "sold the house"; a first one was got long ago."""
    if not things or "first" in things:
        return False
    is_new = low in ("got", "lost") and "new" in things
    return is_new or things[-1] in verbs.POSSESSIONS


def _is_change_of(words: Sequence[Word], verb: VerbGroup, low: str, things: Sequence[str]) -> bool:
    """Return True for "started a new job" and "started learning", but not for "started the car"."""
    following = get_word(words, verb.head + 1)
    if low == "left" and following.is_capitalised:
        return verb.first < 1 or get_low(words, verb.first - 1) in ("i", "we")
    if low in ("started", "began") and following.low.endswith("ing"):
        return True
    return bool(things) and things[-1] in verbs.CHANGES_OF[low]


def _is_transfer(words: Sequence[Word], verb: VerbGroup) -> bool:
    """Return True for "moved my desk to the attic", but not for "moved my shift to Friday"."""
    behind = words[verb.head + 2 : verb.head + 8]
    for word, following in pairwise(behind):
        if word.low in ("to", "into"):
            return following.kind is WordKind.WORD and following.low not in WEEKDAYS
    return False
