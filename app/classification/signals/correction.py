"""Correction phrases: "actually, Y", "I meant Y", "correction: Y", "not X, use Y"."""

import re
from collections.abc import Iterator
from functools import lru_cache

from app.classification.signals import lexicon
from app.classification.signals.finding import make_finding
from app.classification.signals.pair import Pair
from app.classification.signals.relation import Finding, Relation

_OPENING = (
    "actually|correction|sorry|scratch that|i meant|i mean|i misspoke"
    "|my mistake|on second thought|i was wrong|update"
)
_SELF = r"(?:to|let me) correct (?:myself|that)"
_WITHIN = r"i meant|make that|should (?:actually )?(?:be|read|say)|(?:is|are|was|am) actually"
_MARKED = re.compile(
    rf"^(?:oh |no |sorry |wait )?,?\s*(?:{_OPENING}|{_SELF})\b|\b(?:{_WITHIN})\b", re.IGNORECASE
)


@lru_cache(maxsize=4096)
def is_correction(text: str) -> bool:
    """Return True if the text says of itself that it corrects something."""
    return bool(_MARKED.search(text))


def find_correction(pair: Pair) -> Iterator[Finding]:
    """Yield an update if a text marked as a correction says the same of the same owner with another
    value.
    """
    if (
        not is_correction(pair.new.text)
        or not pair.only_new
        or not pair.only_old
        or pair.new.is_question
    ):
        return
    shared = pair.shared - frozenset(pair.new.owner) - lexicon.LIGHT_WORDS
    if shared and pair.one_span and _is_one_value(pair) and pair.same_order and pair.same_owner:
        yield make_finding(
            "correction", Relation.UPDATE, f"corrects {' '.join(sorted(pair.only_old))}"
        )


def _is_one_value(pair: Pair) -> bool:
    """Return True if no typed value differs, or nothing but one."""
    typed = any(pair.new.is_value(i) for i in pair.only_new) or any(
        pair.old.is_value(i) for i in pair.only_old
    )
    return not typed or len(pair.only_new) == len(pair.only_old) == 1
