"""Replaces a pronoun at the start of a sentence by the one name that it can stand for."""

import re
from dataclasses import dataclass
from enum import StrEnum

from app.domain.dates.names import MONTHS, WEEKDAY_NAMES
from app.extraction import words as lists


class Sex(StrEnum):
    """By which pronoun somebody or something is called."""

    FEMALE = "female"
    MALE = "male"
    PERSON = "person"
    PLURAL = "plural"
    THING = "thing"


@dataclass(frozen=True, slots=True)
class Antecedent:
    """Words that a pronoun can stand for."""

    text: str
    sex: Sex


_FITS = {
    "he": {Sex.MALE, Sex.PERSON},
    "his": {Sex.MALE, Sex.PERSON},
    "she": {Sex.FEMALE, Sex.PERSON},
    "her": {Sex.FEMALE, Sex.PERSON},
    "they": {Sex.PLURAL},
    "their": {Sex.PLURAL},
    "it": {Sex.THING},
    "that": {Sex.FEMALE, Sex.MALE, Sex.PERSON},
    "its": {Sex.THING},
}
_OWNERS = ("his", "her", "their", "its")
_PRONOUN = re.compile(
    r"(?!it\s+takes\s+(?:me|us)\b|it['’]s\s+(?:my|our|just\s+(?:me|us|the\s+\w+\s+of\s+us))\b)"
    r"(he|she|they|it|his|her|their|its|that(?=['’]s\s+(?:my|our)\s))"
    r"(['’](?:s|re|ve|ll|d)|(?<=he)s|(?<=they)re)?(?=\s)",
    re.IGNORECASE,
)
# The verb tells how the short form is written out.
_PERFECT = re.compile(
    r"\s+(?:been|got|had|become|lived|worked|moved|started|always\s+\w+ed)\b", re.IGNORECASE
)


def starts_with_pronoun(text: str) -> bool:
    return _PRONOUN.match(text) is not None


def resolve_pronoun(text: str, *antecedents: list[list[Antecedent]]) -> str | None:
    """Return the text with its first pronoun replaced, None if it is not plain by what.

    `antecedents` are those of the sentences before: of the same turn, then of the turn before. An
    earlier turn counts only if the later one names nobody whom the pronoun fits.
    """
    match = _PRONOUN.match(text)
    if match is None:
        return None
    for sentences in antecedents:
        names = {
            one.text.casefold(): one.text
            for sentence in sentences
            for one in sentence
            if one.sex in _FITS[match[1].lower()]
        }
        if names:
            return _put_name(match, names.popitem()[1]) if len(names) == 1 else None
    return None


def _put_name(match: re.Match[str], name: str) -> str:
    rest = match.string[match.end() :]
    if match[1][0].isupper():
        name = name[0].upper() + name[1:]
    if match[1].lower() in _OWNERS:
        name = f"{name}'" if name.endswith("s") else f"{name}'s"
    if match[2] is None:
        return name + rest
    ending = match[2].strip("'’").lower()
    verbs = {"re": "are", "ve": "have", "ll": "will", "d": "would", "s": "is"}
    verb = "has" if ending == "s" and _PERFECT.match(rest) else verbs[ending]
    return f"{name} {verb}{rest}"


_RELATED = re.compile(
    r"\b(?i:my|our)\s+((?:[\w-]+\s+){0,2}?)([a-zé-]+)"
    r"(?:(?:,\s+|\s+)((?:Dr\.?\s+)?[A-Z][\w'-]*\w(?:\s+[A-Z][\w-]+)?))?(?=[\s,.;!?:'’]|$)"
)
_OWNED = re.compile(
    r"\b(I|we)(?:\s+have|['’]ve)\s+(?:got\s+)?(?:an?|one)\s+(?:[a-z-]+\s+)?([a-z]+)(?=[\s,.!]|$)",
    re.IGNORECASE,
)
_CALLED = re.compile(
    r"\b(?:is|are|was)\s+(?:called|named)\s+([A-Z][\w-]+)|\bcalled\s+([A-Z][\w-]+)"
    r"|\bname\s+is\s+([A-Z][\w-]+)"
)
_NAME = re.compile(r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.?\s+)?[A-Z][a-zà-ÿ'-]+(?:\s+[A-Z][a-zà-ÿ'-]+)*")
_TITLES = {"mr": Sex.MALE, "mrs": Sex.FEMALE, "ms": Sex.FEMALE}


def find_antecedents(text: str) -> list[Antecedent]:
    """Return those whom a statement names, of whom a later sentence may speak by a pronoun."""
    antecedents: list[Antecedent] = []
    covered: list[tuple[int, int]] = []
    for match in _RELATED.finditer(text):
        name = match[3]
        sex = _find_sex(match[2].lower()) or (Sex.PERSON if name else None)
        if sex is None:
            continue
        covered.append(match.span())
        antecedents.append(Antecedent(name or match[0], sex))
    if (owned := _OWNED.search(text)) and (owned_sex := _find_sex(owned[2].lower())):
        owner = "my" if owned[1].lower() == "i" else "our"
        antecedents.append(Antecedent(f"{owner} {owned[2]}", owned_sex))
    called = _CALLED.search(text)
    if called and len(antecedents) == 1:
        name = called[1] or called[2] or called[3]
        antecedents = [Antecedent(name, antecedents[0].sex)]
        covered.append(called.span())
    # The verb before a name is none: that of "Write Anna a card".
    first = _FIRST_WORD.match(text)
    is_order = first is not None and first[0].strip().lower() in _FIRST_NO_NAMES
    for match in _NAME.finditer(text, first.end() if first and is_order else 0):
        is_covered = any(start <= match.start() < end for start, end in covered)
        if is_covered or not _names_somebody(text, match):
            continue
        title = match[0].split()[0].rstrip(".").lower()
        antecedents.append(Antecedent(match[0], _TITLES.get(title, Sex.PERSON)))
    return antecedents + _find_thing(text)


