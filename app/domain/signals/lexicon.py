"""Word lists and tables, read once at import from the files in `data/`."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_DATA = Path(__file__).parent / "data"


def _lines(name: str) -> Iterator[list[str]]:
    for line in (_DATA / name).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.split()


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads((_DATA / name).read_text(encoding="utf-8"))


def _words(name: str) -> frozenset[str]:
    return frozenset(SYNONYMS.get(word, word) for word in _WORDS[name].split())


IRREGULAR: dict[str, str] = {words[0]: words[1] for words in _lines("irregular.txt")}
SYNONYMS: dict[str, str] = {word: group[0] for group in _lines("synonyms.txt") for word in group[1:]}

_WORDS = _table("words.toml")
ARTICLES = _words("articles")
FUNCTION_WORDS = _words("function_words")
STARTERS = _words("starters")
SUPPORT = _words("support")
NEGATORS = _words("negators")
FIRST_PERSON = _words("first_person")
FIRST_PLURAL = _words("first_plural")
THIRD_PERSON = _words("third_person")
KIN = _words("kin")
MODALS = _words("modals")
INTENTIONS = _words("intentions")
AUXILIARIES = _words("auxiliaries")
QUANTIFIERS = _words("quantifiers")
IDENTIFYING_NOUNS = _words("identifying_nouns")
PREPOSITIONS = _words("prepositions")
EVENT_VERBS = _words("event_verbs")
MANY_VALUED_VERBS = _words("many_valued_verbs")
MANY_VALUED_NOUNS = _words("many_valued_nouns")
UNIQUE_ROLES = _words("unique_roles")
LIKING = _words("liking")
DISLIKING = _words("disliking")
SUPPORT_CUES = _words("support_cues")
ACTIVE_CUES = _words("active_cues")
RELEASE_CUES = _words("release_cues")
NEWEST_CUES = _words("newest_cues")
VALUE_ENDS = _words("value_ends")
CHANGE_VERBS = _words("change_verbs")
REPLACING_VERBS = _words("replacing_verbs")
SPAN_ENDS = _words("span_ends")
RETRACTION_TALK = _words("retraction_talk")
ALTERING_VERBS = _words("altering_verbs")
SINGLE_NOUNS = _words("single_nouns")
UPGRADE_VERBS = _words("upgrade_verbs")
OCCUPYING_VERBS = _words("occupying_verbs")
LIGHT_WORDS = _words("light_words")

ANTONYMS: dict[str, frozenset[str]] = {}
for _left, _right in _lines("antonyms.txt"):
    ANTONYMS[_left] = ANTONYMS.get(_left, frozenset()) | {_right}
    ANTONYMS[_right] = ANTONYMS.get(_right, frozenset()) | {_left}

EXCLUSIVE_GROUPS: dict[str, frozenset[int]] = {}
for _place, _group in enumerate(_lines("exclusive.txt")):
    for _word in _group:
        EXCLUSIVE_GROUPS[_word] = EXCLUSIVE_GROUPS.get(_word, frozenset()) | {_place}

ASPECTS: dict[str, frozenset[int]] = {}
for _place, _group in enumerate(_lines("aspects.txt")):
    for _word in _group:
        ASPECTS[_word] = ASPECTS.get(_word, frozenset()) | {_place}

ATTRIBUTES = _table("attributes.toml")
ENDINGS = _table("endings.toml")
CONFIDENCE: dict[str, float] = json.loads((_DATA / "confidence.json").read_text(encoding="utf-8"))
