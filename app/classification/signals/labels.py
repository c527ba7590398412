"""Numbers that are labels, such as "item 5": they tell which thing is meant, not how much of it."""

from collections.abc import Sequence

from app.classification.signals import lexicon
from app.classification.signals.token import Token

_LABELLING = frozenset(("number", "version", "code", "ordinal", "date", "time"))
_NUMBERING = frozenset(("number", "id", "index", "key"))
_GOVERNING = frozenset(
    """
    be have equal total = < > <= >= -> => plus minus times x
    around approximately roughly circa up down
    """.split()
)
_NEVER_LABELLED = (
    _GOVERNING | lexicon.IDENTIFYING_NOUNS | lexicon.QUANTIFIERS | lexicon.MEASURED_NOUNS
)
_SMALL_WORDS = lexicon.FUNCTION_WORDS | lexicon.PREPOSITIONS | lexicon.ARTICLES

_BEFORE_VERBS = frozenset("do will would shall can could may might must should not".split())


def find_labels(tokens: Sequence[Token]) -> frozenset[tuple[str, str]]:
    """Return (noun, number) of each number right behind a noun that nothing makes a value."""
    labels = set()
    for place, token in enumerate(tokens):
        if token.kind not in _LABELLING:
            continue
        # The last word before the number that is no adverb.
        before = (at for at in range(place - 1, -1, -1) if tokens[at].norm not in lexicon.SUPPORT)
        head = next(before, None)
        if head is not None and _is_labelled(tokens, head, token):
            labels.add((tokens[head].norm, token.norm))
    return frozenset(labels)


def _is_labelled(tokens: Sequence[Token], place: int, number: Token) -> bool:
    """Return True if the word at `place` is a noun that the number labels."""
    head = tokens[place]
    if head.kind == "possessive":
        return number.kind == "ordinal"
    if head.kind == "name":
        return head.norm == "user"
    if head.kind != "word":
        return False
    if head.norm in _NUMBERING:
        return not place or tokens[place - 1].norm != "be"
    if head.norm in _NEVER_LABELLED:
        return False
    if head.norm == "version":
        return place == 0
    if head.norm in _SMALL_WORDS:
        return number.kind == "ordinal" and place == 0
    ends_text = tokens[-1] is number and number.kind == "number"
    return ends_text or not _is_verb(tokens, place)


def _is_verb(tokens: Sequence[Token], place: int) -> bool:
    """Return True if the word is inflected, or follows a pronoun, a modal or "to"."""
    if place == 0:
        return False
    head, before = tokens[place], tokens[place - 1]
    low = head.text.lower()
    if low != head.norm and low.endswith(("s", "ed", "ing")):
        return True
    return before.norm in _BEFORE_VERBS or before.norm in lexicon.PRONOUNS