_TITLE = re.compile(
    r"(?<=[a-z,] )(?:[A-Z0-9][\w'’-]*)"
    r"(?:\s+(?:of\s+(?:the\s+)?|the\s+|and\s+the\s+)?[A-Z0-9][\w'’-]*)*"
)
_SEEN = re.compile(
    r"(?P<before>\b(?:seen|see|read|watched|watch|played|play)\s+)"
    r"(?:it|th(?:at|is)(?:\s+(?:one|movie|film|show|book|game))?)(?=\s*(?:[.,!?]|\Z|yet\b|too\b"
    r"|but\b))",
    re.IGNORECASE,
)
_CALENDAR_NAMES = frozenset((*MONTHS, *WEEKDAY_NAMES))
_NO_TITLES = _CALENDAR_NAMES | lists.STARTERS | {"i'm", "i've", "i'll", "i'd", "tv", "lol"}


def find_title(text: str) -> str | None:
    """Return the one name that stands inside of the text's sentences, None if there are several."""
    names = {match[0] for match in _TITLE.finditer(text)}
    titles = {name for name in names if name.lower() not in _NO_TITLES and not name[0].isdigit()}
    return titles.pop() if len(titles) == 1 else None


def put_title(text: str, title: str) -> str:
    """Return "I haven't seen Thor" for "I haven't seen it"."""
    return _SEEN.sub(lambda match: match["before"] + title, text, count=1)


_ROLE_ENDINGS = ("mate", "ician", "ologist", "worker", "lord", "keeper", "sitter", "maker")


def _find_sex(noun: str) -> Sex | None:
    if noun in lists.FEMALE:
        return Sex.FEMALE
    if noun in lists.MALE:
        return Sex.MALE
    if noun in lists.PLURAL_PEOPLE:
        return Sex.PLURAL
    return Sex.PERSON if noun in lists.PEOPLE or noun.endswith(_ROLE_ENDINGS) else None


_PLACE_BEFORE = re.compile(
    r"\b(?:in|at|from|to|near|for|on|with|use|uses|by|of|called|named|is|are|was|were|speak|speaks"
    r"|learning|into|the|a|an)\s+\Z",
    re.IGNORECASE,
)


_HOLIDAYS = frozenset("easter christmas ramadan eid diwali hanukkah passover halloween".split())
_NO_NAMES = lists.STARTERS | _CALENDAR_NAMES | _HOLIDAYS
# A lone word at the start of a sentence is a name if somebody is or does something.
_AFTER_NAME = re.compile(
    r"['’]s\b|\s+(?:[a-z]+(?:s|ed|n['’]?t)|and|who|will|can|had|got|just|also|now)\b|,\s"
)


_FIRST_WORD = re.compile(r"[A-Z][a-z]+\s+(?=[A-Z])")


_FIRST_NO_NAMES = lists.IMPERATIVES | lists.COMMON_OPENERS


def _names_somebody(text: str, match: re.Match[str]) -> bool:
    """Return True for a name that may be a person's: it stands first, or is met, known or loved."""
    word = re.split(r"[\s.'’]", match[0])[0].lower()
    opens_statement = " " in match[0] or _AFTER_NAME.match(text, match.end())
    if match.start() == 0 and (word in _FIRST_NO_NAMES or not opens_statement):
        return False
    if word in _NO_NAMES:
        return False
    if _PLACE_BEFORE.search(text[: match.start()]):
        return text[: match.start()].rstrip().lower().endswith(" with")
    return True


_THING = re.compile(
    r"((?:my|our|the)\s+(?:[a-z-]+\s+){0,2}[a-z-]+)\s+(?:is|was|has|opened|opens|runs|costs|starts"
    r"|needs)\b",
    re.IGNORECASE,
)
_OTHER_THING = re.compile(r"\b(?:my|our|the)\s", re.IGNORECASE)


def _find_thing(text: str) -> list[Antecedent]:
    """Return the thing that a statement is about, if the statement names no other."""
    match = _THING.match(text)
    if match is None or _OTHER_THING.search(text, match.end()):
        return []
    noun = match[1].split()[-1].lower()
    if noun in lists.PEOPLE or noun in lists.PLURAL_PEOPLE:
        return []
    return [Antecedent(match[1], Sex.THING)]


_ELSEWHERE = r"(?:him|her|them|it|that|this|those)"
_BEHIND = r"(?:with|to|for|of|about|from|at|on|than|by)"
_ENDS = r"(?=[\s.,!]*$|\s+(?:and|but|too|now|again|every|at|in|on)\b)"
_DANGLING = re.compile(
    rf"\b(?:{_BEHIND}\s+{_ELSEWHERE}{_ENDS}|(?:him|them)\b|(?:his|her|their)\s+\w+)",
    re.IGNORECASE,
)
_NOUN_BEFORE = re.compile(r"\b(?:[Mm]y|[Oo]ur|an?|[Tt]he|some|every|each|all|both)\s+\w|\b[A-Z]\w")
_PLURAL_BEFORE = re.compile(r"\b\w{2,}s\s")


def has_dangling_pronoun(text: str) -> bool:
    """Return True if a pronoun in the text has nothing before it for which it could stand."""
    match = _DANGLING.search(text)
    if match is None:
        return False
    before = text[: match.start()]
    is_plural = "them" in match[0].lower() or "their" in match[0].lower()
    if is_plural and _PLURAL_BEFORE.search(before):
        return False
    return not find_antecedents(before) and not _NOUN_BEFORE.search(before)
