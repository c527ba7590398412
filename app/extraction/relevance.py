"""The second reader: how likely a statement is about the user's own life.

Rules see how a clause is built, and not what it is about: "Tom Brady is a quarterback" is built
like "Dr Osei is our doctor". A network that has learned from labelled talk weighs what they read,
and drops what it is sure of from what a model read, which sees more than the network.
"""

import re
from collections.abc import Sequence
from typing import Final

from app.domain.fact import Kind
from app.domain.talk import Extraction, Statement
from app.extraction.pronouns import find_antecedents

_SPEAKER = re.compile(r"\b(?:i|im|i'm|ive|i've|me|my|mine|myself|we|we're|our|us|user)\b", re.I)
# Words of a taste, also in the words of SQL. Whom somebody likes or watches need not be near them.
OWNING_WORDS: Final = "my|our"
FAVOURITE_WORDS: Final = "favou?rites?"
TASTE_WORDS: Final = (
    "likes?|liked|loves?|loved|enjoy|enjoys|enjoyed|prefers?|hates?|dislikes?|watch|watches|watched"
    "|watching|saw|seen|reads?|follows?|fans?|favou?rites?"
)
_OWNING = re.compile(rf"\b(?:{OWNING_WORDS})\b", re.I)
_FAVOURITE = re.compile(rf"\b(?:{FAVOURITE_WORDS})\b", re.I)
_TASTE = re.compile(rf"\b(?:{TASTE_WORDS})\b", re.I)
# Of a life in any talk: changes ("I no longer drive"), and what the speaker calls theirs.
_CHANGE = re.compile(
    r"(?:(?:and|but|so)\s+)?(?:(?:on|in|last|this)\s+\w+,?\s+)?(?:i|we)\b.*"
    r"\b(?:no longer|any ?more|stopped|quit|moved|switched|started|live|lived|work|worked"
    r"|born (?:in|on|at|and)|grew up|allergic|married|divorced|engaged|adopted|diagnosed"
    r"|retired|hired|promoted)\b",
    re.I,
)
# Who corrects has spoken of it before: "Actually the studio is on the 3rd floor, not the 2nd".
_CORRECTION = re.compile(r"actually\b.*,\s+not\b", re.I)
_OWN = re.compile(r"(?:(?:and|but|so)\s+)?(?:my|our)\b", re.I)

# The least probability, chosen on talk for development: of any statement, and of one whose form
# speaks for it, or which the user confirmed.
LEAST: Final = 0.985
LEAST_OF_LIFE: Final = 0.5
# Of a statement that a model read. On held-out talk, 1 of 267 facts has less.
LEAST_OF_MODEL: Final = 0.05


def find_irrelevant(
    extraction: Extraction, likely: Sequence[float], *, by_model: bool = False
) -> list[Statement]:
    """Return what users stated that is hardly about their lives.

    `likely` are the probabilities of `list_stated` to be about them, in order. A statement about
    somebody whom a relevant one introduces is relevant too: "Figo is my dog", "Figo is a podengo".
    Of what was read `by_model`, only what is surely not about them is irrelevant.
    """
    irrelevant: dict[Statement, None] = {}
    for statement, probability in zip(list_stated(extraction), likely, strict=True):
        least = LEAST_OF_MODEL if by_model else _find_least(statement)
        if probability < least:
            irrelevant[statement] = None
    relevant = [each.text for each in extraction.statements if each not in irrelevant]
    introducing = [text for text in relevant if _can_introduce(text)]
    return [each for each in irrelevant if not _names_one_of(each.text, introducing)]


def _find_least(statement: Statement) -> float:
    is_of_life = any(form.match(statement.text) for form in (_CHANGE, _CORRECTION, _OWN))
    return LEAST_OF_LIFE if is_of_life or _is_confirmed(statement) else LEAST


def list_stated(extraction: Extraction) -> list[Statement]:
    """Return what users stated or confirmed by the way.

    What they want to be remembered is left out, and how they want to be answered.
    """
    stated: list[Statement] = []
    for statement in extraction.statements:
        if not statement.is_note and statement.kind is not Kind.PREFERENCE:
            stated.append(statement)
    return stated


def _is_confirmed(statement: Statement) -> bool:
    """Return True if the user confirmed or answered something about themselves."""
    return len(statement.quotes) > 1 and _SPEAKER.search(statement.text) is not None


def list_names(text: str) -> set[str]:
    """Return the names of who or what the text may be about."""
    return {each.text for each in find_antecedents(text) if each.text[0].isupper()}


def _can_introduce(text: str) -> bool:
    """Return True unless the text states a taste: "I like Tom Brady" makes him no acquaintance."""
    is_owning = _OWNING.search(text) is not None and _FAVOURITE.search(text) is None
    return is_owning or _TASTE.search(text) is None


def _names_one_of(text: str, others: Sequence[str]) -> bool:
    """Return True if one of the other texts has a name of this one, as words of their own."""
    patterns = [re.compile(rf"\b{re.escape(name)}\b") for name in list_names(text)]
    return any(pattern.search(other) for pattern in patterns for other in others)
