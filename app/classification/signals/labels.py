"""Numbers that are labels: "item 5", "fact number 12", "load test memory 55" tell which thing is meant, not how much of it there is."""

from collections.abc import Iterator, Sequence

from app.classification.signals import lexicon
from app.classification.signals.token import Token

_LABELLING = frozenset(("number", "version", "code", "ordinal", "date", "time"))
_NUMBERING = frozenset(("number", "id", "index", "key"))
_GOVERNING = frozenset(
    "be have equal total = < > <= >= -> => plus minus times x around approximately roughly circa up down".split()
)

_BEFORE_VERBS = frozenset("do will would shall can could may might must should not".split())


def find_labels(tokens: Sequence[Token]) -> frozenset[tuple[str, str]]:
    """(noun, number) of every number that stands right behind a noun without anything that makes it a value."""
    return frozenset(_iterate_labels(tokens))


def _iterate_labels(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    for i, token in enumerate(tokens):
        if token.kind in _LABELLING:
            place = next(
                (j for j in range(i - 1, -1, -1) if tokens[j].norm not in lexicon.SUPPORT), -1
            )
            if place >= 0 and _is_labelled(tokens, place, i):
                yield tokens[place].norm, token.norm


def _is_labelled(tokens: Sequence[Token], place: int, i: int) -> bool:
    """Whether the word at `place` is a noun that the number numbers."""
    head = tokens[place]
    if head.kind == "possessive":
        return tokens[i].kind == "ordinal"
    if head.kind == "name":
        return head.norm == "user"
    if head.kind != "word":
        return False
    if head.norm in _NUMBERING:
        return not place or tokens[place - 1].norm != "be"
    if head.norm in lexicon.IDENTIFYING_NOUNS:
        return False
    if (
        head.norm in _GOVERNING
        or head.norm in lexicon.QUANTIFIERS
        or head.norm in lexicon.MEASURED_NOUNS
    ):
        return False
    if head.norm == "version":
        return place == 0
    if (
        head.norm in lexicon.FUNCTION_WORDS
        or head.norm in lexicon.PREPOSITIONS
        or head.norm in lexicon.ARTICLES
    ):
        return tokens[i].kind == "ordinal" and place == 0
    return not _is_verb(tokens, place) or (i + 1 == len(tokens) and tokens[i].kind == "number")


def _is_verb(tokens: Sequence[Token], place: int) -> bool:
    """Whether the word is inflected, or stands behind a pronoun, a modal or another verb's "to"."""
    head, before = tokens[place], tokens[place - 1] if place else None
    low = head.text.lower()
    if low != head.norm and low.endswith(("s", "ed", "ing")) and place:
        return True
    return before is not None and (before.norm in _BEFORE_VERBS or before.norm in lexicon.PRONOUNS)
