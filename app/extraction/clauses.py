"""Cuts a sentence where one part can stand and another cannot: "I'm vegan, so what can I cook?"."""

import re
from bisect import bisect_left

from app.extraction import words as lists
from app.extraction.phrases import build_pattern

_SUBJECT = build_pattern(
    """
    i/i'm/i've/i'd/i'll/we/we're/we've/we'd/we'll/he/he's/he'd/he'll/she/she's/she'd/she'll/they
    /they're/they've/they'd/they'll/it/it's/it'll/it'd/you/you're/you've/you'd/you'll/that/that's
    /there/there's/my/our/the/this
    """
)
# A lead such as "Better double it, " or "The big news: " has no verb of its own, and is cut off
# before these. "On Sundays, " and "My wife, " belong to what follows.
_FIRST_PERSON = build_pattern("i/i'm/i've/i'd/i'll/we/we're/we've/we'd/we'll/my/our")
_TIED_LEADS = frozenset(
    """
    as on at in for during before after since until by with without from under to of if when while
    my our the a an this that these those his her their both all each every like unlike besides and
    or no most between because although though once
    actually correction sorry scratch
    """.split()
)
_ASKS = build_pattern(
    """
    can/could/would/will/should/do/does/did/is/are/am/was/what/what's/which/how/where/when/who/why
    /any/please/pls/let's/thanks/thank/anything/got
    """
)
# An order behind "and" alone is the second verb of the same subject: "I write and keep notes".
_ORDERS = build_pattern("help/give/write/tell/show/suggest/recommend/make/keep/don't/explain")
_LINK = build_pattern(
    """
    and so/and then/and even/and also/and now/but now/but also/so that
    /and/but/so/because/bc/cuz/cos/although/though/while/whereas/plus/or
    /then/which means/which is why/as if/as though/yet/except/hence/therefore
    """
)
# In talk without marks a question or a condition follows a statement.
_RUN_ON = (
    r"(?:(?:how|what|where|when|why) (?:do|can|should|is|are|would) (?:i|we|the|it|you|a)\b"
    r"|(?:can|could|would) you\b|any (?:ideas|tips|good|advice|suggestions)\b"
    r"|is (?:it|there|that) (?:ok|any|a|safe|normal|bad|possible)\b"
    r"|if (?:i|we|he|she|it) \w+ .{0,60}\b(?:would|i['’]?d|we['’]?d)\b)"
)
_NAME_IS = r"(?-i:[A-Z])\w+ (?:is|was|has|lives|works|will)\b"
_NAME_DOES = r"(?-i:[A-Z][\w'’-]+) (?:is|was|has|lives|works|will|[a-z]{2,}ed)\b"
_NOUN_IS = (
    r"(?!also\b|not\b|only\b)(?:[\w'’-]+\s+){1,4}?"
    r"(?:is|are|was|were|has|would|could|might|may|should|will|can)\b"
)
_BOUNDARY = re.compile(
    r"\s*[;:]\s+|\s+[-–—]{1,2}\s+|[—–]|\s*[.…]{2,}\s+|\s*[!?.]\s+"
    rf"|,?\s+(?P<link>{_LINK})\s+(?={_SUBJECT}|{_ASKS})"
    rf"|(?:,\s+|\s+(?=so\b|but\b))(?P<order>{_LINK})\s+(?={_ORDERS})"
    rf"|,?\s+(?P<before_name>and|but|so|because|while|whereas)\s+(?={_NAME_IS})"
    rf"|,?\s+(?P<contrast>but|although|though|yet)\s+(?={_NOUN_IS})"
    r"|,?\s+so\s+(?=(?:[\w'’-]+\s+){1,8}?(?:would|could|might)\b)"
    rf"|,\s+(?P<since>since|as)\s+(?={_SUBJECT})"
    rf"|\s+\((?={_SUBJECT})"
    rf"|,\s+(?!who\s+\w+s\b)(?={_SUBJECT}|{_ASKS}|{_ORDERS}|{_NAME_DOES}|if\b)"
    rf"|(?<!know)(?<!idea)(?<!out)(?<!sure)(?<!and)(?<!or)\s+(?={_RUN_ON})",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"(?:since|as|because|given(?: that)?|seeing as|considering(?: that)?|although|though|while)\s+"
    rf"(?!(?:the|my|our|this)\s+\w+\s+(?:i|we)\b)(?={_SUBJECT})",
    re.IGNORECASE,
)


def cut_clauses(text: str) -> list[tuple[int, int, str]]:
    """Return the clauses of a sentence: their half-open places, and the link before each.

    The link is in lower case, "" for the first clause and between clauses that a mark divides. A
    part without a verb belongs to the next: "my wife and I live …" is one clause.
    """
    verbs = [match.start() for match in _WORD.finditer(text) if _may_be_verb(match[0])]
    clauses: list[tuple[int, int, str]] = []
    start = 0
    link = ""
    if match := _OPENING.match(text):
        start = match.end()
        link = "since"
    for match in _BOUNDARY.finditer(text, start):
        next_verb = bisect_left(verbs, start)
        has_verb = next_verb < len(verbs) and verbs[next_verb] < match.start()
        if not has_verb and not _ends_lead(text, start, match):
            continue
        clauses.append((start, match.start(), link))
        start = match.end()
        link = (
            match["link"]
            or match["order"]
            or match["before_name"]
            or match["contrast"]
            or match["since"]
            or ""
        )
        link = link.lower()
    clauses.append((start, len(text), link))
    return clauses


_HEADED = re.compile(rf"{_SUBJECT}|(?:since|on|in|at|every|last)\s", re.IGNORECASE)
_PERSON = re.compile(r"s?he(?:['’]s|\s)", re.IGNORECASE)
_SPOKEN = re.compile(_FIRST_PERSON, re.IGNORECASE)


def _ends_lead(text: str, start: int, boundary: re.Match[str]) -> bool:
    """Return True if words without a verb lead up to a statement, and are no part of it."""
    words = text[start : boundary.start()].split()
    if not words:
        return False
    if boundary[0].strip() == ":":
        return _HEADED.match(text, boundary.end()) is not None
    is_relative = words[0].lower() in lists.PEOPLE
    if boundary[0].strip() == "," and not is_relative and _PERSON.match(text, boundary.end()):
        return True
    is_tied = words[0].lower().strip(",") in _TIED_LEADS
    is_comma = boundary[0].strip() == ","
    return is_comma and not is_tied and _SPOKEN.match(text, boundary.end()) is not None


_WORD = re.compile(r"[\w'’]+")
_SHORT_VERB = re.compile(r"\w+['’](?:m|re|ve|ll|d|s|t)\Z")
_SHORT_SENTENCES = frozenset(
    """
    thanks thank hi hello hey ok okay yes no remember im ive allergic
    """.split()
)


def _may_be_verb(word: str) -> bool:
    lower = word.lower()
    if lower in _VERBS or _SHORT_VERB.match(lower):
        return True
    return len(lower) > 3 and lower.endswith(("ed", "es", "ing"))


_VERBS = (
    lists.AUXILIARIES
    | lists.PLAIN_VERBS
    | lists.THIRD_VERBS
    | lists.IRREGULAR_PAST
    | lists.PAST_EVENTS
    | lists.TALK_VERBS
    | frozenset(lists.PAST_EVENT_PHRASES)
    | _SHORT_SENTENCES
)
