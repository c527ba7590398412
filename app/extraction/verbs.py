"""The bases of English verbs, and their pasts with the base of each."""

import re
from pathlib import Path

_VOWELS = "aeiou"
_SHORT = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")
# Verbs of several syllables whose last consonant is doubled.
_DOUBLED = frozenset(
    "prefer refer commit admit permit submit transfer regret cancel travel label model quarrel "
    "occur program begin equip control forget".split()
)


def add_s(base: str) -> str:
    """Return the form of the third person singular."""
    if base in ("have", "be", "do"):
        return {"have": "has", "be": "is", "do": "does"}[base]
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return base + "es"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ies"
    return base + "s"


def _double_last(base: str) -> str:
    if base in _DOUBLED or _SHORT.fullmatch(base):
        return base + base[-1]
    return base


def _add_ed(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in _VOWELS:
        return base[:-1] + "ied"
    return _double_last(base) + "ed"


BASES: set[str] = set()
PASTS: dict[str, str] = {}


def _add_verb(base: str, past: str) -> None:
    BASES.add(base)
    PASTS[past] = base


def _load_verbs() -> None:
    path = Path(__file__).parent / "data" / "verbs.txt"
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if line.startswith("#"):
            continue
        if len(words) == 3:
            base, past, _ = words
            _add_verb(base, past)
            continue
        for base in words:
            _add_verb(base, _add_ed(base))


_load_verbs()
