"""English verbs and their pasts."""

import re
from collections.abc import Iterator
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


def _add_ed(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in _VOWELS:
        return base[:-1] + "ied"
    if base in _DOUBLED or _SHORT.fullmatch(base):
        base += base[-1]
    return base + "ed"


def _list_verbs() -> Iterator[tuple[str, str]]:
    """Yield the base and the past of each verb."""
    path = Path(__file__).parent / "data" / "verbs.txt"
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if line.startswith("#"):
            continue
        if len(words) == 3:
            yield words[0], words[1]
        else:
            yield from ((base, _add_ed(base)) for base in words)


# By their bases.
PASTS = dict(_list_verbs())
