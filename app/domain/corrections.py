"""Correction phrases: "actually, Y", "I meant Y", "correction: Y", "not X, use Y"."""

import re
from functools import lru_cache

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
