"""Finds the words that a hurried speaker drops: "Got a dog" is "I got a dog"."""

from app.extraction import words as lists
from app.extraction.tokens import Clause
from app.extraction.verbs import is_past_verb, skip_adverbs
from app.extraction.words import LASTING_ADJECTIVES


def _is_verb(word: str) -> bool:
    return word in lists.AUXILIARIES or word in lists.THIRD_VERBS or word in lists.IRREGULAR_PAST


def list_dropped(text: str) -> list[str]:
    """Return the words that are dropped before a text: "I" and "am" before "allergic to nuts"."""
    return (_find_dropped_subject(Clause(text)) or "").split()


_STATES = (LASTING_ADJECTIVES - lists.MOODS - lists.ADVERBS) - frozenset(
    """
    my our open closed very really so called named moving due expecting mute straight single
    """.split()
)
_HAVING = lists.PEOPLE | lists.PLURAL_PEOPLE | frozenset("allergies pets siblings".split())
_AMOUNTS = frozenset("no one two three four five six seven eight".split())


def _find_dropped_subject(clause: Clause) -> str | None:
    """Return "I" with what else is dropped before the first word, None if it is no such clause."""
    adverbs, rest = skip_adverbs(clause.words)
    if not rest or lists.FIRST_PERSON & set(rest[:2]):
        return None
    first, after = rest[0], rest[1:]
    is_name = any(token.lower == first and token.is_capital for token in clause.tokens[1:])
    if first == "been" and after:
        return "I have"
    if is_name or ("not" in adverbs and "fan" not in rest[:3]):
        return None
    if first in _STATES and not first[0].isdigit():
        is_noun = set(after[:3]) & lists.AUXILIARIES or set(after[:1]) & lists.PLURAL_PEOPLE
        return None if is_noun else "I am"
    if "fan" in rest[:3] and clause.contains("fan of") and first in {"a", "big", "huge", "fan"}:
        return None if set(rest[2:5]) & _POINTING_OBJECTS else "I am"
    if first == "from" and "originally" in adverbs:
        return "I am"
    if first in _AMOUNTS or first.isdigit():
        is_had = bool(set(after[:2]) & _HAVING) and not any(_is_verb(word) for word in after)
        return "I have" if is_had else None
    if first in lists.PROGRESSIVE_FACTS and not set(after) & lists.AUXILIARIES:
        return "I am" if after and after[0] in _BEHIND_PROGRESSIVES else None
    return "I" if _drops_subject(first, after) else None


_BEHIND_PROGRESSIVES = frozenset("in at to for with on from as a an my our".split())
# What nobody orders an assistant to do.
_LIVED = frozenset(
    """
    eat drink smoke drive like love hate have own speak live work watch wear play fly swim enjoy
    celebrate cook prefer dislike
    """.split()
)
_POINTING_OBJECTS = frozenset(
    "it this that these those the your you him her them how what one ones when".split()
)
_COMPANIONS = {
    "work": frozenset(
        "at as in for from with nights shifts days part-time full-time remotely weekends".split()
    ),
    "live": frozenset("in with at on near alone by close off".split()),
    "have": _AMOUNTS - {"one"} | {"a", "an", "my"},
    "own": _AMOUNTS | {"a", "an", "my", "our"},
    "play": frozenset("in for guitar piano violin football tennis bass drums cello chess".split()),
}
_ELLIPTIC = frozenset("love hate prefer dislike enjoy live work have own play speak".split())


def _drops_subject(first: str, after: tuple[str, ...]) -> bool:
    """Return True for a verb that no order and no noun begins with."""
    if first in {"do", "can"} and after[:1] == ("not",):
        return first == "can" or bool(set(after[1:2]) & _LIVED)
    if not after or after[0] in _POINTING_OBJECTS:
        return False
    if first in _ELLIPTIC:
        return after[0] != "to" and after[0] in _COMPANIONS.get(first, after)
    is_noun = bool(set(after[:2]) & (lists.BE | lists.THIRD_VERBS))
    return is_past_verb(first) and first not in lists.TALK_PAST and not is_noun
