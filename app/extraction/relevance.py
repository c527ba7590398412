"""The second reader: how likely a statement of the rules is about the user's own life.

Rules see how a clause is built, and not what it is about: "Tom Brady is a quarterback" is built
like "Dr Osei is our doctor". The weights were learned from labelled talk (training/relevance.py).
"""

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

import numpy as np
from numpy.typing import NDArray

from app.domain.talk import Extraction, Statement
from app.extraction.pronouns import find_antecedents

_SPEAKER = re.compile(r"\b(?:i|im|i'm|ive|i've|me|my|mine|myself|we|we're|our|us|user)\b", re.I)
_OPENING = re.compile(r"\W*(?:\w[\w']*\W+)?(?:i|im|i'm|ive|i've|my|we|we're|our|user)\b", re.I)
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

# The least probability, chosen on talk for development: of what names the speaker, of what does
# not, and of what users confirmed of themselves, which they may have done by mistake only.
LEAST: Final = 0.75
LEAST_OF_OTHERS: Final = 0.8
LEAST_CONFIRMED: Final = 0.1


@dataclass(frozen=True, slots=True)
class Weights:
    """What was learned: a weight for each number of a vector and for each mark, and the bias.

    `encoder` is the name of the embedder whose vectors they are for.
    """

    encoder: str
    vector: NDArray[np.float32]
    marks: tuple[float, ...]
    bias: float

    @classmethod
    def load(cls) -> "Weights":
        """Return the weights of the package."""
        stored = json.loads((files(__package__) / "relevance.json").read_text("utf-8"))
        vector = np.array(stored["vector"], np.float32)
        return cls(stored["encoder"], vector, tuple(stored["marks"]), stored["bias"])

    def measure(self, text: str, vector: NDArray[np.float32]) -> float:
        """Return the probability that the statement is about the user's own life."""
        marks = sum(
            weight * mark for weight, mark in zip(self.marks, list_marks(text), strict=True)
        )
        return 1 / (1 + math.exp(-(float(self.vector @ vector) + marks + self.bias)))

    def find_irrelevant(
        self, extraction: Extraction, vectors: Iterable[NDArray[np.float32]]
    ) -> list[Statement]:
        """Return what users stated that is hardly about their lives.

        `vectors` are those of `list_stated`, in order. A statement about somebody whom a relevant
        one introduces is relevant too: "Figo is my dog", "Figo fears fireworks".
        """
        irrelevant: dict[Statement, None] = {}
        for statement, vector in zip(list_stated(extraction), vectors, strict=True):
            if not self.is_relevant(statement, vector):
                irrelevant[statement] = None
        relevant = [each.text for each in extraction.statements if each not in irrelevant]
        introducing = [text for text in relevant if _can_introduce(text)]
        return [each for each in irrelevant if not _names_one_of(each.text, introducing)]

    def is_relevant(self, statement: Statement, vector: NDArray[np.float32]) -> bool:
        """Return True if the statement is likely enough to be remembered."""
        text = statement.text
        is_of_life = any(form.match(text) for form in (_CHANGE, _CORRECTION, _OWN))
        return is_of_life or self.measure(text, vector) >= _find_least(statement)


def list_stated(extraction: Extraction) -> list[Statement]:
    """Return what users stated or confirmed by the way, not what they want to be remembered."""
    return [each for each in extraction.statements if not each.is_note]


def _find_least(statement: Statement) -> float:
    if _is_confirmed(statement):
        return LEAST_CONFIRMED
    return LEAST if _SPEAKER.search(statement.text) else LEAST_OF_OTHERS


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


def list_marks(text: str) -> tuple[bool, bool, bool]:
    """Return whether the text names the speaker, begins with the speaker, and says "my"."""
    straight = text.replace("’", "'")
    return (
        _SPEAKER.search(straight) is not None,
        _OPENING.match(straight) is not None,
        _OWNING.search(straight) is not None,
    )
