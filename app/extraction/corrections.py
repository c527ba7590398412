"""Reads a short correction of what an assistant proposed: "No, it's Tuesday."."""

import re

from app.domain.dates.names import MONTH_NAMES
from app.extraction import words as lists
from app.extraction.phrases import build_pattern

_DENIAL = re.compile(
    r"(?:\W{0,5}\b(?:no|nope|nah|na|not quite|wrong|actually|almost)\b(?:\s{1,3}na\b)?\W{0,5})+",
    re.IGNORECASE,
)
_LEAD = re.compile(r"(?:it['’]?s|it is|that['’]?s|make that|on|at|of)\s+", re.IGNORECASE)
_TAIL = re.compile(
    build_pattern("now/these days/nowadays/actually/in fact/we close/we meet") + r"\Z",
    re.IGNORECASE,
)
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_NUMBER = r"(?:\d+(?:[.,:]\d+)?|(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b)"
_PERSON = r"(?:Dr|Mr|Mrs|Ms|Prof)\.?\s+[A-Z][\w'-]+"
_MONTH = f"(?:{'|'.join(map(str.capitalize, MONTH_NAMES))})"
_NAME = r"[A-Z][a-z][\w'-]*"
_BEFORE_NAME = r"(?:(?<=\bin )|(?<=\bat )|(?<=\bis )|(?<=\bfrom )|(?<=\bcalled )|(?<=\bnamed ))"
# What is corrected must be of the same kind as what replaces it: its pattern there, and here.
_KINDS = (
    (re.compile(rf"\b{_WEEKDAY}\b", re.IGNORECASE), re.compile(_WEEKDAY, re.IGNORECASE)),
    (re.compile(rf"\b{_MONTH}\b"), re.compile(_MONTH)),
    (re.compile(rf"\b{_PERSON}"), re.compile(_PERSON)),
    (re.compile(rf"\b{_NUMBER}\b", re.IGNORECASE), re.compile(_NUMBER, re.IGNORECASE)),
    (re.compile(rf"{_BEFORE_NAME}{_NAME}\b"), re.compile(_NAME)),
)
# Spaces in a value that stands without a denial: "Of six!"
_LONGEST_VALUE = 1
_NO_LONGER = re.compile(r"\b(?:still|also)\s+", re.IGNORECASE)


def correct_proposal(proposal: str, answer: str) -> str | None:
    """Return the proposal with its weekday, month, name or number replaced by that of a denial.

    The word alone is a denial too: "Your target is 95?" with "97." None if the answer is neither,
    or the proposal has no such word or several.
    """
    denial = _DENIAL.match(answer)
    value = answer[denial.end() if denial else 0 :].strip(" .!,")
    if denial is None and value.count(" ") > _LONGEST_VALUE:
        return None
    value = _LEAD.sub("", value, count=1) if _LEAD.match(value) else value
    tail = _TAIL.search(value)
    bare = value[: tail.start()].strip() if tail else value
    for kind, replacement in _KINDS:
        places = [*kind.finditer(proposal)]
        is_value = replacement.fullmatch(bare) and bare.lower() not in lists.POLITE_WORDS
        if is_value and len(places) == 1:
            corrected = proposal[: places[0].start()] + bare + proposal[places[0].end() :]
            return _NO_LONGER.sub("", corrected)
    return None
