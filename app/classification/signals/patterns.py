"""The ways to say an attribute, compiled from `data/attributes.toml` into sequences of words and
slots.

A pattern such as "S live in V" becomes the parts S, (live, in), V. Words are dictionary forms
without articles and auxiliaries.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, product

from app.classification.signals import lexicon
from app.classification.signals.lemma import reduce_to_lemma

SLOTS = frozenset("SVO")


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute that holds one value at a time; `fixed` ones never change in the world."""

    name: str
    kinds: frozenset[str]
    fixed: bool
    tensed: bool


@dataclass(frozen=True, slots=True)
class Pattern:
    """One way to say an attribute. `constant` is the value where the words themselves tell it."""

    attribute: Attribute
    parts: tuple[str | tuple[str, ...], ...]
    literals: frozenset[str]
    size: int
    change: bool
    constant: str | None


def _expand_alternatives(source: str) -> Iterator[str]:
    """Yield "S live in V" and "S live at V" for "S live (in|at) V"."""
    pieces = re.split(r"(\([^()]*\))", source)
    choices = [piece[1:-1].split("|") if piece.startswith("(") else [piece] for piece in pieces]
    return ("".join(choice) for choice in product(*choices))


def _split_parts(words: Sequence[str]) -> tuple[str | tuple[str, ...], ...]:
    parts: list[str | tuple[str, ...]] = []
    for is_slot, run in groupby(words, SLOTS.__contains__):
        words_of_run = list(run)
        parts += words_of_run if is_slot else [tuple(words_of_run)]
    return tuple(parts)


def _compile_sources(
    sources: Sequence[str], attribute: Attribute, *, change: bool
) -> Iterator[Pattern]:
    for source in sources:
        body, _, constant = source.partition(" = ")
        for text in _expand_alternatives(body):
            written = [word for word in text.split() if word not in lexicon.ARTICLES]
            words = [word if word in SLOTS else reduce_to_lemma(word) for word in written]
            literals = [word for word in words if word not in SLOTS]
            yield Pattern(
                attribute,
                _split_parts(words),
                frozenset(literals),
                len(literals),
                change,
                constant.strip() or None,
            )


def _load_patterns() -> Iterator[Pattern]:
    for name, entry in lexicon.ATTRIBUTES.items():
        fixed = entry.get("fixed", False)
        tensed = "text" in entry["values"] and not fixed
        attribute = Attribute(name, frozenset(entry["values"]), fixed, tensed)
        patterns = (
            *_compile_sources(entry["states"], attribute, change=False),
            *_compile_sources(entry["changes"], attribute, change=True),
        )
        yield from {pattern.parts: pattern for pattern in patterns}.values()


def _load_index() -> dict[str, list[Pattern]]:
    """Patterns by the rarest word in them, so that a text meets few of them."""
    patterns = list(_load_patterns())
    spread = Counter(word for pattern in patterns for word in pattern.literals)
    index: dict[str, list[Pattern]] = {}
    for pattern in patterns:
        rarest = min(pattern.literals, key=lambda word: (spread[word], word))
        index.setdefault(rarest, []).append(pattern)
    return index


INDEX = _load_index()


def find_patterns(norms: Sequence[str]) -> list[Pattern]:
    """The patterns all of whose words are there, the longest first."""
    present = set(norms)
    candidates = [
        p for norm in present & INDEX.keys() for p in INDEX[norm] if p.literals <= present
    ]
    return sorted(candidates, key=lambda p: -p.size)


def _find_run(run: tuple[str, ...], norms: Sequence[str], start: int, *, anchored: bool) -> int:
    last = start if anchored else len(norms) - len(run)
    for i in range(start, last + 1):
        if norms[i] == run[0] and tuple(norms[i : i + len(run)]) == run:
            return i
    return -1


def find_slot_spans(pattern: Pattern, norms: Sequence[str]) -> dict[str, tuple[int, int]] | None:
    """Return the places of the pattern's slots in the words, or None.

    Each slot takes as little as it can, and the last one takes all the rest.
    """
    places: dict[str, tuple[int, int]] = {}
    position, open_slot, opened = 0, "", 0
    for part in pattern.parts:
        if isinstance(part, str):
            open_slot, opened = part, position
            continue
        place = _find_run(part, norms, position + bool(open_slot), anchored=not open_slot)
        if place < 0:
            return None
        if open_slot:
            places[open_slot] = (opened, place)
            open_slot = ""
        position = place + len(part)
    if open_slot:
        if opened >= len(norms):
            return None
        places[open_slot] = (opened, len(norms))
    elif position != len(norms):
        return None
    return places
