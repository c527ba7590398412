"""States what a yes/no question asks: "Does Anna still drive?" becomes "Anna still drives"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.extraction import words as lists
from app.extraction.verbs import PASTS, add_s

_AUXILIARIES = frozenset("do does did is are was were have has can will".split())
_PRONOUNS = frozenset("you he she they".split())
_GROUPS = frozenset("two both all guys".split())
_DETERMINERS = frozenset("your the his her their".split())
_ADVERBS = frozenset("still also usually always often normally already ever currently".split())
_PREPOSITIONS = frozenset("in on at with from for near under behind by about until since".split())
_LONGEST_NOUN = 4
_NAME = re.compile(r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.?\Z)|[A-Z][\w'’-]*\Z")

_AT_ALL = re.compile(r"\s+at\s+all\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Answers:
    """What a yes and what a no to a question would state, in the words of who asks."""

    yes: str
    no: str | None


def state_answers(question: str) -> Answers | None:
    """Return what a yes and a no state, None if the text is no yes/no question of a plain form."""
    words = question.split()
    verb = words[0].lower() if words else ""
    if verb not in _AUXILIARIES or len(words) < 3:
        return None
    length = _measure_subject(words[1:], verb)
    subject, rest = words[1 : 1 + length], words[1 + length :]
    if not length or not rest:
        return None
    state = _state_with_do if verb in {"do", "does", "did"} else _state_with_auxiliary
    answers = state(verb, " ".join(subject), rest)
    return Answers(_AT_ALL.sub("", answers.yes), answers.no)


def _state_with_do(verb: str, subject: str, rest: list[str]) -> Answers:
    if rest[0].lower() == "ever" and len(rest) > 1:
        form = _inflect(verb, rest[1].lower())
        stated = [form, *rest[2:]]
        return Answers(" ".join([subject, *stated]), " ".join([subject, "never", *stated]))
    place = 1 if rest[0].lower() in _ADVERBS and len(rest) > 1 else 0
    plain, after = rest[place].lower(), rest[place + 1 :]
    form = _inflect(verb, plain)
    yes = [subject, *rest[:place], form, *after]
    if rest[:place] == ["still"] and verb != "did":
        no = [subject, "no longer", form, *after]
    else:
        no = [subject, f"{verb}n't", *rest[:place], plain, *after]
    return Answers(" ".join(yes), _drop_too(no))


def _inflect(verb: str, plain: str) -> str:
    if verb == "does":
        return add_s(plain)
    if verb == "did":
        is_regular = plain.endswith("e")
        return PASTS.get(plain, plain + ("d" if is_regular else "ed"))
    return plain


def _state_with_auxiliary(verb: str, subject: str, rest: list[str]) -> Answers:
    if rest[0].lower() in {"ever", "already"} and len(rest) > 1:
        yes = " ".join([subject, verb, *rest[1:]])
        return Answers(yes, " ".join([subject, verb, "never", *rest[1:]]))
    is_still = rest[0].lower() == "still"
    no = [subject, verb, "no longer", *rest[1:]] if is_still else [subject, verb, "not", *rest]
    return Answers(" ".join([subject, verb, *rest]), _drop_too(no))


def _drop_too(words: Sequence[str]) -> str:
    ends = len(words) - 1 if words[-1].lower() in {"too", "already"} else len(words)
    return " ".join(words[:ends])


def _measure_subject(words: list[str], verb: str) -> int:
    """Return how many words behind the verb are its subject, 0 if that is not plain."""
    first = words[0].lower()
    if first in _PRONOUNS:
        return _measure_partners(words) if first == "you" else 1
    if verb in {"do", "does", "did"}:
        return _measure_to_verb(words)
    if first in _DETERMINERS:
        return _measure_noun(words)
    return _measure_name(words)


def _measure_partners(words: list[str]) -> int:
    """Return the length of "you", "you two" or "you and your wife"."""
    following = words[1].lower() if len(words) > 1 else ""
    if following in _GROUPS:
        return 2
    if following != "and":
        return 1
    other = words[2:]
    is_noun = bool(other) and other[0].lower() in _DETERMINERS
    return 2 + (_measure_noun(other) if is_noun else _measure_name(other))


def _measure_to_verb(words: list[str]) -> int:
    """Return how many words stand before the plain verb, or its adverb, that "do" needs."""
    first = words[0].lower()
    if first not in _DETERMINERS and not _NAME.match(words[0]):
        return 0
    start = 2 if first in _DETERMINERS else 1
    for place in range(start, min(len(words), start + _LONGEST_NOUN)):
        word = words[place].lower()
        if word in _ADVERBS or (word in PASTS and not _NAME.match(words[place])):
            return place
    return 0


def _measure_noun(words: list[str]) -> int:
    """Return the length of "your wife Ana", "your sister's wedding" or "the front door"."""
    place = 1
    while place < len(words) and words[place].lower().endswith(("'s", "’s", "s'")):
        place += 1
    noun = words[place].lower() if place < len(words) else ""
    if noun in lists.PEOPLE or noun in lists.PLURAL_PEOPLE:
        name = _measure_name(words[place + 1 :])
        return place + 1 + (name if place + 1 + name < len(words) else 0)
    for end in range(place + 1, min(len(words), place + _LONGEST_NOUN)):
        word = words[end].lower()
        if word in _PREPOSITIONS | _ADVERBS | lists.ADVERBS or word.endswith(("ed", "ing")):
            return end
    has_second = len(words) > place + 2 and words[place + 1].lower() in _SECOND_NOUNS
    return place + 1 + has_second


_SECOND_NOUNS = frozenset(
    """
    name birthday flight address job title number date time day floor office team doctor car phone
    room appointment meeting class lesson shift rent budget
    """.split()
)


def _measure_name(words: list[str]) -> int:
    """Return how many words are a name, with "in Kiel" if a noun follows; 0 if there is none."""
    length = 0
    while length < len(words) and _NAME.match(words[length]):
        length += 1
    place = words[length : length + 3]
    is_placed = length and len(place) == 3 and place[0] in {"in", "from", "at", "of"}
    if is_placed and _NAME.match(place[1]) and place[2].lower() in {*_DETERMINERS, "our", "a"}:
        return length + 2
    return length
