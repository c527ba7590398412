"""One form per word, consistent rather than perfect: "moved" and "moving" are "move"."""

import re
from functools import cache

from app.classification.signals.tables import read_lines

IRREGULAR: dict[str, str] = {words[0]: words[1] for words in read_lines("irregular.txt")}
_SYNONYMS: dict[str, str] = {
    word: group[0] for group in read_lines("synonyms.txt") for word in group[1:]
}

_KEEP = re.compile(r"(?:ss|us|is|as|os|news|always|series|lens|gas|bus|yes|perhaps|less)$")
_VOWEL = re.compile(r"[aeiouy]")
_ADDS_E = re.compile(
    r"(?:at|bl|iz|is|iv|av|ov|rv|lv|uc|ac|ag|rg|dg|ud|ur|uir|ir|ut|id|ok|ak|as|us|os"
    r"|pl|tl|gl|dl|kl|um|yp|[^o]ot|chang|rang|lleng|u)$"
)


def _without_ending(stem: str) -> str:
    """Return the stem with one of two equal consonants, or with the "e" that its ending took."""
    if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsfz":
        return stem[:-1]
    is_doubled_l = len(stem) > 4 and stem.endswith("ll") and stem[-3] in "ae"
    if is_doubled_l and stem not in {"install", "spell", "smell"}:
        return stem[:-1]
    return f"{stem}e" if len(stem) > 2 and _ADDS_E.search(stem) else stem


@cache
def _reduce_regular_word(word: str) -> str:
    if len(word) <= 3:
        return word
    if len(word) > 4 and word.endswith(("ies", "ied")):
        return word[:-3] + "y"
    if _is_inflected(word, "ing") and len(word) > 5:
        return _without_ending(word[:-3])
    if _is_inflected(word, "ed") and len(word) > 4 and not word.endswith("eed"):
        return _without_ending(word[:-2])
    if word.endswith(("sses", "shes", "ches", "xes", "zes", "oes")):
        return word[:-2]
    if word.endswith("s") and not _KEEP.search(word):
        return word[:-1]
    return word


def _is_inflected(word: str, ending: str) -> bool:
    return word.endswith(ending) and bool(_VOWEL.search(word.removesuffix(ending)))


@cache
def reduce_to_lemma(word: str) -> str:
    """Return the dictionary form of a lower-case word, with synonyms as one of them."""
    base = IRREGULAR.get(word) or _reduce_regular_word(word)
    return _SYNONYMS.get(base) or _SYNONYMS.get(word) or base
