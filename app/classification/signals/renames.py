"""Renames: "Misty answers to Smokey now" after "I have a cat called Misty".

Only the name changes, so the stored fact goes on under the new one.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from app.classification.signals.finding import make_finding
from app.classification.signals.pair import Pair
from app.domain.relation import Finding, Relation

_NAME = r"(?:[Tt]he\s+)?[A-Z][\w-]{0,40}(?:\s+[A-Z][\w-]{0,40}){0,4}"
_NAMING = (
    r"(?i:called|named|known\s+as|by\s+the\s+name\s+of|name(?:['’]s|\s+is)"
    r"|goes\s+by|answers\s+to)"
)
_NAMED = re.compile(rf"\b{_NAMING}\s+(?P<name>{_NAME})(?![\w'’-])")
_NOW = r"(?:now|these\s+days|nowadays|from\s+now\s+on|since\s[^,.]{1,40}|as\s+of\s[^,.]{1,40})"
_IS_CALLED = (
    r"(?:answers\s+to|responds\s+to|goes\s+by(?:\s+the\s+name(?:\s+of)?)?"
    r"|(?:is|are)\s+(?:now\s+)?(?:called|named|known\s+as))"
)
# Each with the old name in place of OLD. What is not renamed outright must be so "now".
_FORMS = (
    rf"OLD\s+{_IS_CALLED}\s+(?P<new>{_NAME}),?\s+{_NOW}",
    rf"OLD\s+now\s+{_IS_CALLED}\s+(?P<new>{_NAME})",
    rf"OLD\s+(?:is|are)\s+now\s+(?:called|named|known\s+as)\s+(?P<new>{_NAME})",
    rf"OLD\s+(?:was|were|got|has\s+been|have\s+been)\s+renamed\s+(?:to\s+|as\s+)?(?P<new>{_NAME})",
    rf"(?:I|[Ww]e|[Tt]hey)(?:\s+have|['’]ve)?\s+renamed\s+OLD\s+(?:to\s+|as\s+)?(?P<new>{_NAME})",
    rf"OLD\s+(?:has\s+|have\s+)?changed\s+(?:its|his|her|their)\s+name\s+to\s+(?P<new>{_NAME})",
    rf"(?:I|[Ww]e|[Tt]hey|[Ee]veryone|[Ee]verybody)\s+(?:now\s+)?calls?\s+OLD\s+(?P<new>{_NAME})"
    rf"\s+{_NOW}",
)
_WHEN = rf"(?:,?\s+(?:{_NOW}|(?:last|this|in|on|at|yesterday|today|two|three|a)\b[^,.]{{0,40}}))?"


def find_rename(pair: Pair) -> Iterator[Finding]:
    """Yield a completion of the stored text if the incoming one gives its name another form."""
    rename = read_rename(pair.old.text, pair.new.text)
    if rename is not None:
        old, new = rename
        yield make_finding("rename", Relation.COMPLEMENT, f"{old} is called {new}")


@lru_cache(maxsize=4096)
def read_rename(stored: str, incoming: str) -> tuple[str, str] | None:
    """Return the name that the stored text gives and the one in its place, None if it stays."""
    for match in _NAMED.finditer(stored):
        old = match["name"]
        new = _find_new_name(old, incoming)
        if new is not None and new != old:
            return old, new
    return None


def _find_new_name(old: str, incoming: str) -> str | None:
    if old not in incoming:
        return None
    for form in _FORMS:
        pattern = form.replace("OLD", re.escape(old)) + _WHEN + r"[.!]?"
        if match := re.fullmatch(pattern, incoming.strip()):
            return match["new"]
    return None


def rename_text(stored: str, incoming: str) -> str | None:
    """Return the stored text under the new name, None if it has none."""
    rename = read_rename(stored, incoming)
    if rename is None:
        return None
    old, new = rename
    return re.sub(rf"\b{re.escape(old)}(?![\w-])", lambda _: new, stored)
